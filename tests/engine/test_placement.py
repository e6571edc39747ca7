"""Cores and devices of ranks, ranks of devices: what is stated alike, and nothing else."""

from __future__ import annotations

from builders import source

from neuron_doctor.engine.facts import Fact, Place, Source, Span, Value
from neuron_doctor.engine.placement import cores_of
from neuron_doctor.engine.topology import complete, survey


def fact(kind: str, data: dict[str, Value], **place: object) -> Fact:
    return Fact(kind, data, Place(**place), Span("s", hash(str(place)) % 999), "s")  # type: ignore[arg-type]


def env(name: str, value: str, **place: object) -> Fact:
    return fact("env", {"name": name, "value": value}, **place)


def cores(rank: int, value: str, host: str = "a") -> Fact:
    return env("NEURON_RT_VISIBLE_CORES", value, rank=rank, host=host)


def listed(device: int, width: int = 2, lnc: int = 0, host: str = "a") -> Fact:
    return fact("device", {"cores": width, "lnc": lnc, "bdf": ""}, device=device, host=host)


HBM = {"name": "HBM_UE", "action": "", "serial": "", "raw": ""}
OF_A = tuple(listed(device) for device in range(3))


def devices(*facts: Fact) -> dict[int, tuple[int, ...]]:
    return dict(survey(facts, ()).placement.devices_of_rank)


def test_cores_are_read_from_lists_and_ranges() -> None:
    assert cores_of("0-3, 8") == (0, 1, 2, 3, 8)
    assert cores_of("5") == (5,)
    assert [cores_of(text) for text in ("", "all", "3-1", "0-99999999999", "1-2-3", "-1", "²")] == [()] * 7


def test_a_core_is_on_the_device_that_the_width_of_the_hosts_devices_says() -> None:
    assert devices(*OF_A, cores(0, "0-1"), cores(1, "2"), cores(2, "3-4")) == {0: (0,), 1: (1,), 2: (1, 2)}


def test_without_the_hosts_own_list_of_devices_a_core_has_no_device() -> None:
    assert devices(*OF_A, cores(7, "2", host="b")) == {}


def test_an_inherited_environment_gives_nobody_a_core() -> None:
    assert devices(*OF_A, cores(0, "0-5"), cores(1, "0-5"), cores(2, "5")) == {}


def test_an_environment_and_a_runtime_that_differ_prove_nothing() -> None:
    printed = fact("visible-cores", {"cores": "2, 3"}, rank=0, host="a")
    assert devices(*OF_A, cores(0, "2-3"), printed) == {0: (1,)}
    assert devices(*OF_A, cores(0, "0-1"), printed) == {}


def test_cores_are_not_placed_where_the_process_counts_logical_cores_otherwise() -> None:
    shown = [listed(device, width=4, lnc=2) for device in range(2)]
    assert devices(*shown, cores(0, "4")) == {0: (1,)}
    assert devices(*shown, cores(0, "4"), env("NEURON_LOGICAL_NC_CONFIG", "2", rank=0, host="a")) == {0: (1,)}
    assert devices(*shown, cores(0, "4"), env("NEURON_LOGICAL_NC_CONFIG", "1", rank=0, host="a")) == {}


def test_a_count_of_physical_cores_places_no_logical_one() -> None:
    def counted(each: int) -> Fact:
        return fact("device-count", {"neuron": 16, "cores": 16 * each}, host="a")

    assert devices(counted(2), cores(0, "3")) == {0: (1,)}
    assert devices(counted(8), cores(0, "3")) == {}


def test_a_device_serves_the_ranks_that_have_all_its_cores() -> None:
    error = fact("hw-err", HBM, host="a", device=1)
    facts = (*OF_A, cores(4, "2"), cores(5, "3"), error)
    assert list(complete(facts, survey(facts, ())))[-1].place.ranks == (4, 5)


def test_a_device_with_a_core_of_nobody_known_has_no_known_ranks() -> None:
    error = fact("hw-err", HBM, host="a", device=1)
    facts = (*OF_A, cores(4, "2"), error)
    assert list(complete(facts, survey(facts, ())))[-1].place.ranks == ()


def test_a_message_that_is_one_processs_convicts_no_second_rank_of_the_device() -> None:
    hit = fact("hit", {"pattern": "oob"}, host="a", device=1)
    facts = (*OF_A, cores(4, "2"), cores(5, "3"), hit)
    assert list(complete(facts, survey(facts, ())))[-1].place.ranks == ()
    facts = (*OF_A, cores(4, "2-3"), hit)
    assert list(complete(facts, survey(facts, ())))[-1].place.ranks == (4,)


def test_a_rank_that_hangs_in_compute_does_so_on_its_one_device() -> None:
    hang = fact("hang-report", {"what": "compute"}, host="a", rank=4)
    wait = fact("hang-report", {"what": "collectives"}, host="a", rank=4)
    facts = (*OF_A, cores(4, "2-3"), hang, wait)
    assert [f.place.device for f in complete(facts, survey(facts, ()))][-2:] == [1, None]
    facts = (*OF_A, cores(4, "1-2"), hang)
    assert [f.place.device for f in complete(facts, survey(facts, ()))][-1] is None


def test_the_users_that_neuron_ls_shows_are_ranks_by_their_processes() -> None:
    users = [fact("device-user", {"command": "python"}, host="a", device=2, pid=pid) for pid in (70, 71)]
    ranks = [fact("hit", {"pattern": "x"}, host="a", pid=pid, rank=pid - 70) for pid in (70, 71)]
    error = fact("hw-err", HBM, host="a", device=2)
    facts = (*users, *ranks, error)
    assert list(complete(facts, survey(facts, ())))[-1].place.ranks == (0, 1)
    assert survey((*users, ranks[0]), ()).placement.ranks_of_device == {}


def test_the_directory_of_a_local_rank_is_the_rank_that_the_environment_says() -> None:
    own = env("RANK", "12", host="a", rank=12, local_rank=4)
    line = fact("hit", {"pattern": "x"}, host="a", local_rank=4)
    other = fact("hit", {"pattern": "x"}, host="b", local_rank=4)
    sources: tuple[Source, ...] = (source("s"),)
    facts = (own, line, other)
    assert [f.place.rank for f in complete(facts, survey(facts, sources))] == [12, 12, None]
