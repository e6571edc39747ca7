"""Diagnoses to render (fixture `samples`): a large incident, silence, victims, two roots, nothing, hostile text."""

from __future__ import annotations

from msgspec.structs import replace

from neuron_doctor.engine.errors import Location
from neuron_doctor.engine.facts import Clock, Fact, Instant, Place, Problem, Source, Span, span_of
from neuron_doctor.engine.grades import ActionKind, EdgeType, Role, Severity, Status
from neuron_doctor.engine.hidden import hushed
from neuron_doctor.engine.parameters import Parameter
from neuron_doctor.engine.rulebook import Pack
from neuron_doctor.engine.site import Silence, Site
from neuron_doctor.engine.verdict import (
    Action,
    Alternative,
    ClockOffset,
    Counterfactual,
    Diagnosis,
    Edge,
    Finding,
    NotEvaluable,
    Proof,
    Verdict,
)

T0 = 1_795_144_364_123_000_000  # 2026-11-20 03:12:44.123 UTC
HOSTS = tuple(f"node-{n:02d}" for n in range(1, 65))

HOSTILE = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 bell\x07 \x00 null \u202e right to left \u200b"
    " ``` ```` <script>alert(1)</script> <img src=x onerror=a> @everyone #123 https://evil.example/x www.evil.example"
    " [click](javascript:x) | cell | \x9b31m **bold** _it_ \r overwritten \u2028 next"
)


def utc(seconds: float) -> Instant:
    return Instant(T0 + int(seconds * 1e9), Clock.UTC)


def boot(seconds: float) -> Instant:
    return Instant(int(seconds * 1e9), Clock.BOOT)


def span(path: str, line: int, text: str, column: int = 1) -> Span:
    return span_of(path, text.encode("utf-8", "replace"), line * 120, line, column)


def finding(rule: str, cause: str, role: Role, **changes: object) -> Finding:
    fields: dict[str, object] = {
        "id": f"{rule}-0123456789",
        "rule": rule,
        "cause": cause,
        "title": f"Title of {rule}",
        "severity": Severity.ERROR,
        "role": role,
        "confidence": 0.9,
        "count": 1,
        "place": Place(),
        "hosts": (),
        "first": None,
        "last": None,
        "evidence": (),
        "proof": Proof("all", True),
    }
    return Finding(**{**fields, **changes})  # type: ignore[arg-type]


def diagnosis(status: Status, headline: str, findings: tuple[Finding, ...] = (), **changes: object) -> Diagnosis:
    fields: dict[str, object] = {
        "verdict": Verdict(status, headline, complete=True),
        "sources": (),
        "root_causes": tuple(f.id for f in findings if f.role is Role.ROOT),
        "findings": findings,
        "edges": (),
        "not_evaluable": (),
        "unexplained": (),
        "rulebook_sha256": "c0ffee" * 10 + "beef",
        "rulebook_rules": 204,
    }
    return Diagnosis(**{**fields, **changes})  # type: ignore[arg-type]


def log_source(host: str, rank: int, **changes: object) -> Source:
    fields: dict[str, object] = {
        "id": f"log-{rank}",
        "path": f"{host}/rank{rank}.log",
        "kind": "log",
        "size": 1_204_211,
        "records": 8_120,
        "place": Place(host=host),
        "first": utc(-600),
        "last": utc(90),
        "ranks": (rank,),
    }
    return Source(**{**fields, **changes})  # type: ignore[arg-type]


def lacking(need: str, rules: int) -> tuple[NotEvaluable, ...]:
    return tuple(NotEvaluable(f"{need}-rule-{n}", (need,)) for n in range(rules))


def hbm_incident(ranks: int = 64) -> Diagnosis:
    """One HBM error of one device; all other ranks wait for its ranks in a collective, folded over the hosts."""
    sick, hosts = ranks // 2, HOSTS[: max(ranks // 32, 1)]
    host = hosts[sick // 32]
    runtime_line = (
        "2026-Nov-20 03:12:44.123456  4101:4388  ERROR  TDRV:exec_process_hw_errors                 "
        "(FATAL-RT-UNDEFINED-STATE) [ND 5] Uncorrectable HBM memory error is detected. Execution results may be "
        "invalid. Please terminate this instance to prevent future impact from the hardware error."
    )
    kernel_line = (
        f"[81234.501233] NEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR instance-id=i-0592464924bd45322 hostname={host} "
        "nd-id=5 nc-id=2 serial-num=19fcda00f5ff6eb9 action=TERMINATE_INSTANCE"
    )
    on_device = Place(host=host, instance_id="i-0592464924bd45322", device=5, core=2, ranks=(sick, sick + 1))
    root_fact = Fact(
        "hw-err",
        {"name": "HBM_UNCORRECTABLE_ERROR", "action": "TERMINATE_INSTANCE"},
        on_device,
        span(f"{host}/dmesg.txt", 8812, kernel_line),
        "k1",
        boot(81234.501),
    )
    root = finding(
        "hw-hbm-ue",
        "hw-hbm-ue",
        Role.ROOT,
        title="Uncorrectable HBM error that is not repairable",
        severity=Severity.CRITICAL,
        confidence=0.97,
        count=5,
        place=on_device,
        hosts=(host,),
        first=utc(0),
        last=utc(83.4),
        evidence=(
            span(f"{host}/rank{sick}.log", 4402, runtime_line, 60),
            span(
                f"{host}/rank{sick}.log",
                4403,
                "2026-Nov-20 03:12:44.131  4101:4388  ERROR  NMGR:dlr_exec_wait  Execution completed with err: 1201. "
                "mode->h_nn=1008, lnc=2",
            ),
            span(f"{host}/dmesg.txt", 8812, kernel_line, 16),
            *(span(f"{host}/rank{sick + 1}.log", 4000 + n, runtime_line) for n in range(2)),
        ),
        explanation=(
            "The memory of the device returned data that its error correction could not repair. Results that were "
            "computed since then are not to be trusted."
        ),
        explains=("collective-hang-0123456789", "exec-unit-dead-0123456789"),
        proof=Proof("any", True, (root_fact,), (Proof("pattern", True, (root_fact,)), Proof("counter", None))),
        alternatives=(
            Alternative(
                "hw-hbm-ue-repairable",
                0.05,
                Place(host=host, device=5),
                "mem_ecc_repairable_uncorrected in sysfs rises instead of mem_ecc_uncorrected",
            ),
        ),
        actions=(
            Action(
                ActionKind.REPLACE_INSTANCE,
                f"{host} (i-0592464924bd45322)",
                "aws ec2 stop-instances --instance-ids i-0592464924bd45322\n"
                "aws ec2 start-instances --instance-ids i-0592464924bd45322",
                "the node is drained",
                "a reboot keeps the same hardware and is no remedy",
                "everything on its instance store",
            ),
            Action(
                ActionKind.RESTART_FROM_CHECKPOINT,
                "",
                "",
                "the checkpoint was written before 03:12:44",
                "",
                "the steps since that checkpoint",
            ),
        ),
    )
    waiting = tuple(rank for rank in range(ranks) if rank not in on_device.ranks)
    hang_line = (
        "2026-Nov-20 03:14:07.901  988:1201  ERROR  TDRV:exec_consume_topsp  (FATAL-RT-UNDEFINED-STATE) missing "
        "collectives status on model step.neff. Suspected hang in collectives operation 12 out of 310"
    )
    findings = (
        root,
        finding(
            "monitor-ecc",
            "hw-hbm-ue",
            Role.CONFIRMATION,
            title="Uncorrected ECC events of device 5 rose by 1",
            place=Place(host=host, device=5),
            first=utc(2),
            evidence=(span(f"{host}/neuron-monitor.jsonl", 311, '{"mem_ecc_uncorrected": 1}'),),
            explains=(),
            confidence=0.9,
        ),
        finding(
            "collective-hang",
            "collectives-hang",
            Role.CASCADE,
            title="Rank waits in a collective that does not complete",
            count=len(waiting),
            place=Place(ranks=waiting),
            hosts=hosts,
            first=utc(80),
            last=utc(90),
            evidence=tuple(span(f"{hosts[0]}/rank{n}.log", 5100, hang_line) for n in range(20)),
            explains=("torchrun-kill-0123456789",),
        ),
        finding(
            "exec-unit-dead",
            "exec-unit-unrecoverable",
            Role.CASCADE,
            title="Execution unit dead after the first error",
            count=6,
            place=Place(host=host, device=5, ranks=on_device.ranks),
            evidence=(span(f"{host}/rank{sick}.log", 4410, "ERROR NRT  nrt_execute status=101"),),
        ),
        finding(
            "torchrun-kill",
            "process-crash",
            Role.TEARDOWN,
            title="Launcher stopped the worker (SIGTERM)",
            count=len(waiting),
            place=Place(ranks=waiting),
            hosts=hosts,
            first=utc(95),
            evidence=(span(f"{hosts[0]}/torchrun.log", 77, "Sending process 988 closing signal SIGTERM"),),
        ),
        finding(
            "ofi-single-node",
            "benign-ofi-single-node",
            Role.BENIGN,
            title="OFI provider warning at start",
            severity=Severity.INFO,
            count=ranks,
            place=Place(ranks=tuple(range(ranks))),
            hosts=hosts,
            evidence=(span(f"{hosts[0]}/rank0.log", 12, "NET/OFI No eligible providers were found"),),
        ),
    )
    edges = (
        Edge(
            "collective-hang-0123456789",
            root.id,
            EdgeType.BLOCKED_ON,
            f"ranks {sick} and {sick + 1} never entered collective 12",
        ),
        Edge("exec-unit-dead-0123456789", root.id, EdgeType.CAUSED_BY, "same device, 7 ms later"),
        Edge("monitor-ecc-0123456789", root.id, EdgeType.CAUSED_BY, "same device"),
        Edge("torchrun-kill-0123456789", "collective-hang-0123456789", EdgeType.KILLED_BY, "launcher closed the group"),
    )
    sources = (
        *(log_source(hosts[rank // 32], rank) for rank in range(ranks)),
        Source(
            "k1",
            f"{host}/dmesg.txt",
            "kernel",
            912_000,
            11_000,
            Place(host=host),
            boot(1),
            boot(81300.25),
            (),
            (Problem("line of 1.2 MB was cut", 9001), Problem("not UTF-8", 17, 44)),
        ),
    )
    return diagnosis(
        Status.ROOT_CAUSE,
        f"uncorrectable HBM error on device 5 of {host} stopped all {ranks:,} ranks",
        findings,
        edges=edges,
        sources=sources,
        not_evaluable=(
            *lacking("flight-recorder", 14),
            *lacking("neuron-ls", 3),
            NotEvaluable("ecc-rise", ("sysfs", "neuron-monitor")),
        ),
        missing=(f"kernel log of {len(hosts) - 1} of {len(hosts)} hosts",) if len(hosts) > 1 else (),
        counterfactuals=(
            Counterfactual("kernel", (f"{host}/dmesg.txt",), False, Verdict(Status.ROOT_CAUSE, "the same", True)),
            Counterfactual(
                "log", ("a.log", "b.log"), True, Verdict(Status.VICTIMS_ONLY, "only consequences\x1b[31m", True)
            ),
        ),
        clocks=(
            ClockOffset(
                "node-01\x1b[31m", "boot", "node-01\x1b[31m host-local", -1763600000.25, 2.004, ("attach", "same line")
            ),
            ClockOffset("node-02", "utc", None, None, None, ("collectives",)),
        ),
    )


def healthy() -> Diagnosis:
    return diagnosis(
        Status.HEALTHY,
        "no failure found in what was collected",
        sources=tuple(log_source("node-01", n) for n in range(8)),
        not_evaluable=lacking("kernel", 23),
    )


def benign() -> Diagnosis:
    dereg = finding(
        "efa-dereg",
        "benign-efa-dereg",
        Role.BENIGN,
        title="EFA deregistered memory after the process had ended",
        severity=Severity.INFO,
        count=3,
        hosts=("node-01",),
    )
    return diagnosis(
        Status.BENIGN,
        "only harmless messages",
        (dereg,),
        sources=(log_source("node-01", 0),),
        not_evaluable=lacking("kernel", 23),
    )


def victims_only() -> Diagnosis:
    waits = finding(
        "peer-lost",
        "comm-peer-lost",
        Role.CASCADE,
        title="The peer closed the connection",
        count=8,
        place=Place(host="node-02", ranks=tuple(range(32, 40))),
        hosts=("node-02",),
        first=Instant(T0, Clock.HOST_LOCAL),
        evidence=(span("node-02/rank32.log", 90, "CCOM WARN Net : Connection closed by remote peer 10.0.3.7<41234>"),),
        actions=(
            Action(
                ActionKind.COLLECT_MORE,
                "logs and kernel log of 10.0.3.7",
                "ssh 10.0.3.7 sudo dmesg > 10.0.3.7/dmesg.txt",
            ),
        ),
    )
    return diagnosis(
        Status.VICTIMS_ONLY,
        "8 ranks lost their peer 10.0.3.7, of which nothing was collected",
        (waits,),
        sources=(log_source("node-02", 32),),
        unexplained=(waits.id,),
        not_evaluable=lacking("kernel", 23),
        missing=("logs of ranks 0-31",),
    )


def two_roots() -> Diagnosis:
    places = Place(host="node-01", device=3, ranks=(12,)), Place(host="node-02", rank=40, pid=4711)
    names = ("hw-sram-ue", "On-chip memory error"), ("host-oom", "Kernel killed the rank for memory")
    made = tuple(
        finding(
            cause,
            cause,
            Role.ROOT,
            title=title,
            place=place,
            hosts=(str(place.host),),
            first=boot(100.25),
            last=boot(99.0),
            explains=(f"effect-of-{cause}",),
        )
        for (cause, title), place in zip(names, places, strict=True)
    )
    effects = tuple(
        finding(
            "hang", "collectives-hang", Role.CASCADE, id=f"effect-of-{cause}", count=3, place=Place(ranks=(1, 2, 3))
        )
        for cause, _ in names
    )
    return diagnosis(
        Status.ROOT_CAUSE, "two independent faults", (*made, *effects), root_causes=(made[1].id, made[0].id)
    )


def unknown_failure() -> Diagnosis:
    traceback = (
        "Traceback (most recent call last):\n"
        + "".join(f'  File "/opt/train/step_{n}.py", line {n}, in run\n    step()\n' for n in range(30))
        + "RuntimeError: lost"
    )
    ended = finding(
        "worker-failed",
        "unknown-failure",
        Role.CONTEXT,
        title="A worker ended with exit code 1",
        place=Place(host="node-01", rank=3),
        first=Instant(28_000_000_000_000_000 + 61_000_000_000_000_000, Clock.YEARLESS),
        evidence=(span("node-01/rank3.log", 500, traceback),),
    )
    return diagnosis(
        Status.UNKNOWN_FAILURE,
        "rank 3 ended with exit code 1 and no rule explains it",
        (ended,),
        unexplained=(ended.id,),
        sources=(log_source("node-01", 3),),
    )


def not_evaluable() -> Diagnosis:
    source = Source("x", "photos/cat.jpg", "unknown", 88_120, problems=(Problem("not a kind of file that is known"),))
    needs = (*lacking("log", 180), *lacking("kernel", 24))
    return diagnosis(Status.NOT_EVALUABLE, "nothing could be read as evidence", sources=(source,), not_evaluable=needs)


def empty() -> Diagnosis:
    return diagnosis(Status.NOT_EVALUABLE, "", rulebook_sha256="", rulebook_rules=0)


def hostile(text: str = HOSTILE) -> Diagnosis:
    """`text` wherever a log, a path or a host name may reach a report."""
    place = Place(job=text, host=text, instance_id=text, container=text, group=text, rank=1)
    fact = Fact(
        "hit",
        {"pattern": "p", "what": text, "value": float("nan"), "list": (text, None)},
        place,
        span(text, 1, text),
        "s",
    )
    root = finding(
        "bad",
        "application-exception",
        Role.ROOT,
        id="bad-" + text,
        title=text,
        place=place,
        hosts=(text, "x"),
        explanation=text,
        evidence=(
            span(text, 3, text),
            span("a.log", 4, text + "\n" + text),
            span("b.log", 5, "y" * 10_000),
            Span("c.bin", 7, 4),
        ),
        proof=Proof(text, True, (fact,)),
        alternatives=(Alternative("host-oom", 0.2, place, text),),
        explains=("odd",),
        actions=(Action(ActionKind.KILL_PROCESS, text, text, text, text, text),),
        references=(text,),
    )
    odd = finding(
        "odd", "unknown-failure", Role.CASCADE, id="odd", title=text, place=place, evidence=(span(text, 9, text),)
    )
    source = Source("s", text, "log", -1, 0, place, problems=(Problem(text, 3, 2),))
    return diagnosis(
        Status.ROOT_CAUSE,
        text,
        (root, odd),
        sources=(source,),
        edges=(Edge("odd", root.id, EdgeType.CAUSED_BY, text),),
        not_evaluable=(NotEvaluable(text, (text,)),),
        unexplained=("odd",),
        missing=(text,),
        verdict=Verdict(Status.ROOT_CAUSE, text, complete=False),
    )


def of_site(diagnosis: Diagnosis, *causes: str, text: str = "the ticket OPS-12 is open") -> Diagnosis:
    """The same where the site hides these causes, has set a parameter, brings a pack, and has a silence that ended."""
    silence = Silence((), causes, (), (), "2027-01-31", text)
    ended = Silence(("efa-memlock-low",), (), ("login-*",), (5,), "2026-10-31", text)
    value = Parameter("longest", "duration", "1h", "90m", "the longest", Location("terms.yaml"), tuned=True)
    packs = (Pack("built-in", "", "c0ffee", 204), Pack("acme", "1.4.0", "beef", 3))
    site = Site(text, "5174", (value,), (silence,), (ended,))
    return replace(diagnosis, findings=tuple(hushed(diagnosis.findings, site)), site=site, packs=packs)


ALL = {
    "hbm": hbm_incident(),
    "hbm-2048": hbm_incident(2048),
    "healthy": healthy(),
    "benign": benign(),
    "victims-only": victims_only(),
    "two-roots": two_roots(),
    "unknown-failure": unknown_failure(),
    "not-evaluable": not_evaluable(),
    "empty": empty(),
    "hostile": hostile(),
    "hidden": of_site(hbm_incident(), "hw-hbm-ue"),
    "hidden-benign": of_site(benign(), "benign-efa-dereg"),
    "hidden-hostile": of_site(hostile(), "unknown-failure", text=HOSTILE),
}
