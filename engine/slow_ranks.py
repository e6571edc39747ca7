"""Which rank its peers wait for at each step, by what the ranks' own logs say of the time that steps take.

In a job whose ranks meet at each step, the step takes all of them equally long: who looks at its time alone sees nobody. But the
slow one works long and waits for nobody, and the others, who work as long as one another, wait for as long as it works longer.
All of this must hold, so that noise, uneven work and ranks that do not meet convict nobody. Where one log of each host tells of
steps and none says of which rank, hosts are compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.match import canonical

#: So many ranks must tell of so many steps; at most one in four of them can be the exception.
_FEWEST_RANKS, _FEWEST_STEPS, _ONE_IN = 4, 4, 4
#: It works so much longer than the others do, and waits so much less.
_LONGER, _LESS = 1.5, 3
#: The least share of a step for which others wait, and how far the steps of ranks that meet may seem to differ.
_WAITED, _ALIKE = 0.2, 0.15


class _Rank(Struct, frozen=True):
    work: float
    wait: float
    fact: Fact

    @property
    def step(self) -> float:
        """How long its step took."""
        return self.work + self.wait


def slow_ranks(facts: Iterable[Fact]) -> list[Fact]:
    """The `slow-rank` facts of the last attempt, by the first form of line that tells them."""
    told = [fact for fact in facts if fact.kind == "step-time" and _teller(fact.place) is not None]
    attempt = max((fact.place.attempt or 0 for fact in told), default=0)
    forms: dict[tuple[str, bool], list[Fact]] = defaultdict(list)
    for fact in told:
        if (fact.place.attempt or 0) == attempt:
            forms[str(fact.data["form"]), fact.place.rank is None].append(fact)
    found = (_of_form(_last_of_each(forms[form])) for form in sorted(forms))
    return next((slow for slow in found if slow), [])


def _last_of_each(facts: Iterable[Fact]) -> list[_Rank]:
    """What each rank says last, of the ranks that tell of the same steps as the one that got furthest."""
    last: dict[int | str, Fact] = {}
    sources: dict[str, set[str]] = defaultdict(set)
    for fact in sorted(facts, key=canonical):
        teller = _teller(fact.place)
        if teller is not None and (teller not in last or _number(fact, "step") >= _number(last[teller], "step")):
            last[teller] = fact
        if isinstance(teller, str):
            sources[teller].add(fact.source)
    for host in (host for host, logs in sources.items() if len(logs) > 1):
        del last[host]  # of which rank each of them tells is not known
    furthest = max(last.values(), key=lambda fact: _number(fact, "step"), default=None)
    return [
        one
        for _, fact in sorted(last.items(), key=lambda one: canonical(one[1]))
        if furthest is not None
        and _number(fact, "lines") >= _FEWEST_STEPS
        and _number(fact, "step") >= _number(furthest, "first")
        and (one := _rank(fact)) is not None
    ]


def _teller(place: Place) -> int | str | None:
    """Who tells: a rank; or a host, where no process is known."""
    return place.rank if place.rank is not None or place.pid is not None else place.host


def _rank(fact: Fact) -> _Rank | None:
    wait, total = _number(fact, "wait"), _number(fact, "total")
    work = _number(fact, "work") if "work" in fact.data else total - wait
    return _Rank(work, wait, fact) if work > 0 and wait >= 0 else None


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
