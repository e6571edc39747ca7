"""Hosts that the layout of the whole collection shows, where no record of a source and no shape of its name says one.

`hints` reads one path alone; `trn-b01/ trn-b03/` or `queue1-dy-a-1.txt queue1-dy-a-2.txt` are hosts only beside each
other. A source that has no host takes one from a part of its path (a directory, an archive, the stem of a file without
extension, date and words for evidence), below what all paths have in common, by these proofs only:

1. **Name.** The part is the name of a host that content states (`place.host` of facts, identities, Slurm's and
   Kubernetes' nodes), in upper or lower case, or the first label of it; or it begins with it and a dot (`w2.train.log`),
   or has the number of a job before it (`job_4411_w2.log`), or words for a program (`worker-trn-06.out`, `worded_names`).
2. **Siblings.** Parts side by side with one shape (numbers and single letters aside; a word of two letters at least;
   none of the words that never mean a host: attempts, ranks, experiments ...; more than a rack or pool), and
   a. one of them is a host by its name; or
   b. a directory among them, or two files, are of a kind that is made once on a host (kernel log, neuron-ls ...); or
   c. directories with a file of the same name, or files alone, share one job: each tells of ranks of its own, two at
      least; or they ran at once and number their files through (`0.log 1.log`, `2.log 3.log`), state the same job, or
      state one world with room for the local ranks of all.
   d. each directory has a file of the same name of such a kind, or each name is that of a log and of a file of such a kind
      (`alpha.log alpha.dmesg`); no two tell of one rank or name one machine, and all ran at once (by clocks set right by
      what their time services say). This needs no shape: `alpha/ beta/ w0/` will do. Where only some names of a shape
      pair so (`w-a.log w-b.log w-b.dmesg`), those are hosts. The files and the logs may lie apart (`dmesg/alpha`,
      `process_0_alpha.log`: `shared_names`).
   e. directories, with a file of the same name each, tell of ranks that are the blocks a launcher gives to hosts: as many
      each, eight at least, one after the other (0-7, 8-15). Nor does this need a shape. Of fewer ranks (two at least),
      three directories, without a gap from rank 0 on, that ran at once: what a person sorts (`stuck/ fine/`) is not so even.
   f. names that are each another word (`kestrel3 merlin4`): each is a directory with a file of the same name of such a kind,
      whenever that was made (without numbers three at least); or, with numbers, each tells of ranks of its own; or one of them
      is a host by its name, and each is a directory with files of the same names, which were written at once.
   g. such siblings lie in a directory beside theirs (`J801/atlas3.log`, where `J802/atlas8.log atlas9.log` are hosts).
   h. each says that its launcher gave its node another number (`--node_rank 2`), and tells of ranks of its own. That needs
      neither a shape nor clocks that agree.
   Siblings that tell of the same ranks, that ran one after the other, or that name one machine are runs or copies, not
   hosts (`exp-a/rank_0.log`, `exp-b/rank_0.log`), unless a. says otherwise.
   Of what is called `worker-3`, c. and e. prove nothing; of what may be many hosts (`trn-pool-3`, `rack2-n4`) a. and d. alone
   prove anything. A name of one letter and a number (`n101/`, not `r12u3`) needs b., and ranks of its own or that two say which
   machine they are of.
3. **Own words.** The source says itself where it runs, and so do others of other hosts (`own_words`); these names count for 1.
   One that is called after an instance (`hyperpod-i-0abc...`) holds against a path that is not: `worker-1` is a pod there.
   So does every file in a directory that is said to be of one machine (`decode_host/`), where what lies there states one name
   that the machine gives itself (`nicknames`).
4. **Trees.** It lies in a tree of files that has the name of its machine in it (`host_trees`: a sosreport, copies of /etc).
5. **Labels.** Two at least bear the names that lines of one log begin with (`labelled_lines`), and are of a kind that is
   made once on a host; such lines are of these hosts too.
   Where nearly all lines of a log are labelled alike, the labels themselves may prove it (`line_labels`).
6. **Headings.** It stands in a log below a heading that names a host (`sections`).
7. **Alone.** No other machine than one is spoken of anywhere, and this one names itself (`lone_machine`).
8. **Aliases.** Where the lines of at least two hosts of 1. to 6. are each prefixed with one address or name
   (Ray's `ip=10.5.0.11`), or torchrun reports an end on it (only of workers of its own), a different one for each, the two
   names are one host: an `identity` fact says so.

If parts of one path are hosts by proofs of the same strength, neither is, but of names the innermost. What is in a pod
stays there (`pods/...`), and a host that a record or a hint states is never replaced. A copy of a placed source, known by
its content, is at the same host. Neither the order of the sources nor copies change anything.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from neuron_doctor.collectors.hints import bare, has_shape_of_host, is_name_of_ec2, place_of_path, plain
from neuron_doctor.collectors.host_trees import hosts_of_trees
from neuron_doctor.collectors.known_hosts import known_hosts
from neuron_doctor.collectors.labelled_headings import headed_by_labels
from neuron_doctor.collectors.labelled_lines import hosts_of_labels, labelled
from neuron_doctor.collectors.line_labels import KIND as LABEL
from neuron_doctor.collectors.line_labels import placed_by_labels
from neuron_doctor.collectors.lone_machine import lone_machine, taken_on_it
from neuron_doctor.collectors.lone_terminals import at_its_prompts
from neuron_doctor.collectors.nicknames import hosts_of_directories
from neuron_doctor.collectors.no_host_words import (
    GROUPINGS,
    NO_HOST,
    OF_A_STORY,
    OF_ANOTHER_HOST,
    may_name_a_host,
    words_of,
)
from neuron_doctor.collectors.other_names import names_beside
from neuron_doctor.collectors.own_words import hosts_in_own_words
from neuron_doctor.collectors.sections import KIND as HEADING
from neuron_doctor.collectors.sections import sectioned
from neuron_doctor.collectors.shared_names import hosts_of_shared_names
from neuron_doctor.collectors.sibling_hosts import (
    Member,
    Proof,
    Telling,
    in_blocks_of_ranks,
    may_be_hosts,
    of_each_node,
    on_each_machine,
    paired_with_a_machine,
    proof,
    proof_of_mixed,
    telling,
)
from neuron_doctor.collectors.worded_names import hosts_behind_words
from neuron_doctor.engine.bystanders import CONTROLLERS
from neuron_doctor.engine.digests import blake2b
from neuron_doctor.engine.facts import Collection, Fact, Place, Source
from neuron_doctor.engine.hostnames import instance_in
from neuron_doctor.engine.proven import unique
from neuron_doctor.engine.regexes import regex

_DEEPEST = 32
_LONGEST_NAME = 255
_NUMBER = regex(r"\d+", re.ASCII)
_SINGLE = regex(r"(?<=[-_])[a-z](?![a-z\d])", re.ASCII | re.IGNORECASE)
_WORD = regex(r"[a-z]+", re.ASCII | re.IGNORECASE)
#: The number of a job before a name that has letters.
_JOB_BEFORE = regex(r"\A\d{1,12}[-_.](?=[a-z])", re.ASCII)
#: A word behind a name that ends in a number, or in such words.
_WORDS_BEHIND = regex(r"[-_.][a-z]{2,40}$", re.ASCII)
#: What is numbered so is a process as often as a host: that they share one job proves nothing.
_WEAK = frozenset({"worker"})
#: So many single letters are those of a rack and of a place in it.
_LETTERS_OF_A_RACK = 2
#: The families of all siblings, whatever their names; of those that are a word and a number; of those that are a word.
_ANY, _MIXED, _WORDS = "*", "*#", "*w"
_WORD_AND_NUMBER = regex(r"(?P<word>[a-z]{3,})(?:-?\d{1,4})?", re.ASCII | re.IGNORECASE)
#: Which siblings a part stands among: the parts before it, and the shape of its name.
Family = tuple[tuple[str, ...], str]
#: By name in lower case: what shows that it is a host, and how it is written.
Hosts = Mapping[str, tuple[Proof, str]]


def placed_by_layout(collection: Collection) -> Collection:
    """The collection with the hosts of sources, and of their facts, that its layout proves (see above). Linear in the
    sources and their facts."""
    collection = _numbered(collection)
    facts = _by_path(collection.facts)
    if all(source.place.host for source in collection.sources):
        return Collection(collection.sources, (*collection.facts, *names_beside(facts, collection.sources)))
    hosts, labels = _hosts(collection, facts)
    asked = {source.path for source in collection.sources if source.kind in CONTROLLERS}
    host_of = {path: host for path, host in hosts.items() if host and path not in asked}
    sources = tuple(_placed(source, host_of.get(source.path)) for source in collection.sources)
    ids = {source.path: source.id for source in sources if source.path in host_of}
    said = {id(facts[s.path][n]): labels[name] for s in sources for n, name in _labelled(s, facts, labels).items()}
    below = dict(_below_marks(collection, facts, host_of, HEADING, sectioned))
    below |= dict(_below_marks(collection, facts, host_of, HEADING, headed_by_labels))
    below |= dict(_below_marks(collection, facts, host_of, LABEL, placed_by_labels))
    moved = [_moved(fact, host_of, ids, said, below) for fact in collection.facts]
    return _on_one_machine(Collection(sources, (*moved, *names_beside(facts, sources))))


def _numbered(collection: Collection) -> Collection:
    """The same, with the ranks of lines that are labelled with nothing but these: they say whose directories are hosts."""
    alone = {fact.span.path for fact in collection.facts if fact.kind == LABEL and not fact.data["name"]}
    if not alone:
        return collection
    told = _by_path(fact for fact in collection.facts if fact.span.path in alone)
    place = {id(f[n]): place for f in told.values() for n, place in placed_by_labels(f, {}).items()}
    moved = (replace(fact, place=place[id(fact)]) if id(fact) in place else fact for fact in collection.facts)
    return Collection(collection.sources, tuple(moved))


def _by_path(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        found[fact.span.path].append(fact)
    return found


def _on_one_machine(collection: Collection) -> Collection:
    """The same; what was taken on the one machine that there is, is of it."""
    paths = taken_on_it(collection.sources)
    collection = at_its_prompts(collection)
    host = lone_machine(collection) if paths else None
    if host is None:
        return collection
    sources = tuple(_placed(source, host if source.path in paths else None) for source in collection.sources)
    ids = {source.path: source.id for source in sources if source.path in paths}
    facts = (_at(fact, host, ids) if fact.span.path in ids else fact for fact in collection.facts)
    return Collection(sources, tuple(facts))


def _labelled(source: Source, facts: Mapping[str, Sequence[Fact]], labels: Mapping[str, str]) -> dict[int, str]:
    """The labels of the records of a source that has no host."""
    return {} if source.place.host or not labels else labelled(facts.get(source.path, ()), labels)


def _below_marks(
    collection: Collection,
    facts: Mapping[str, Sequence[Fact]],
    host_of: Mapping[str, str],
    mark: str,
    placed_by: Callable[[Sequence[Fact], Mapping[str, str]], Mapping[int, Place]],
) -> Iterator[tuple[int, Place]]:
    """The places of records in sources without a host that have marks: headings that name hosts, or lines that are all labelled
    with hosts or ranks."""
    marked = sorted({fact.span.path for fact in collection.facts if fact.kind == mark})
    known = {**{host.casefold(): host for host in host_of.values()}, **known_hosts(collection)} if marked else {}
    placed = {source.path for source in collection.sources if source.place.host} | host_of.keys()
    for path in marked:
        if path not in placed:
            yield from ((id(facts[path][number]), place) for number, place in placed_by(facts[path], known).items())


def _hosts(collection: Collection, facts: Mapping[str, Sequence[Fact]]) -> tuple[dict[str, str | None], dict[str, str]]:
    """The host of each path whose source has none yet, None where nothing proves one; and the hosts that lines are
    labelled with, by their names in lower case."""
    sources, unplaced = collection.sources, [source for source in collection.sources if not source.place.host]
    known = known_hosts(collection)
    said = hosts_in_own_words(unplaced, facts, known)
    known = {**{name.casefold(): name for name in said.values()}, **known}
    depth = _common(sources)
    below = {source.path: _in_view(source)[depth:][:_DEEPEST] for source in sources}
    proven: dict[str, tuple[Proof, str]] = {}
    for members, what in _families(sources, facts, below, depth, known):
        for name in members if what else ():
            proven[name.casefold()] = max(proven.get(name.casefold(), (what, name)), (what, name))
    names = {path: _name(parts[-1]) if parts else "" for path, parts in below.items()}
    labels = hosts_of_labels(sources, facts, names)
    proven.update({name: (Proof.NAME, shown) for name, shown in labels.items() if name not in proven})
    proven.update(
        {name: (Proof.MACHINE, host) for name, host in hosts_of_shared_names(sources, facts, below, _name).items()}
    )
    worded = hosts_behind_words(_parts_with_names(below.values()), known)
    proven.update({name: (Proof.NAME, shown) for name, shown in {**worded, **known}.items()})
    in_trees = hosts_of_trees(sources, facts)
    by_path = {s.path: in_trees.get(s.path) or _host(below[s.path], proven) for s in unplaced}
    said |= hosts_in_own_words([s for s in unplaced if not by_path[s.path]], facts, known)
    pods = _names_of_pods(sources, by_path, said)
    said = {
        path: name
        for path, name in said.items()
        if not by_path[path] or _is_node_of(name, by_path[path]) or by_path[path] in pods
    }
    placed = {**by_path, **said}
    named = hosts_of_directories(sources, facts)
    placed.update({path: host for path, host in named.items() if not placed.get(path)})
    return _with_copies(unplaced, placed), labels


def _names_of_pods(
    sources: Iterable[Source], by_path: Mapping[str, str | None], said: Mapping[str, str]
) -> frozenset[str]:
    """The names in paths that are those of pods, or of nodes of a job of AWS Batch (`ft_default_8c1d_2`): every log called so
    calls its host by the name that EC2 gives it. A directory that has a host's files, too, is called after the host."""
    told: dict[str, set[bool]] = defaultdict(set)
    for source in sources:
        if called := source.place.host or by_path.get(source.path):
            told[called].add(is_name_of_ec2(said.get(source.path, "")) and not has_shape_of_host(called))
    return frozenset(called for called, nodes in told.items() if nodes == {True})


def _is_node_of(name: str, called: str | None) -> bool:
    """Whether a name that a log gives its own host says which instance that is, and the one in its path says none: that is a
    pod's, or a number in the job, and may be on another node in the next attempt."""
    return instance_in(name) is not None and instance_in(called or "") is None


# --- parts of paths


def _parts_with_names(paths: Iterable[Sequence[str]]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The names of the parts of paths, each with the parts that it lies in."""
    for parts in paths:
        yield from ((tuple(parts[:number]), name) for number, part in enumerate(parts) if (name := _name(part)))


def _split(path: str) -> list[str]:
    return [part for part in path.replace("!", "/").split("/") if part] or [""]


def _common(sources: Iterable[Source]) -> int:
    """How many directories all paths have in common."""
    directories = [_split(source.path)[:-1] for source in sources]
    shortest, *_ = sorted(directories, key=len)
    return next((n for n, part in enumerate(shortest) if any(d[n] != part for d in directories)), len(shortest))


def _rank_above(sources: Sequence[Source], depth: int) -> int | None:
    """The rank that a directory around everything seems to name."""
    return place_of_path("/".join((*_split(sources[0].path)[:depth], "x"))).rank


def _in_view(source: Source) -> list[str]:
    """The parts that may be hosts: what is in a pod is a container."""
    parts = _split(source.path)
    if "pods" in parts:
        return parts[: parts.index("pods")]
    return parts[:-1] if source.place.container else parts


@lru_cache(maxsize=4096)
def _name(part: str) -> str:
    """The name that a part has if it is a host, or nothing."""
    name = bare(part[:_LONGEST_NAME])
    return name if words_of(name) - NO_HOST else ""


@lru_cache(maxsize=4096)
def _shape(name: str) -> str:
    """The name without what tells siblings apart; nothing where it has no such thing, or never means a host."""
    shape = _SINGLE.sub("@", _NUMBER.sub("#", name)).casefold()
    return shape if {"#", "@"} & set(shape) and may_name_a_host(name) else ""


def _shapes(name: str) -> list[str]:
    """The families in which a part may be a host."""
    if not name or not may_name_a_host(name):
        return []
    mixed = "" if not _WORD_AND_NUMBER.fullmatch(name) or name.casefold() in OF_A_STORY else _WORDS
    return [*filter(None, [_shape(name), _MIXED if mixed and name[-1].isdigit() else mixed]), _ANY]


def _is_short(shape: str) -> bool:
    """One letter and a number; several are a rack and a place in it (`r12u3`, `b01n02`)."""
    words = _WORD.findall(shape)
    return len(words) < _LETTERS_OF_A_RACK and all(len(word) == 1 for word in words)


# --- siblings


def _families(
    sources: Sequence[Source],
    facts: Mapping[str, Sequence[Fact]],
    below: Mapping[str, Sequence[str]],
    depth: int,
    known: Mapping[str, str],
) -> Iterator[tuple[Mapping[str, Member], Proof]]:
    """All siblings of one shape, and what shows that they are hosts."""
    families: dict[Family, dict[str, Member]] = defaultdict(dict)
    above = _rank_above(sources, depth)
    for source in sources:
        parts, rest = below[source.path], _split(source.path)[depth:]
        told: Telling | None = None
        for number, part in enumerate(parts):
            name = _name(part)
            for shape in _shapes(name):
                told = told or telling(source, facts.get(source.path, ()), above)
                siblings = families[tuple(parts[:number]), shape]
                siblings.setdefault(name, Member()).add(rest[number + 1 :], told, source.kind)
    shown = {
        family: _shown(family[1], members, known)
        for family, members in families.items()
        if family[1] not in (_ANY, _MIXED, _WORDS)
    }
    alike = {key for (within, shape), what in shown.items() if what for key in _cousins(within, shape)}
    for (within, shape), members in families.items():
        if shape in (_MIXED, _WORDS):
            yield members, proof_of_mixed(members, known) if _have_own_words(members) else Proof.NONE
        elif shape != _ANY:
            what = shown[within, shape]
            yield members, what
            if not what:
                yield paired_with_a_machine(members), Proof.MACHINE
            if (
                not (what or _may_be_groups(shape))
                and not alike.isdisjoint(_cousins(within, shape))
                and may_be_hosts(members)
            ):
                yield members, Proof.JOB
        else:
            machines = {name: member for name, member in members.items() if member.of_host}
            yield machines, Proof.MACHINE if on_each_machine(machines) else Proof.NONE
            words = {
                name: member
                for name, member in members.items()
                if not (_is_short(name) or _may_be_groups(name)) and words_of(name) - _WEAK
            }
            yield in_blocks_of_ranks(words), Proof.JOB
            yield of_each_node(words), Proof.JOB


def _have_own_words(names: Iterable[str]) -> bool:
    """Whether each of these names is another word, numbers aside."""
    words = [found["word"].casefold() for name in names if (found := _WORD_AND_NUMBER.fullmatch(name))]
    return len(set(words)) == len(words)


def _shown(shape: str, members: Mapping[str, Member], known: Mapping[str, str]) -> Proof:
    """What shows that siblings of one shape are hosts."""
    what = proof(members, known, short=_is_short(shape))
    if _may_be_groups(shape) and what is not Proof.NAME:
        return Proof.MACHINE if on_each_machine(members) else Proof.NONE
    return Proof.NONE if what is Proof.JOB and words_of(shape) <= _WEAK else what


def _may_be_groups(name: str) -> bool:
    """Whether ranks that are shared out among such names may be those of many hosts each: `az1-pool-2`."""
    return bool(words_of(name) & GROUPINGS)


def _cousins(above: Sequence[str], shape: str) -> set[tuple[str, ...]]:
    """What siblings have in common with those of one shape in a directory beside theirs: `J801/atlas3.log`, `J802/atlas8.log`."""
    if not above or _is_short(shape) or words_of(shape) <= _WEAK:
        return set()
    return {("beside", *above[:-1], shape), ("numbered", *(_NUMBER.sub("#", part) for part in above), shape)}


def _host(parts: Sequence[str], proven: Hosts) -> str | None:
    """The part that is a host by the strongest proof."""
    found = [one for part in parts if (one := _whole(part, proven) or _proven(_name(part).casefold(), proven))]
    found = found or [one for part in parts[-1:] if (one := _called_after(_name(part).casefold(), proven))]
    strongest = max((what for what, _ in found), default=Proof.NONE)
    names = [name for what, name in found if what is strongest]
    return names[-1] if names and (strongest is Proof.NAME or len(set(names)) == 1) else None


def _whole(part: str, proven: Hosts) -> tuple[Proof, str] | None:
    """The host that content states and that a part is called after as a whole, words for evidence in it or not: `train-c`."""
    known = proven.get(plain(part[:_LONGEST_NAME]).casefold())
    return known if known and known[0] is Proof.NAME else None


def _proven(name: str, proven: Hosts) -> tuple[Proof, str] | None:
    """The host that a name is, or that content states and the name goes on from, or comes to after the number of a job:
    `w2.train` is of `w2`, and so is `4411_w2` (which is left of `job_4411_w2.log`)."""
    known = proven.get(name)
    if known is None or known[0] is not Proof.NAME:
        first, _, rest = name.partition(".")
        labels = () if words_of(rest) & OF_ANOTHER_HOST else (first,)
        for label in (*labels, _JOB_BEFORE.sub("", name)):
            if (stated := proven.get(label)) is not None and stated[0] is Proof.NAME:
                return stated
    return known


def _called_after(name: str, proven: Hosts) -> tuple[Proof, str] | None:
    """The host that content states with whose name a file's begins, before words: the longest such name. None of the words
    speaks of another host."""
    words = _WORDS_BEHIND.search(name)
    while words and words[0][1:] not in OF_ANOTHER_HOST:
        name = name[: words.start()]
        if (host := proven.get(name)) is not None and host[0] is Proof.NAME:
            return host
        words = _WORDS_BEHIND.search(name)
    return None


def _with_copies(sources: Iterable[Source], hosts: Mapping[str, str | None]) -> dict[str, str | None]:
    """Copies of a source that lie elsewhere are where it is."""
    at = unique((source.id, host) for source in sources if (host := hosts[source.path]))
    return {source.path: hosts[source.path] or at.get(source.id) for source in sources}


# --- what it changes


def _placed(source: Source, host: str | None) -> Source:
    """At its host, under an id of its own: what two hosts write alike is two sources."""
    if host is None:
        return source
    identity = blake2b(f"{source.id} {host}".encode(), digest_size=16).hexdigest()
    return replace(source, id=identity, place=source.place.over(Place(host=host)))


def _moved(
    fact: Fact,
    host_of: Mapping[str, str],
    ids: Mapping[str, str],
    said: Mapping[int, str],
    below: Mapping[int, Place],
) -> Fact:
    if fact.span.path in ids:
        return _at(fact, host_of[fact.span.path], ids)
    if id(fact) in below:
        return replace(fact, place=below[id(fact)])
    host = said.get(id(fact))
    return replace(fact, place=fact.place.over(Place(host=host))) if host else fact


def _at(fact: Fact, host: str, ids: Mapping[str, str]) -> Fact:
    return replace(fact, place=fact.place.over(Place(host=host)), source=ids[fact.span.path])
