"""The few ranks that stand elsewhere than all others by the words of the runtime: between two collective operations, or
in a call that the others have left or never entered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.recorder import named_ranks, told_of_collective
from neuron_doctor.engine.stands import Stand

#: Of those who stand somewhere, at most one in so many may be the odd ones; and so many must wait.
_FEW = 3
_MANY = 2


def lone_ranks(stands: Sequence[Stand], *, hangs: bool) -> list[Fact]:
    """The `collective` facts that follow; at most one for each kind of words. `hangs`: somebody says that the job does;
    a call that was entered and not left is no sign of it."""
    found = [_between_operations(stands), _in_other_call(stands) if hangs else None]
    return [fact for fact in found if fact is not None]


def _between_operations(stands: Sequence[Stand]) -> Fact | None:
    """Ranks that ended an operation and never came to the next, in which all others hang: their device is stuck between."""
    told = [stand for stand in stands if stand.witness == "runtime" and stand.sequence >= 0]
    waiting = {stand.rank: stand for stand in told if stand.waits}
    between = {s.rank: s for s in told if not s.waits and s.completed == s.sequence - 1 and s.rank not in waiting}
    places = {(stand.sequence, stand.total) for stand in told}
    if len(places) != 1 or not _are_few(between, waiting):
        return None
    [(number, total)] = places
    where = f"collectives operation {number}" + (f" of {total}" if total >= 0 else "")
    text = f"ended operation {number - 1} and never came to {where}, in which the others hang"
    return _fact("device-stuck", text, "runtime", between, waiting)


def _in_other_call(stands: Sequence[Stand]) -> Fact | None:
    """Ranks whose last call of the runtime differs from the one in which all others wait for them."""
    calls = {stand.rank: stand for stand in stands if stand.witness == "api"}
    silent = {rank: stand for rank, stand in calls.items() if not stand.waits}
    waiting = {rank: stand for rank, stand in calls.items() if stand.waits}
    others = {s.rank: s for s in stands if s.waits and s.witness != "api"}
    if len({stand.operation for stand in waiting.values()}) == 1 and not others and _are_few(silent, waiting):
        call = next(iter(waiting.values())).operation
        return _fact("rank-missing", f"never entered {call}, in which the others wait", "api", silent, waiting)
    inside = {rank: stand for rank, stand in calls.items() if stand.operation and rank not in others}
    if others and _are_few(inside, others) and others.keys() >= calls.keys() - inside.keys():
        names = ", ".join(sorted({stand.operation for stand in inside.values()}))
        return _fact(
            "rank-missing", f"never joined what the others wait in, inside {names} instead", "api", inside, others
        )
    return None


def _are_few(odd: Mapping[int, Stand], others: Mapping[int, Stand]) -> bool:
    return bool(odd) and len(others) >= _MANY and _FEW * len(odd) <= len(odd) + len(others)


def _fact(verdict: str, text: str, witness: str, odd: Mapping[int, Stand], others: Iterable[int]) -> Fact:
    ranks = tuple(sorted(odd))
    first = odd[ranks[0]].fact
    data = told_of_collective(
        verdict,
        f"{named_ranks(ranks)} {text}",
        operation=odd[ranks[0]].operation,
        ordinal=odd[ranks[0]].sequence,
        culprits=ranks,
        waiting=tuple(sorted(others)),
        witness=witness,
    )
    alone = len(ranks) == 1
    place = replace(first.place, rank=ranks[0] if alone else None, ranks=ranks, host=first.place.host if alone else None,
                    pid=None, device=None, core=None, group=None)  # fmt: skip
    return Fact("collective", data, place, first.span, first.source, first.instant)
