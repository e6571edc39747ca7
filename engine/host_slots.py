"""The hosts of ranks by the slots that mpirun is told of: `mpirun -np 4 -H lark1:2,lark2:2` starts ranks 0 and 1 on the first,
`mpirun -np 2 -H lark1,lark2` one on each.

Source: mpirun(1) of Open MPI 1.8 to 5. It fills one host after the other, unless an option says how to deal ranks out.
"""

from __future__ import annotations

from collections.abc import Iterable

from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

#: A host, with the number of ranks that it may have.
_SLOT = regex(r"(?P<host>[A-Za-z][\w.-]{0,200}):(?P<ranks>\d{1,4})")
#: How many ranks it starts.
_STARTED = regex(r"(?:^|\s)-{1,2}(?:np?|c)\s{1,3}(?P<ranks>\d{1,6})(?=\s)")
#: What deals them out in another order, or may stand on the next line.
_DEALT_OUT = regex(
    r"(?:map|rank)-by|rankfile|rmaps|(?:^|\s)-{1,2}(?:rf|N)\s|-bynode|pernode|oversubscribe|loadbalance|ppr:|hostfile|\\\s*$"
)
#: What deals out one rank to each host: where there are as many of both, the order is that of the hosts.
_ONE_EACH = regex(
    r"(?:^|\s)(?:-{1,2}map-by\s{1,3}(?:ppr:1:node|node)|-N\s{1,3}1|-{1,2}(?:bynode|pernode)|-{1,2}npernode\s{1,3}1)(?=\s)"
)
#: No job has more ranks.
_MOST_RANKS = 1 << 17


def filled_hosts(slots: Fact) -> Iterable[tuple[int, str]]:
    """Each rank with its host, of a fact `host-slots`; none where the order of the ranks is not sure."""
    told = [(found["host"], int(found["ranks"])) for found in _SLOT.finditer(str(slots.data["slots"]))]
    options = f"{slots.data['before']} {slots.data['behind']}"
    too_many = sum(ranks for _, ranks in told) > _MOST_RANKS
    if too_many or _DEALT_OUT.search(options) or len({host for host, _ in told}) < len(told):
        return ()
    hosts = [host for host, ranks in told for _ in range(ranks)]
    started = _STARTED.search(options)
    return enumerate(hosts[: int(started["ranks"])] if started else hosts)


def hosts_in_turn(hosts: Fact) -> Iterable[tuple[int, str]]:
    """Each rank with its host, of a fact `hosts-in-turn`: none but where as many ranks are started as there are hosts, which have
    a slot each."""
    names = str(hosts.data["hosts"]).split(",")
    options = f"{hosts.data['before']} {hosts.data['behind']} "
    started = _STARTED.search(options)
    alone = started is not None and int(started["ranks"]) == len(names) == len(set(names))
    return enumerate(names) if alone and not _DEALT_OUT.search(_ONE_EACH.sub("", options)) else ()
