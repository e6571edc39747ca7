"""Which rank its peers wait for at each step, by what the ranks' own logs say of the time that steps take.

In a job whose ranks meet at each step, the step takes all of them equally long: who looks at its time alone sees nobody. But the
slow one works long and waits for nobody, and the others, who work as long as one another, wait for as long as it works longer.
All of this must hold, so that noise, uneven work and ranks that do not meet convict nobody.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.match import canonical

#: So many ranks must tell of so many steps; at most one in four of them can be the exception.
_FEWEST_RANKS, _FEWEST_STEPS, _ONE_IN = 4, 4, 4
#: It works so much longer than the others do, and waits so much less.
_LONGER, _LESS = 1.5, 3
#: The least share of a step for which others wait, and how far the steps of ranks that meet may seem to differ.
_WAITED, _ALIKE = 0.2, 0.15


class _Rank(Struct, frozen=True):
    rank: int
    work: float
    wait: float
    fact: Fact

    @property
    def step(self) -> float:
        """How long its step took."""
        return self.work + self.wait


def slow_ranks(facts: Iterable[Fact]) -> list[Fact]:
    """The `slow-rank` facts of the last attempt, by the first form of line that tells them."""
    told = [fact for fact in facts if fact.kind == "step-time" and fact.place.rank is not None]
    attempt = max((fact.place.attempt or 0 for fact in told), default=0)
    forms: dict[str, list[Fact]] = defaultdict(list)
    for fact in told:
        if (fact.place.attempt or 0) == attempt:
            forms[str(fact.data["form"])].append(fact)
    found = (_of_form(_last_of_each(forms[form])) for form in sorted(forms))
    return next((slow for slow in found if slow), [])


def _last_of_each(facts: Iterable[Fact]) -> list[_Rank]:
    """What each rank says last, of the ranks that tell of the same steps as the one that got furthest."""
    last: dict[int, Fact] = {}
    for fact in sorted(facts, key=canonical):
        rank = fact.place.rank
        if rank is not None and (rank not in last or _number(fact, "step") >= _number(last[rank], "step")):
            last[rank] = fact
    furthest = max(last.values(), key=lambda fact: _number(fact, "step"), default=None)
    return [
        one
        for rank, fact in sorted(last.items())
        if furthest is not None
        and _number(fact, "lines") >= _FEWEST_STEPS
        and _number(fact, "step") >= _number(furthest, "first")
        and (one := _rank(rank, fact)) is not None
    ]


def _rank(rank: int, fact: Fact) -> _Rank | None:
    wait, total = _number(fact, "wait"), _number(fact, "total")
    work = _number(fact, "work") if "work" in fact.data else total - wait
    return _Rank(rank, work, wait, fact) if work > 0 and wait >= 0 else None


def _number(fact: Fact, name: str) -> float:
    value = fact.data.get(name, 0)
    return float(value) if isinstance(value, int | float) else 0.0


def _of_form(ranks: Sequence[_Rank]) -> list[Fact]:
    if len(ranks) < _FEWEST_RANKS:
        return []
    usual = median(one.work for one in ranks)
    slow = [one for one in ranks if one.work >= _LONGER * usual]
    peers = [one for one in ranks if one.work < _LONGER * usual]
    if not slow or len(slow) * _ONE_IN > len(ranks) or not _wait_for(slow, peers):
        return []
    share = median(one.wait / one.step for one in peers)
    return [
        replace(
            one.fact,
            kind="slow-rank",
            data={
                "times": round(one.work / usual, 2),
                "peers": len(peers),
                "share": round(share, 2),
                "step": int(_number(one.fact, "step")),
            },
            repeats=0,
        )
        for one in slow
    ]


def _wait_for(slow: Sequence[_Rank], peers: Sequence[_Rank]) -> bool:
    """Whether all peers wait for the slow ones, and only for them."""
    longest, step = max(one.wait for one in slow), median(one.step for one in peers)
    waits = all(one.wait >= _LESS * longest and one.wait >= _WAITED * one.step for one in peers)
    together = all(abs(one.step - step) <= _ALIKE * step for one in (*slow, *peers))
    return waits and together
