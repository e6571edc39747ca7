"""Other names of hosts that a path has named already: what stands before all lines of their logs, or these say of themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neuron_doctor.collectors.own_words import own_words_at_hosts
from neuron_doctor.engine.facts import Fact, Place, Source
from neuron_doctor.engine.hostnames import only_numbers
from neuron_doctor.engine.proven import unique


def names_beside(facts: Mapping[str, Sequence[Fact]], sources: Sequence[Source]) -> list[Fact]:
    """The other name of each host of a source, where all lines of its logs are prefixed with that one, or its first lines say it,
    and it is no other host's; or where a launcher that speaks of its own workers gives it. What only numbers the hosts of a job
    (`node2`) is another name of a host of which there are sources, too."""
    host_of = {source.path: source.place.host for source in sources if source.place.host}
    ids = {source.path: source.id for source in sources}
    prefixed = [(host, f) for path, host in sorted(host_of.items()) for f in facts.get(path, ()) if _says_its_host(f)]
    own = sorted(own_words_at_hosts(sources, facts), key=lambda one: one[2].span.path)
    said = [*((host, fact.place.host, fact) for host, fact in prefixed), *own]
    other = unique((host, name) for host, name, _ in said if name != host)
    hosts_of = unique((name, host) for host, name, _ in said if name != host)
    reported = {fact.place.host for _, fact in prefixed if _is_of_own_worker(fact)}
    numbered = {name for host, name, _ in own if only_numbers(host) and not only_numbers(name)}
    taken = set(host_of.values()) - reported - numbered
    pairs = {host: name for host, name in other.items() if hosts_of.get(name) == host and name not in taken}
    first = {host: fact for host, name, fact in reversed(said) if pairs.get(host) == name}
    return [
        Fact(
            "identity",
            {"hostname": host, "address": pairs[host] or ""},
            Place(host=host),
            fact.span,
            ids[fact.span.path],
        )
        for host, fact in sorted(first.items(), key=lambda pair: pair[0])
        if len(pairs) > 1
    ]


def _says_its_host(fact: Fact) -> bool:
    """The name stands before the message, where a launcher or a logger put it, not in what the message says; or a launcher
    says it of its own worker."""
    name = fact.place.host
    return bool(name) and (str(name) in fact.span.text[: (fact.span.column or 1) - 1] or _is_of_own_worker(fact))


def _is_of_own_worker(fact: Fact) -> bool:
    """torchrun's table of failures has those of the workers that it started itself."""
    return fact.kind == "launcher-failure" and fact.data.get("launcher") == "torchrun" and fact.place.rank is not None
