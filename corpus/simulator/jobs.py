"""Builds jobs: hosts, ranks placed on cores, and process groups by Megatron's order (tensor fastest, pipeline slowest)."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from neuron_doctor.corpus.simulator.job import Axis, Group, Host, Job, Seat


@dataclass(frozen=True, slots=True)
class Shape:
    """How a job is split: world = tensor * data * pipeline; `expert` divides `data`. `per_host` ranks sit on a host."""

    tensor: int
    pipeline: int
    data: int
    expert: int
    per_host: int

    @property
    def world(self) -> int:
        """The number of ranks."""
        return self.tensor * self.pipeline * self.data

    def at(self, tensor: int, data: int, pipeline: int) -> int:
        """The rank at these coordinates."""
        return tensor + self.tensor * (data + self.data * pipeline)

    def coordinates(self, rank: int) -> tuple[int, int, int]:
        """(tensor, data, pipeline) of a rank."""
        return rank % self.tensor, rank // self.tensor % self.data, rank // (self.tensor * self.data)


@dataclass(frozen=True, slots=True)
class Instance:
    """What an instance type has. `cores` are logical cores a device."""

    name: str
    devices: int
    cores: int


INSTANCES = (
    Instance("trn1.32xlarge", 16, 2),
    Instance("trn1n.32xlarge", 16, 2),
    Instance("trn2.48xlarge", 16, 4),
    Instance("inf2.48xlarge", 12, 2),
)

DESCRIPTIONS: tuple[dict[Axis, str], ...] = (
    {
        Axis.WORLD: "default_pg",
        Axis.TENSOR: "TENSOR_MODEL_PARALLEL_GROUP",
        Axis.PIPELINE: "PIPELINE_MODEL_PARALLEL_GROUP",
        Axis.DATA: "DATA_PARALLEL_GROUP",
        Axis.EXPERT: "EXPERT_MODEL_PARALLEL_GROUP",
    },
    {
        Axis.WORLD: "default_pg",
        Axis.TENSOR: "mesh_tp",
        Axis.PIPELINE: "mesh_pp",
        Axis.DATA: "mesh_dp_shard",
        Axis.EXPERT: "mesh_ep",
    },
    dict.fromkeys(Axis, "undefined") | {Axis.WORLD: "default_pg"},
)

JOB_NAMES = (
    "llama3-70b-pretrain",
    "mixtral-8x7b-sft",
    "gpt-neox-20b",
    "qwen3-moe-cpt",
    "llama2-7b-dpo",
    "dbrx-pretrain",
)


def build(shape: Shape, instance: Instance, rng: random.Random, *, start: float, pods: bool = False) -> Job:
    """The job of this shape; the random choices are names, addresses, pids and boot times."""
    name = rng.choice(JOB_NAMES)
    count = -(-shape.world // shape.per_host)
    hosts = tuple(_hosts(count, instance, name if pods else None, rng, start))
    return Job(
        name=name,
        job_id=rng.randrange(1_000, 99_999),
        hosts=hosts,
        seats=tuple(_seats(shape, instance, rng)),
        groups=tuple(_groups(shape, rng.choice(DESCRIPTIONS))),
        start=start,
    )


def _hosts(count: int, instance: Instance, pod: str | None, rng: random.Random, start: float) -> Iterator[Host]:
    subnet = rng.randrange(256)
    places = rng.sample(range(4, 65_000), count)
    for index, place in enumerate(places):
        yield Host(
            name=f"ip-10-{subnet}-{place // 256}-{place % 256}",
            address=f"10.{subnet}.{place // 256}.{place % 256}",
            instance_id=f"i-0{rng.getrandbits(64):016x}",
            instance_type=instance.name,
            pod=f"{pod}-worker-{index}" if pod else None,
            devices=instance.devices,
            cores_per_device=instance.cores,
            boot=start - rng.uniform(1_800, 40 * 86_400),
        )


def _seats(shape: Shape, instance: Instance, rng: random.Random) -> Iterator[Seat]:
    pid = 0
    for rank in range(shape.world):
        local = rank % shape.per_host
        pid = rng.randrange(3_000, 900_000) if local == 0 else pid + rng.choice((1, 1, 1, 2))
        yield Seat(rank, rank // shape.per_host, local, local // instance.cores, local, pid)


def members(shape: Shape) -> Iterator[tuple[Axis, tuple[int, ...]]]:
    """All groups of a shape in the order in which programs make them; an axis of one rank has none."""
    tensor, data, pipeline = range(shape.tensor), range(shape.data), range(shape.pipeline)
    yield Axis.WORLD, tuple(range(shape.world))
    if shape.tensor > 1:
        yield from ((Axis.TENSOR, tuple(shape.at(t, d, p) for t in tensor)) for p in pipeline for d in data)
    if shape.pipeline > 1:
        yield from ((Axis.PIPELINE, tuple(shape.at(t, d, p) for p in pipeline)) for d in data for t in tensor)
    if shape.data > 1:
        yield from ((Axis.DATA, tuple(shape.at(t, d, p) for d in data)) for p in pipeline for t in tensor)
    if shape.expert > 1:
        blocks = range(0, shape.data, shape.expert)
        for p in pipeline:
            for t in tensor:
                yield from ((Axis.EXPERT, tuple(shape.at(t, b + e, p) for e in range(shape.expert))) for b in blocks)


def _groups(shape: Shape, descriptions: dict[Axis, str]) -> Iterator[Group]:
    for number, (axis, ranks) in enumerate(members(shape)):
        yield Group(str(number), descriptions[axis], axis, ranks)
