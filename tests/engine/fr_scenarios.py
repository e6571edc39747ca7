"""Jobs that go wrong in every way that flight recorders can show, drawn from a seed; each knows what is to be found."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from fr_simulator import MS, Faults, Job, Mesh, Op, Pg, Program, Recorder, dump_of, encoded, run

#: What a recorder of each sort writes.
RECORDERS = {
    "nccl": Recorder(),
    "nccl, timed": Recorder(timing=True),
    "open entries only": Recorder(active_only=True),
    "ring of 80": Recorder(ring=80),
    "ring of 25": Recorder(ring=25),
    "torch json": Recorder(dialect="json"),
    "nvrx json": Recorder(dialect="nvrx", version="2.9"),
    "torch 2.2": Recorder(version="2.2"),
    "torch 2.3": Recorder(version="1.4"),
    "torch 2.4": Recorder(version="2.1"),
    "torch 2.5": Recorder(version="2.4"),
    "no stacks": Recorder(frames=False),
    "hook": Recorder(backend="neuron"),
    "hook without completions": Recorder(backend="neuron", completions=False),
    "torchcomms": Recorder(backend="ncclx", dialect="json"),
    "gloo": Recorder(backend="gloo", completions=False),
}
SHAPES = [(2, 2, 1), (4, 2, 1), (1, 8, 1), (4, 4, 1), (2, 2, 2), (2, 2, 4), (1, 2, 4), (2, 4, 2), (4, 2, 2), (8, 2, 1)]
_SHORT = 25


@dataclass
class Case:
    """A job that ran, and the right answer: one of `verdicts` with just these `culprits`.

    `excused`: nobody may be blamed, and nobody need be. `without`: ranks that leave no dump.
    """

    job: Job
    verdicts: set[str]
    culprits: set[int] = field(default_factory=set)
    without: set[int] = field(default_factory=set)
    extra: list[tuple[str, int, bytes]] = field(default_factory=list)

    def dumps(self, recorder: Recorder) -> dict[int, bytes]:
        """The dump of every rank that left one."""
        return {
            rank: encoded(dump_of(self.job, rank, recorder), recorder.dialect)
            for rank in self.job.programs
            if rank not in self.without
        }


@dataclass
class Draw:
    """A mesh with its programs, and chance."""

    chance: random.Random
    mesh: Mesh
    programs: dict[int, Program]
    ahead: int

    def run(self, faults: Faults | None = None) -> Job:
        return run(self.mesh, self.programs, faults or Faults(), self.ahead, skew_ns=self.chance.choice([0, 17 * MS]))

    def rank(self) -> int:
        return self.chance.randrange(self.mesh.size)

    def late(self, rank: int) -> int:
        """A place in the second half of a rank's program, but not at its end."""
        length = len(self.programs[rank])
        return self.chance.randrange(length // 2, length - 1)

    def place(self, rank: int, fits: Callable[[Op], bool]) -> int | None:
        """The place of such an operation in the second half of a rank's program, but not in its last step."""
        program = self.programs[rank]
        found = [at for at in range(len(program) // 2, len(program) * 9 // 10) if fits(program[at])]
        return self.chance.choice(found) if found else None


def draw(seed: int, *, shapes: Iterable[tuple[int, int, int]] = SHAPES, steps: int = 8) -> Draw:
    chance = random.Random(seed)
    shape = chance.choice(list(shapes))
    mesh = Mesh(*shape, experts=chance.random() < 0.3)
    batches, schedule = chance.random() < 0.4, chance.choice(["plain", "1f1b"])
    layers = chance.randrange(1, 4)
    programs = {
        rank: mesh.program(rank, steps, layers, batches=batches, interleaved=schedule == "1f1b")
        for rank in range(mesh.size)
    }
    return Draw(chance, mesh, programs, chance.choice([1, 2, 4, 8]))


def stopped(d: Draw) -> Case | None:
    rank = d.rank()
    at = d.late(rank)
    transfer = bool(d.programs[rank][at].peers)
    return Case(
        d.run(Faults(host={rank: at})), {"rank-missing", "p2p-missing"} if transfer else {"rank-missing"}, {rank}
    )


def stopped_twice(d: Draw) -> Case | None:
    """Two ranks stop at the same place; each is waited for by its own tensor group."""
    if d.mesh.tp < 2 or d.mesh.dp < 2 or d.mesh.pp > 1:
        return None
    first, second = d.chance.sample(range(d.mesh.dp), 2)
    ranks = [data * d.mesh.tp + d.chance.randrange(d.mesh.tp) for data in (first, second)]
    at = d.place(ranks[0], lambda op: op.group.desc == "TENSOR")
    return None if at is None else Case(d.run(Faults(host=dict.fromkeys(ranks, at))), {"rank-missing"}, set(ranks))


def died(d: Draw) -> Case | None:
    rank = d.rank()
    case = stopped_at(d, rank)
    return replace(case, culprits=set(), without={rank}, verdicts={"rank-missing", "rank-died"})


def stopped_at(d: Draw, rank: int) -> Case:
    return Case(d.run(Faults(host={rank: d.late(rank)})), {"rank-missing"}, {rank})


def lost_others(d: Draw) -> Case | None:
    """A rank stops, and others leave no dump: it is named or nobody is."""
    rank = d.rank()
    others = [other for other in range(d.mesh.size) if other != rank]
    case = stopped_at(d, rank)
    without = set(d.chance.sample(others, max(1, len(others) * 15 // 100)))
    return replace(case, without=without, verdicts={"rank-missing", "p2p-missing", "undecided"})


def _changed(d: Draw, verdict: str, **change: object) -> Case | None:
    if d.mesh.tp < 3:
        return None
    rank = d.rank()
    at = d.place(rank, lambda op: op.group.desc == "TENSOR")
    if at is None:
        return None
    d.programs[rank][at] = replace(d.programs[rank][at], **change)  # type: ignore[arg-type]
    return Case(d.run(), {verdict}, {rank})


def other_operation(d: Draw) -> Case | None:
    return _changed(d, "op-mismatch", name="broadcast")


def other_size(d: Draw) -> Case | None:
    return _changed(d, "size-mismatch", size=4711)


def other_type(d: Draw) -> Case | None:
    return _changed(d, "dtype-mismatch", dtype="Half")


def swapped(d: Draw) -> Case | None:
    """A rank uses two groups in the other order."""
    rank = d.rank()
    program = d.programs[rank]
    at = d.place(rank, lambda op: op.group.desc == "default_pg")
    if at is None or program[at - 1].peers or program[at - 1].group == program[at].group:
        return None
    if len(program[at - 1].group.ranks) < 2:
        return None
    program[at - 1], program[at] = program[at], program[at - 1]
    job = d.run()
    return Case(job, {"order-mismatch"}, {rank}) if hangs(job) else None


def ring_of_three(d: Draw) -> Case | None:
    """Three groups of two ranks each, and one of the three ranks takes its two the other way round: a cycle."""
    groups = {"a": Pg("1", "a", (0, 1)), "b": Pg("2", "b", (1, 2)), "c": Pg("3", "c", (0, 2))}
    d.mesh.groups = {desc: dict.fromkeys(group.ranks, group) for desc, group in groups.items()}
    d.mesh.tp, d.mesh.dp, d.mesh.pp = 3, 1, 1
    orders = {0: "ac", 1: "ab", 2: "bc"}
    programs = {rank: [Op(groups[name]) for name in order] * 8 for rank, order in orders.items()}
    at = 2 * d.chance.randrange(4, 7)
    rank = d.chance.choice([0, 1, 2])
    for other in {0, 2} if rank == 0 else {rank}:
        program = programs[other]
        program[at], program[at + 1] = program[at + 1], program[at]
    d.programs, d.ahead = programs, 1
    job = d.run()
    return Case(job, {"order-mismatch"}) if hangs(job) else None


def skipped(d: Draw) -> Case | None:
    """A rank leaves out one collective and goes on with the next."""
    if d.mesh.tp < 3:
        return None
    rank = d.rank()
    at = d.place(rank, lambda op: op.group.desc == "TENSOR")
    if at is None:
        return None
    del d.programs[rank][at]
    return Case(d.run(), {"op-mismatch", "size-mismatch", "order-mismatch", "rank-missing"}, {rank})


def skipped_transfer(d: Draw) -> Case | None:
    if d.mesh.pp < 2:
        return None
    rank = d.rank()
    at = d.place(rank, lambda op: bool(op.peers))
    if at is None:
        return None
    del d.programs[rank][at]
    job = d.run()
    return Case(job, {"p2p-missing", "order-mismatch", "rank-missing", "p2p-order"}, {rank}) if hangs(job) else None


def wrong_peer(d: Draw) -> Case | None:
    """A rank sends to a stage that does not expect it."""
    if d.mesh.pp < 4:
        return None
    rank = d.rank()
    at = d.place(rank, lambda op: len(op.peers) == 1 and op.peers[0][0] == "send")
    if at is None:
        return None
    op = d.programs[rank][at]
    others = [
        peer
        for peer in op.group.ranks
        if peer not in {rank, op.peers[0][1]} and abs(peer - rank) > d.mesh.tp * d.mesh.dp
    ]
    if not others:
        return None
    d.programs[rank][at] = replace(op, peers=(("send", d.chance.choice(others)),))
    return Case(d.run(), {"p2p-mismatch"}, {rank})


def both_send(d: Draw) -> Case | None:
    """Two neighbours both send first, one of them where it always received."""
    if d.mesh.pp < 2:
        return None
    rank = d.rank()
    at = d.place(rank, lambda op: len(op.peers) == 1 and op.peers[0][0] == "send" and op.peers[0][1] > rank)
    if at is None:
        return None
    peer = d.programs[rank][at].peers[0][1]
    group = d.programs[rank][at].group
    nth = sum(op.peers == (("send", peer),) for op in d.programs[rank][: at + 1])
    other = [i for i, op in enumerate(d.programs[peer]) if op.peers == (("recv", rank),)][nth - 1]
    d.programs[rank].insert(at + 1, Op(group, "", 64, peers=(("recv", peer),)))
    d.programs[peer].insert(other, Op(group, "", 64, peers=(("send", rank),)))
    d.ahead = 1
    return Case(d.run(), {"p2p-order", "order-mismatch", "p2p-missing"}, {peer})


def unseen(d: Draw) -> Case | None:
    """A collective completes on all but one."""
    if d.mesh.tp < 3:
        return None
    rank = d.rank()
    at = d.place(rank, lambda op: op.group.desc == "TENSOR")
    d.ahead = 1
    return None if at is None else Case(d.run(Faults(unseen={rank: at})), {"partial-completion"}, {rank})


def stuck_device(d: Draw) -> Case | None:
    """The host has issued it and the device never starts it."""
    if d.mesh.tp < 3:
        return None
    rank = d.rank()
    at = d.place(rank, lambda op: op.group.desc == "TENSOR")
    return None if at is None else Case(d.run(Faults(device={rank: at})), {"device-stuck"}, {rank})


def stalled(d: Draw) -> Case | None:
    """All have come, the arguments are equal, and nothing moves."""
    rank = d.rank()
    at = d.place(rank, lambda op: op.group.desc == "TENSOR" and len(op.group.ranks) > 1)
    if at is None:
        return None
    op = d.programs[rank][at]
    nth = sum(one.group == op.group for one in d.programs[rank][: at + 1])
    return Case(d.run(Faults(dead_group=(op.group.name, nth))), {"transport-stall"})


def finished(d: Draw) -> Case | None:
    return Case(d.run(), {"healthy"})


def running(d: Draw) -> Case | None:
    """A snapshot of a job that moves: every rank a little further or less, and the newest operations open."""
    return Case(d.run(Faults(until=d.chance.randrange(200, 800))), {"healthy", "undecided"})


def outside(d: Draw) -> Case | None:
    """All ranks stop after the same step, and nothing is outstanding."""
    length = {rank: len(program) for rank, program in d.programs.items()}
    return Case(d.run(Faults(host={rank: length[rank] * 6 // 8 for rank in length})), {"healthy", "outside"})


CLASSES: dict[str, Callable[[Draw], Case | None]] = {
    one.__name__.replace("_", " "): one
    for one in (
        stopped,
        stopped_twice,
        died,
        lost_others,
        other_operation,
        other_size,
        other_type,
        swapped,
        ring_of_three,
        skipped,
        skipped_transfer,
        wrong_peer,
        both_send,
        unseen,
        stuck_device,
        stalled,
        finished,
        running,
        outside,
    )
}


def may_be_open(name: str, recorder: Recorder, case: Case) -> bool:
    """Whether such a recorder cannot show enough of such a fault: then it is right to blame nobody."""
    silent = not recorder.completions or recorder.backend == "gloo"
    transfers = any(op.peers for program in case.job.programs.values() for op in program)
    return (
        (recorder.backend == "gloo" and transfers)
        or (silent and bool(case.without))
        or (name in {"died", "lost others", "running"})
        or (name == "other type" and recorder.version in {"2.2", "1.4"})
        or (name == "stuck device" and not recorder.timing)
        or (name in {"unseen", "stalled"} and (silent or recorder.version == "2.2"))
        or (transfers and (recorder.version == "2.2" or recorder.active_only or recorder.ring <= _SHORT))
        or (name in {"swapped", "skipped transfer", "both send"} and (recorder.active_only or recorder.ring <= _SHORT))
    )


def hangs(job: Job) -> bool:
    return any(job.head[rank] < len(job.programs[rank]) for rank in job.programs)
