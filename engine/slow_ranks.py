"""Which rank its peers wait for at each step, by what the ranks' own logs say of the time that steps take.

In a job whose ranks meet at each step, the step takes all of them equally long: who looks at its time alone sees nobody. But the
slow one works long and waits for nobody, and the others, who work as long as one another, wait for as long as it works longer.
All of this must hold, so that noise, uneven work and ranks that do not meet convict nobody. Where one log of each host tells of
steps and none says of which rank, hosts are compared.

Many programs do not tell waits apart: those who wait do so within what they call forward and backward, or the optimizer. Then the
one of which one part (loading data, its work) is as much longer as all else in its step is shorter than its peers' is slow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.match import canonical
from neuron_doctor.engine.median import median

#: So many ranks must tell of so many steps; at most one in four of them can be the exception.
_FEWEST_RANKS, _FEWEST_STEPS, _ONE_IN = 4, 4, 4
#: It works so much longer than the others do, and waits so much less.
_LONGER, _LESS = 1.5, 3
#: One that works less longer than that is believed where the waits of all others prove it, of so many ranks, and where it is the
#: only one: stages of a pipeline differ by as much, but of these there is a rank for each replica.
_FEWEST_WITNESSES = 8
#: The least share of a step for which others wait, and how far the steps of ranks that meet may seem to differ.
_WAITED, _ALIKE = 0.2, 0.15
#: What is longer by less of a step is no reason for such a wait.
_EXCESS = 0.15
#: The parts of a step in which a rank waits for no other one, if it alone is long in them.
_PARTS = ("data", "work")
_FEWEST_OTHER_HOSTS, _MOST_TIMES = 2, 1000.0


class _Rank(Struct, frozen=True):
    """What a rank does by itself, and what else its step takes: for others, or at what its log does not tell."""

    work: float
    wait: float
    fact: Fact

    @property
    def step(self) -> float:
        """How long its step took."""
        return self.work + self.wait


Ranks = Sequence[_Rank]


def slow_ranks(facts: Iterable[Fact]) -> list[Fact]:
    """The `slow-rank` facts of the last attempt, by the first form of line that tells them."""
    told = [fact for fact in facts if fact.kind == "step-time" and _teller(fact.place) is not None]
    attempt = max((fact.place.attempt or 0 for fact in told), default=0)
    forms: dict[tuple[str, bool], list[Fact]] = defaultdict(list)
    for fact in told:
        if (fact.place.attempt or 0) == attempt:
            forms[str(fact.data["form"]), fact.place.rank is None].append(fact)
    found = (slow for form in sorted(forms) for slow in _of_form(_last_of_each(forms[form])))
    return next((slow for slow in found if slow), [])


def _last_of_each(facts: Iterable[Fact]) -> list[Fact]:
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
        fact
        for _, fact in sorted(last.items(), key=lambda one: canonical(one[1]))
        if furthest is not None
        and _number(fact, "lines") >= _FEWEST_STEPS
        and _number(fact, "step") >= _number(furthest, "first")
    ]


def _teller(place: Place) -> int | str | None:
    """Who tells: a rank; or a host, where no process is known, or its local rank."""
    if place.rank is None and place.host and place.local_rank is not None:
        return f"{place.host}/{place.local_rank}"
    return place.rank if place.rank is not None or place.pid is not None else place.host


def _number(fact: Fact, name: str) -> float:
    value = fact.data.get(name, 0)
    return float(value) if isinstance(value, int | float) else 0.0


def _of_form(facts: Sequence[Fact]) -> Iterator[list[Fact]]:
    """Who is slow, by each way to tell it that the lines allow: what they call a wait, else each part by itself."""
    if all("wait" in fact.data for fact in facts):
        yield _slow([_with_wait(fact) for fact in facts], "own", _wait_for)
    elif all("total" in fact.data for fact in facts):
        for part in _PARTS:
            if all(part in fact.data for fact in facts):
                ranks = [_Rank(_number(f, part), _number(f, "total") - _number(f, part), f) for f in facts]
                yield _slow(ranks, part, _make_up_for)


def _with_wait(fact: Fact) -> _Rank:
    wait, total = _number(fact, "wait"), _number(fact, "total")
    return _Rank(total - wait if "total" in fact.data else _number(fact, "data") + _number(fact, "work"), wait, fact)


def _slow(ranks: Sequence[_Rank], part: str, is_waited_for: Callable[[Ranks, Ranks], bool]) -> list[Fact]:
    ranks = [one for one in ranks if one.work >= 0 and one.wait >= 0 and one.step > 0]
    if len(ranks) < _FEWEST_RANKS:
        return []
    usual, step = median(one.work for one in ranks), median(one.step for one in ranks)
    least = max(_LONGER * usual, usual + _EXCESS * step)
    if part == "own" and len(ranks) >= _FEWEST_WITNESSES:
        seen = usual + _WAITED * step
        least = seen if sum(one.work >= seen for one in ranks) == 1 else least
    slow = [one for one in ranks if one.work >= least]
    peers = [one for one in ranks if one.work < least]
    together = all(abs(one.step - step) <= _ALIKE * step for one in ranks)
    if not slow or not _are_few(slow, peers) or not together or not is_waited_for(slow, peers):
        return []
    longest = max(one.wait for one in slow)
    share = median((one.wait - (0 if part == "own" else longest)) / one.step for one in peers)
    return [
        replace(
            one.fact,
            kind="slow-rank",
            data={
                "part": part,
                "times": round(min(one.work / usual, _MOST_TIMES) if usual else _MOST_TIMES, 2),
                "peers": len(peers),
                "share": round(share, 2),
                "step": int(_number(one.fact, "step")),
            },
            repeats=0,
        )
        for one in slow
    ]


def _are_few(slow: Ranks, peers: Ranks) -> bool:
    """Whether they are exceptions, or all ranks of one host of three or more."""
    if len(slow) * _ONE_IN <= len(slow) + len(peers):
        return True
    hosts, others = ({one.fact.place.host for one in side} for side in (slow, peers))
    return len(hosts) == 1 and None not in hosts | others and not hosts & others and len(others) >= _FEWEST_OTHER_HOSTS


def _wait_for(slow: Ranks, peers: Ranks) -> bool:
    """Whether all peers wait for the slow ones, and only for them."""
    longest = max(one.wait for one in slow)
    return all(one.wait >= _LESS * longest and one.wait >= _WAITED * one.step for one in peers)


def _make_up_for(slow: Ranks, peers: Ranks) -> bool:
    """Whether of all peers something else is longer than of any slow one, by what counts as a wait."""
    longest = max(one.wait for one in slow)
    return all(one.wait - longest >= _WAITED * one.step for one in peers)
