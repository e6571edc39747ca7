"""Other names of hosts that a path has named already: what stands before all lines of their logs, or these say of themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from neuron_doctor.collectors.known_hosts import stated_names
from neuron_doctor.collectors.line_forms import host_of_logger
from neuron_doctor.collectors.nicknames import first_label, has_pods, own_names
from neuron_doctor.collectors.own_words import own_words_at_hosts
from neuron_doctor.engine.facts import Fact, Place, Source
from neuron_doctor.engine.hostnames import only_numbers

#: The host of a source by its path, another name of it, and the record that says so.
_Said = tuple[str, str, Fact]


def names_beside(facts: Mapping[str, Sequence[Fact]], sources: Sequence[Source]) -> list[Fact]:
    """The other name of each host of a source, where all lines of its logs are prefixed with that one, or its first lines say it,
    and it is no other host's; or where a launcher that speaks of its own workers gives it. One pair alone counts only where the
    machine itself says it (`nicknames`). What only numbers the hosts of a job (`node2`) is another name of a host of which there
    are sources, too; and a nickname, by which no host is shown, where nothing but paths has it."""
    host_of = {source.path: source.place.host for source in sources if source.place.host}
    ids = {source.path: source.id for source in sources}
    prefixed = [(host, f) for path, host in sorted(host_of.items()) for f in facts.get(path, ()) if _says_its_host(f)]
    own = sorted(own_words_at_hosts(sources, facts), key=lambda one: one[2].span.path)
    sure = sorted(_sure(sources, facts), key=lambda one: (one[2].span.path, one[2].span.offset))
    said = [*((host, str(fact.place.host), fact) for host, fact in prefixed), *own, *sure]
    said = [(host, name, fact) for host, name, fact in said if first_label(name) != first_label(host)]
    reported = {fact.place.host for _, fact in prefixed if _is_of_own_worker(fact)}
    numbered = {name for host, name, _ in (*own, *sure) if only_numbers(host) and not only_numbers(name)}
    pairs = _alone(said, taken=set(host_of.values()) - reported - numbered)
    by_itself = {host for host, *_ in sure}
    numbers = {host for host, *_ in (*own, *sure) if host in pairs and only_numbers(host)}
    nicknames = numbers - _stated(numbers, facts, sources) if numbers else numbers
    return [
        Fact(
            "identity",
            {"hostname": host, "address": name, **({"nickname": True} if host in nicknames else {})},
            Place(host=host),
            fact.span,
            ids[fact.span.path],
        )
        for host, (name, fact) in sorted(pairs.items(), key=lambda pair: pair[0])
        if len(pairs) > 1 or host in by_itself
    ]


def _sure(sources: Iterable[Source], facts: Mapping[str, Sequence[Fact]]) -> Iterator[_Said]:
    """What the machines of sources say of themselves. One that calls itself as its path does has no other name: what else stands
    before lines of its logger names those who sent them."""
    sources = list(sources)
    pods = has_pods(sources)
    said = [
        (host, name, fact)
        for source in sources
        if (host := source.place.host)
        for name, fact in own_names(source, facts.get(source.path, ()), pods=pods)
    ]
    themselves = {host for host, name, _ in said if first_label(name) == first_label(host)}
    yield from (one for one in said if one[0] not in themselves)


def _alone(said: Iterable[_Said], taken: set[str]) -> dict[str, tuple[str, Fact]]:
    """The one other name of each host, as short as it is said, with the first record that says so, where it is no other host's:
    with a domain and without it is one name."""
    names: dict[str, dict[str, list[tuple[str, Fact]]]] = defaultdict(lambda: defaultdict(list))
    hosts: dict[str, set[str]] = defaultdict(set)
    for host, name, fact in said:
        names[host][first_label(name)].append((name, fact))
        hosts[first_label(name)].add(host)
    found = {
        host: min(told, key=lambda one: len(one[0]))
        for host, by_label in names.items()
        for label, told in by_label.items()
        if len(by_label) == 1 == len(hosts[label])
    }
    return {host: one for host, one in found.items() if one[0] not in taken}


def _stated(hosts: Set[str], facts: Mapping[str, Sequence[Fact]], sources: Iterable[Source]) -> set[str]:
    """Those of the hosts that have their names from anything else than the paths of sources."""
    found: set[str] = set()
    for source in sources:
        at, told = source.place.host, facts.get(source.path, ())
        found.update(name for name in stated_names(told, at) if name in hosts)
        found.update(str(f.data["value"]) for f in told if f.kind == "env" and f.data.get("value") in hosts)
        if at in hosts and at and any(host_of_logger(fact.span.text) == at for fact in told):
            found.add(at)
    return found


def _says_its_host(fact: Fact) -> bool:
    """The name stands before the message, where a launcher or a logger put it, not in what the message says; or a launcher
    says it of its own worker."""
    name = fact.place.host
    return bool(name) and (str(name) in fact.span.text[: (fact.span.column or 1) - 1] or _is_of_own_worker(fact))


def _is_of_own_worker(fact: Fact) -> bool:
    """torchrun's table of failures has those of the workers that it started itself."""
    return fact.kind == "launcher-failure" and fact.data.get("launcher") == "torchrun" and fact.place.rank is not None
