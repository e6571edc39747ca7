"""The names of a host that are one host: unified by proof alone."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import combinations

from msgspec.structs import replace

from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.regexes import regex

#: How EC2 calls a host after its private address, and nobody calls anything else.
EC2_NAME = r"ip(?:-\d{1,3}){4}"
#: A node of SageMaker HyperPod on EKS is called after its instance.
_OF_HYPERPOD = regex(r"hyperpod-(?P<id>i-[\da-f]{8,17})")

#: What EC2 calls an instance that nobody named: after its private address, in its subnet; or, where the subnet says so, after
#: itself (resource-based names).
_BY_RESOURCE = regex(r"(?P<id>i-[\da-f]{8,17})\.[\w.-]+")
_ITSELF = regex(r"(?P<id>i-(?:0[\da-f]{3,16}|[\da-f]{8}))")
_ADDRESS = regex(r"\d{1,3}(?:\.\d{1,3}){3}")
_BY_ADDRESS = regex(r"ip-(?P<address>\d{1,3}(?:-\d{1,3}){3})(?:\.[\w.-]+)?")
#: What only numbers the hosts of one job.
_BY_NUMBER = regex(
    r"(?:node|host|worker|machine|instance|rank|box|server|vm)[-_ ]?(?:\d{1,5}|[a-h])|[whn][-_]?\d{1,3}",
    re.IGNORECASE,
)


def instance_in(host: str) -> str | None:
    """The instance after which HyperPod or EC2 calls a node, if its name says one."""
    found = _OF_HYPERPOD.fullmatch(host) or _BY_RESOURCE.fullmatch(host) or _ITSELF.fullmatch(host)
    return found["id"] if found else None


def only_numbers(host: str) -> bool:
    """Whether the name only numbers the hosts of one job."""
    return _BY_NUMBER.fullmatch(host) is not None


def with_host(place: Place, host_of: Mapping[str, str], instance_of: Mapping[str, str]) -> Place:
    """The place under the one name of its host, and with the instance that is known to be that host."""
    host = host_of.get(place.instance_id or "") or host_of.get(place.host or "", place.host)
    instance = place.instance_id or instance_of.get(host or "")
    return (
        place
        if (host, instance) == (place.host, place.instance_id)
        else replace(place, host=host, instance_id=instance)
    )


def names_of_hosts(
    facts: Iterable[Fact], hints: Iterable[Place], places: Iterable[Place], nodes: Collection[str] = ()
) -> tuple[dict[str, str], dict[str, str]]:
    """Unify the names that stand together in one record or as one place: hostname, instance id, address.

    A host that goes with two instances (a launcher's log that collects many hosts' lines) proves nothing; and where one has had
    the name of another, nothing tells which of them it is now, unless that other has a name of its own. The name that is
    shown is a hint's, else what Kubernetes calls it (`nodes`), by which it can be cordoned: so too where the hint only leaves out
    the domain, and where its records mostly say that. One that only numbers the hosts of a job (`node_1`) is shown where there is
    no other; so is a nickname, which the machine itself does not have, and its own name goes before all that Kubernetes does not
    know.
    """
    aliases, facts = _Aliases(), list(facts)
    told = Counter(fact.place.host for fact in facts)
    for host, instance in unique((p.host, p.instance_id) for p in places if p.host and p.instance_id).items():
        aliases.same(host, instance)
    stated = _stated_together(facts)
    for names in stated:
        aliases.same(*names)
    hosts = {place.host for place in places if place.host}.union(*stated)
    for short, full in unique(
        (name.partition(".")[0], name) for name in hosts if "." in name and not name[0].isdigit()
    ).items():
        aliases.same(*({short, full} if short in hosts else ()))
    for host in hosts:
        if called_after := instance_in(host):
            aliases.same(host, called_after)
        elif by_address := _BY_ADDRESS.fullmatch(host):
            aliases.same(host, by_address["address"].replace("-", "."))
    directories = {hint.host for hint in hints if hint.host}
    renamed = {str(f.data["hostname"]): str(f.data["address"]) for f in facts if f.data.get("nickname") is True}
    own = set(renamed.values())
    host_of: dict[str, str] = {}
    instance_of: dict[str, str] = {}
    named = {name for members in aliases.classes() if len(members) > 1 for name in members}
    renewed = {p.host for p in places if p.instance_id and p.instance_id not in named}
    for members in aliases.classes():
        instances = [m for m in members if m.startswith("i-") and "." not in m]
        if len(instances) > 1:
            continue
        best = min(
            members,
            key=lambda m: (
                m in renamed and m not in nodes,
                m not in directories,
                m not in nodes,
                m not in own,
                m in instances,
                m[:1].isdigit(),
                only_numbers(m),
                len(m),
                m,
            ),
        )
        in_full = sorted((m for m in members if m.startswith(f"{best}.")), key=lambda m: (m not in nodes, -told[m], m))
        best = next((m for m in in_full if m in nodes or told[m] > told[best]), best)
        host_of.update(dict.fromkeys(members, best))
        if instances and renewed.isdisjoint(members):
            instance_of[best] = instances[0]
    return host_of, instance_of


def _stated_together(facts: Iterable[Fact]) -> list[list[str]]:
    """The names that one record says, or the records of one process (an infodump has a line for each). What two lists of machines
    tell differently is left out."""
    facts = list(facts)
    disputed = _disputed(fact for fact in facts if fact.kind == "identity" and fact.data.get("listed"))
    together: dict[object, list[str]] = defaultdict(list)
    for number, fact in enumerate(facts):
        if fact.kind == "identity":
            key = (fact.source, fact.place.pid) if fact.place.pid is not None else number
            said = [fact.data.get(name) for name in ("hostname", "address", "instance_id", "pod")]
            names = (str(name) for name in (*said, fact.place.instance_id) if name)
            together[key].extend(name for name in names if not (fact.data.get("listed") and name in disputed))
            together[key].extend(_address_of(fact))
        elif fact.kind == "pod" and fact.data.get("ip") and fact.place.host:
            together[number] = [str(fact.data["ip"]), fact.place.host]
    return list(together.values())


def _address_of(fact: Fact) -> Iterable[str]:
    """The address at which a process runs (Ray's `ip=10.60.1.99`, which may be that of its pod), where the process says what EC2
    calls its host."""
    host, said = fact.place.host or "", str(fact.data.get("hostname") or "")
    return (host,) if fact.place.pid is not None and _ADDRESS.fullmatch(host) and _BY_ADDRESS.fullmatch(said) else ()


def _disputed(listed: Iterable[Fact]) -> set[str]:
    """The names, addresses and instances of which two lists tell that they go with others, and have none of these in common: of
    two such lists one is old."""
    told: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for fact in listed:
        said = _given(fact)
        for key, name in said.items():
            for other in said.keys() - {key}:
                told[name, other][fact.source].add(
                    said[other].partition(".")[0] if other == "hostname" else said[other]
                )
    return {name for (name, _), lists in told.items() if _differ({frozenset(values) for values in lists.values()})}


def _given(fact: Fact) -> dict[str, str]:
    """What a list says of a machine. What EC2 calls it after its address or instance says no more than these."""
    told = {**fact.data, "instance_id": fact.data.get("instance_id") or fact.place.instance_id}
    said = {key: str(name) for key in ("hostname", "address", "instance_id") if (name := told.get(key))}
    host = said.get("hostname", "")
    if _BY_ADDRESS.fullmatch(host) or instance_in(host):
        del said["hostname"]
    return said


def _differ(lists: Iterable[frozenset[str]]) -> bool:
    """Whether two have nothing in common. Most lists say the same."""
    return any(one.isdisjoint(other) for one, other in combinations(lists, 2))


class _Aliases:
    """Union-find over names."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def same(self, *names: str | None) -> None:
        """State that all these names are of one host."""
        roots = sorted({self._root(name) for name in names if name})
        for root in roots[1:]:
            self._parent[root] = roots[0]

    def _root(self, name: str) -> str:
        self._parent.setdefault(name, name)
        while self._parent[name] != name:
            self._parent[name] = name = self._parent[self._parent[name]]
        return name

    def classes(self) -> list[list[str]]:
        """The sets of names, each sorted."""
        found: dict[str, list[str]] = defaultdict(list)
        for name in sorted(self._parent):
            found[self._root(name)].append(name)
        return list(found.values())
