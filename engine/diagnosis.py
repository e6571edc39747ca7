"""From facts to a diagnosis: match, relate, decide, fold, and say it in one sentence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.engine.acquittal import acquitted
from neuron_doctor.engine.clock_table import clock_table
from neuron_doctor.engine.counterfactual import counterfactuals
from neuron_doctor.engine.decide import Graph, decide
from neuron_doctor.engine.deduplicate import deduplicated
from neuron_doctor.engine.earlier_runs import of_the_last_run
from neuron_doctor.engine.ended_ranks import ended_without_dump
from neuron_doctor.engine.facts import Collection, Fact, Source
from neuron_doctor.engine.faulty_devices import at_hosts_of_their_devices
from neuron_doctor.engine.findings import finding_of, fold
from neuron_doctor.engine.former_instances import without_former_instances
from neuron_doctor.engine.full_disks import at_full_disks
from neuron_doctor.engine.grades import Role, Severity, Status
from neuron_doctor.engine.held_ranks import with_held_ranks
from neuron_doctor.engine.hidden import hushed, told
from neuron_doctor.engine.idleness import standing_still
from neuron_doctor.engine.jobs_of_logs import in_their_jobs
from neuron_doctor.engine.lost_hosts import lost_hosts
from neuron_doctor.engine.match import all_matches, canonical, match_rules
from neuron_doctor.engine.moments import with_years
from neuron_doctor.engine.nodenames import at_their_nodenames
from neuron_doctor.engine.old_containers import without_old_containers
from neuron_doctor.engine.oom_accounts import with_accounts
from neuron_doctor.engine.own_waits import without_those_who_gave_up
from neuron_doctor.engine.peoples_notes import without_notes
from neuron_doctor.engine.pods import on_their_nodes
from neuron_doctor.engine.pods_of_job import with_pods_of_job
from neuron_doctor.engine.pods_that_ran import with_starts_made_good
from neuron_doctor.engine.raised_statuses import with_ranks_that_raised
from neuron_doctor.engine.recorder import ranks_text
from neuron_doctor.engine.replayed_words import without_replayed
from neuron_doctor.engine.requeues import in_their_attempts
from neuron_doctor.engine.reraised import at_who_raised_it
from neuron_doctor.engine.retried_exceptions import without_retried
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.saved_outputs import at_their_origin
from neuron_doctor.engine.seen_processes import at_hosts_that_saw_them
from neuron_doctor.engine.shared_places import summing_up, with_shared_places
from neuron_doctor.engine.short_buffers import with_short_buffers
from neuron_doctor.engine.silence import silent_in_dumps, silent_ranks
from neuron_doctor.engine.snapshots import questioned
from neuron_doctor.engine.standstill import refusals, stacks_outside, standstills
from neuron_doctor.engine.task_numbers import without_tasks_for_ranks
from neuron_doctor.engine.terminal_ranks import in_the_rank_of_their_terminal
from neuron_doctor.engine.topology import Topology, complete, completed_place, survey
from neuron_doctor.engine.verdict import Diagnosis, Edge, Finding, NotEvaluable, Verdict
from neuron_doctor.engine.watchdogs import convicted_by_watchdogs
from neuron_doctor.engine.went_down import went_down
from neuron_doctor.engine.witnesses import Witnesses, disagreements, witnesses
from neuron_doctor.engine.worker_ends import heard_ranks, with_logs
from neuron_doctor.engine.worker_labels import without_labels_for_hosts
from neuron_doctor.engine.world import world_of

#: How sure a root can be that may be older than the run, where another is of it.
_DOUBTFUL = 0.5
#: So many hosts, and runs of ranks, are named in a sentence.
_NAMED, _RUNS = 4, 3
#: The kinds of fact that tell where a rank stands.
_STANDING = frozenset({"fr-rank", "stand", "ndet-event", "barrier"})


def diagnose(rulebook: Rulebook, collection: Collection) -> Diagnosis:
    """The whole way from what was collected to a verdict. Pure: the same for the same facts in any order."""
    diagnosis = diagnose_once(rulebook, collection)
    tried = counterfactuals(partial(diagnose_once, rulebook, trial=True), collection, diagnosis)
    return replace(diagnosis, counterfactuals=tried)


class Evidence(Struct, frozen=True):
    """What rules are applied to: all facts, placed and compared, in canonical order; the sources with what became known of
    them; the shape of the job; and what the witnesses say."""

    facts: tuple[Fact, ...]
    sources: tuple[Source, ...]
    topology: Topology
    votes: Witnesses


def diagnose_once(rulebook: Rulebook, collection: Collection, *, whole: bool = True, trial: bool = False) -> Diagnosis:
    """The verdict alone, without the trial of what it rests on. Of a collection that is not `whole`, ranks are compared by
    their recorders only, and nothing is said of what all that failed have in common, or of who says nothing. In a `trial` it
    is not said which rules could not be evaluated."""
    evidence = evidence_of(collection, rulebook.harmless, whole=whole)
    facts, sources, topology = evidence.facts, evidence.sources, evidence.topology
    missing: Sequence[NotEvaluable] = ()
    if trial:
        matches = all_matches(rulebook, facts, sources, topology)
    else:
        matches, missing = match_rules(rulebook, facts, sources, topology)
    graph = with_held_ranks(decide(at_full_disks(matches, facts), facts, sources), topology)
    if whole:
        graph = with_shared_places(rulebook, graph, facts, sources, topology)
    usable = bool(facts) or any(s.records for s in sources)
    diagnosis = _assembled(rulebook, graph, sources, missing, evidence.votes, usable=usable)
    return replace(diagnosis, missing=_not_collected(diagnosis, topology))


def evidence_of(collection: Collection, harmless: frozenset[str], *, whole: bool = True) -> Evidence:
    """What a collection says before any rule is applied; `harmless`: the patterns of what means nothing."""
    collection = without_notes(in_their_jobs(on_their_nodes(at_their_origin(collection))))
    sources, facts = of_the_last_run(collection, with_years(deduplicated(collection.facts)))
    facts = without_replayed(without_retried(at_who_raised_it(facts)))
    sources, facts = without_former_instances(sources, facts)
    facts = with_starts_made_good(without_old_containers(facts, sources), sources)
    facts = without_tasks_for_ranks(at_hosts_that_saw_them(facts, sources))
    facts = in_their_attempts(without_labels_for_hosts(facts, sources))
    collection, facts = (
        Collection(sources, tuple(facts)),
        at_their_nodenames(in_the_rank_of_their_terminal(with_ranks_that_raised(facts))),
    )
    topology = survey(facts, collection.sources)
    if (at_hosts := at_hosts_of_their_devices(facts, topology)) is not facts:
        collection, facts = Collection(sources, tuple(at_hosts)), at_hosts
        topology = survey(facts, collection.sources)
    if any(source.kind == "metrics" for source in collection.sources):
        from neuron_doctor.engine.dashboards import of_the_job  # noqa: PLC0415 - few collections have an export of metrics

        facts = of_the_job(facts, collection.sources, topology)
        collection, topology = Collection(sources, facts), survey(facts, collection.sources)
    placed = tuple(with_accounts(complete(facts, topology)))
    placed = tuple(with_pods_of_job(placed, collection.sources))
    world = world_of(placed, topology)
    heard = heard_ranks(placed, collection.sources, world, harmless)
    placed = tuple(with_logs(placed, collection.sources, heard)) if whole else placed
    found, told = _standings(placed, collection.sources, topology)
    compared = [f for f in found if whole or f.data["witness"] == "recorder"]
    collectives = acquitted(compared, placed, topology.ranks, heard)
    collectives = standing_still(collectives, placed, collection.sources)
    collectives = convicted_by_watchdogs(collectives, placed, collection.sources)
    collectives = questioned(tuple(collectives), placed, collection.sources)
    collectives = without_those_who_gave_up(collectives, placed)
    if whole:
        collectives = silent_in_dumps(collectives, placed, collection.sources, heard, topology)
        collectives = ended_without_dump(collectives, placed, topology)
    odd = _odd_ones(placed, collection.sources, heard, topology) if whole else ()
    facts = with_short_buffers((*placed, *complete(collectives, topology), *odd), topology)
    votes = witnesses(facts, told if whole else ())
    facts = tuple(sorted((*facts, *disagreements(votes)), key=canonical))
    sources = tuple(_completed_sources(collection.sources, facts, topology))
    return Evidence(facts, sources, topology, votes)


def _standings(
    facts: Sequence[Fact], sources: Sequence[Source], topology: Topology
) -> tuple[Sequence[Fact], Sequence[Fact]]:
    """What holds of the job by all that tells where its ranks stand, and what the words alone would say where there are dumps
    too. Most logs tell nothing of that."""
    if not any(fact.kind in _STANDING for fact in facts):
        return (), ()
    from neuron_doctor.engine.standings import match_standings  # noqa: PLC0415 - with it a sixth of all that the engine loads

    standings = match_standings(facts, sources, topology)
    return standings.collectives, standings.told


def _odd_ones(
    facts: Sequence[Fact], sources: Sequence[Source], heard: frozenset[int] | None, topology: Topology
) -> Iterable[Fact]:
    """What only several records together tell."""
    if any(fact.kind == "step-time" for fact in facts):
        from neuron_doctor.engine.slow_ranks import slow_ranks  # noqa: PLC0415 - few logs tell how long steps took

        yield from slow_ranks(facts)
    if any(fact.kind == "ndet-event" for fact in facts):
        from neuron_doctor.engine.first_errors import first_errors  # noqa: PLC0415 - few jobs were traced

        yield from first_errors(facts)
    if any(fact.kind == "memory-use" for fact in facts):
        from neuron_doctor.engine.memory_accounts import accounts  # noqa: PLC0415 - few jobs run out of device memory

        yield from accounts(facts)
    if any(fact.kind == "fingerprint" for fact in facts):
        from neuron_doctor.engine.fingerprints import fingerprint_votes  # noqa: PLC0415 - only in the debug mode of torch

        yield from fingerprint_votes(facts, topology)
    if any(fact.kind == "graph" for fact in facts):
        from neuron_doctor.engine.odd_graphs import odd_graphs  # noqa: PLC0415 - most logs do not tell of graphs

        yield from odd_graphs(facts, topology)
    if any(fact.data.get("refused") for fact in facts):
        from neuron_doctor.engine.core_holders import core_holders  # noqa: PLC0415 - few processes are refused their cores

        yield from core_holders(facts)
    yield from stacks_outside(facts)
    yield from refusals(facts)
    yield from standstills(facts, sources)
    if any(fact.kind == "blocked-task" for fact in facts):
        from neuron_doctor.engine.sleeping_trainers import sleeping_trainers  # noqa: PLC0415 - few kernels report any

        yield from sleeping_trainers(facts, sources)
    if any(fact.kind == "completion" for fact in facts):
        from neuron_doctor.engine.work_done import work_done  # noqa: PLC0415 - few logs of failures tell of a good end

        yield from work_done(facts)
    if any(fact.kind == "meeting" for fact in facts):
        from neuron_doctor.engine.shared_meetings import shared_meetings  # noqa: PLC0415 - few logs say where ranks meet

        yield from shared_meetings(facts, sources)
    if any(fact.kind == "unanswered" for fact in facts):
        from neuron_doctor.engine.unanswered import unanswered_hosts  # noqa: PLC0415 - EFA drops packets of few jobs

        yield from unanswered_hosts(facts, topology)
    yield from lost_hosts(facts, sources, topology)
    yield from went_down(facts)
    yield from silent_ranks(facts, sources, heard, topology)


def _completed_sources(sources: Iterable[Source], facts: Iterable[Fact], topology: Topology) -> Iterator[Source]:
    """The sources with what became known of their places and of the ranks that they speak of."""
    ranks: dict[str, set[int]] = defaultdict(set)
    for fact in facts:
        if fact.place.rank is not None:
            ranks[fact.source].add(fact.place.rank)
    for source in sources:
        own = {source.place.rank} if source.place.rank is not None else ranks[source.id].union(source.ranks)
        yield replace(source, place=completed_place(source.place, topology), ranks=tuple(sorted(own)))


def _assembled(
    rulebook: Rulebook,
    graph: Graph,
    sources: Sequence[Source],
    missing: Sequence[NotEvaluable],
    votes: Witnesses,
    *,
    usable: bool,
) -> Diagnosis:
    folded = fold(graph)
    findings = [finding_of(item, votes) for item in folded]
    ids = {number: finding.id for item, finding in zip(folded, findings, strict=True) for number in item.members}
    findings = [
        summing_up(graph, finding, item.match.facts, ids) for item, finding in zip(folded, findings, strict=True)
    ]
    edges = sorted(
        {Edge(ids[k.effect], ids[k.cause], k.type, k.why) for k in graph.links if ids[k.effect] != ids[k.cause]},
        key=lambda e: (e.source, e.target, e.type, e.why),
    )
    explains: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        explains[edge.target].add(edge.source)
    doubtful = {ids[number] for number in graph.doubtful}
    findings = hushed(findings, rulebook.site)
    findings = _with_doubt([replace(f, explains=tuple(sorted(explains[f.id]))) for f in findings], doubtful)
    findings = sorted(
        findings, key=lambda f: (list(Role).index(f.role), bool(f.silenced), f.id in doubtful, *_order(f))
    )
    roots = tuple(f.id for f in findings if f.role is Role.ROOT)
    unexplained = {ids[number] for number in graph.unexplained}
    return Diagnosis(
        verdict=_verdict(findings, unexplained, usable=usable),
        sources=tuple(sorted(sources, key=lambda s: s.path)),
        root_causes=roots,
        findings=tuple(findings),
        edges=tuple(edges),
        not_evaluable=tuple(missing),
        unexplained=tuple(sorted(unexplained)),
        rulebook_sha256=rulebook.sha256,
        rulebook_rules=len(rulebook.rules),
        clocks=clock_table(graph.clocks),
        packs=rulebook.packs,
        site=rulebook.site,
    )


def _with_doubt(findings: Sequence[Finding], doubtful: set[str]) -> list[Finding]:
    """A root of which nothing tells that it is of this run is a candidate beside one that is of it, no more."""
    if not any(f.role is Role.ROOT and f.id not in doubtful for f in findings):
        return list(findings)
    return [replace(f, confidence=min(f.confidence, _DOUBTFUL)) if f.id in doubtful else f for f in findings]


def _not_collected(diagnosis: Diagnosis, topology: Topology) -> tuple[str, ...]:
    """What would have told more about a failure: the kernel logs of known hosts, the logs of known ranks."""
    if diagnosis.verdict.status in (Status.HEALTHY, Status.BENIGN, Status.NOT_EVALUABLE):
        return ()
    kernel = [s.place.host for s in diagnosis.sources if s.kind == "kernel"]
    bare = [host for host in topology.hosts if host not in kernel]
    logged = {rank for s in diagnosis.sources if s.kind == "log" for rank in s.ranks}
    silent = [rank for rank in range(topology.world_size or 0) if rank not in logged]
    told = []
    if kernel and len(bare) > kernel.count(None):  # where there is none at all, the rules that need one say so
        others = f" and {len(bare) - _NAMED} more" if len(bare) > _NAMED else ""
        named = ", ".join(bare[:_NAMED]) + others
        told.append(f"kernel log (dmesg) of {len(bare)} of {len(topology.hosts)} hosts: {named}")
    if silent and logged:
        told.append(f"logs of {len(silent)} of {topology.world_size} ranks")
    return tuple(told)


def _order(finding: Finding) -> tuple[object, ...]:
    """The surest, the gravest, the one that explains most, then by id."""
    return (
        -finding.confidence,
        -finding.severity.rank,
        -len(finding.explains),
        finding.id,
    )


def _verdict(findings: Sequence[Finding], unexplained: set[str], *, usable: bool) -> Verdict:
    roots = [finding for finding in findings if finding.role is Role.ROOT]
    if roots:
        said = f"{roots[0].title}{_where(roots[0])}{_toll(roots, findings)}{told(roots[0])}{_others(roots[1:])}"
        return Verdict(Status.ROOT_CAUSE, said, complete=True)
    # the ends of the chains first: those who were waited for, not those who waited
    victims = sorted(
        (f for f in findings if f.role is Role.CASCADE), key=lambda f: (bool(f.silenced), f.id not in unexplained)
    )
    unknown = next((f for f in victims if f.cause == "unknown-failure" and f.id in unexplained), None)
    if unknown:
        headline = f"{unknown.title}{_where(unknown)}; no rule explains it{told(unknown)}"
        return Verdict(Status.UNKNOWN_FAILURE, headline, complete=True)
    if victims:
        seen = f"{victims[0].title}{_where(victims[0])}"
        headline = f"Only consequences were found ({seen}); their cause is not in what was collected{told(victims[0])}"
        return Verdict(Status.VICTIMS_ONLY, headline, complete=True)
    if not usable:
        return Verdict(Status.NOT_EVALUABLE, "Nothing in the given paths could be read as evidence", complete=True)
    risks = [f for f in findings if f.role is Role.CONTEXT and f.severity.rank >= Severity.WARNING.rank]
    risk = f"; a risk: {risks[0].title}{_where(risks[0])}{told(risks[0])}" if risks else ""
    benign = any(finding.role is Role.BENIGN for finding in findings)
    return Verdict(
        Status.BENIGN if benign else Status.HEALTHY, f"No failure found in what was collected{risk}", complete=True
    )


def _others(roots: Sequence[Finding]) -> str:
    """How many other roots there are, and how many of these are hidden."""
    hidden = sum(bool(root.silenced) for root in roots)
    shown = f", and {len(roots) - hidden} more" if len(roots) > hidden else ""
    return shown + (f"; {hidden} more {'is' if hidden == 1 else 'are'} hidden by the site file" if hidden else "")


def _toll(roots: Sequence[Finding], findings: Sequence[Finding]) -> str:
    """How many ranks beside those at fault, where they are known, a single root stopped; empty for none or several roots."""
    explained, at_fault = set(roots[0].explains), set(roots[0].place.ranks)
    ranks = {rank for finding in findings if finding.id in explained for rank in finding.place.ranks} - at_fault
    noun = ("other " if at_fault else "") + ("ranks" if len(ranks) > 1 else "rank")
    return f"; it stopped {len(ranks)} {noun}" if ranks and len(roots) == 1 else ""


def _where(finding: Finding) -> str:
    """The place in words, for a headline: `: host a, device 5`; empty where nothing is known."""
    place: Mapping[str, object] = finding.place.known()
    parts = [f"{name} {place[name]}" for name in ("host", "device", "core") if name in place]
    if "host" not in place and finding.hosts:
        parts.insert(0, f"host {finding.hosts[0]}" if len(finding.hosts) == 1 else f"{len(finding.hosts)} hosts")
    elif "host" not in place and "instance_id" in place:
        parts.insert(0, f"instance {place['instance_id']}")
    if finding.place.ranks:
        parts.append(_ranks_in_brief(finding.place.ranks))
    if not parts:
        parts = [f"{name} {place[name]}" for name in ("group", "container", "pid") if name in place][:1]
    return f": {', '.join(parts)}" if parts else ""


def _ranks_in_brief(ranks: Sequence[int]) -> str:
    """`rank 5`, `ranks 24-31`; of ranks in many places their number."""
    text = ranks_text(ranks)
    if text.count(",") >= _RUNS:
        return f"{len(ranks)} ranks"
    return f"{'ranks' if len(ranks) > 1 else 'rank'} {text}"
