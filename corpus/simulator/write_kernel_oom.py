"""The kernel's report of an OOM kill, global or of a memory cgroup, line by line as Linux 5.15 and 6.x print it."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from neuron_doctor.corpus.simulator.history import History, KernelOom
from neuron_doctor.corpus.simulator.write_kernel_forms import Level, Message

_PAGE_KIB = 4
_HOST_KIB = {"trn1.32xlarge": 536870912, "trn1n.32xlarge": 536870912, "trn2.48xlarge": 2147483648}
_OTHERS = (
    "systemd-journal",
    "containerd",
    "kubelet",
    "chronyd",
    "sshd",
    "neuron-monitor",
    "amazon-ssm-agen",
    "rsyslogd",
)

_INVOKED = "{invoker} invoked oom-killer: gfp_mask={gfp}, order=0, oom_score_adj={adjust}"
_GFP_GLOBAL = "0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP)"
_GFP_CGROUP = "0xcc0(GFP_KERNEL)"
_STACK = (
    "Call Trace:",
    " <TASK>",
    " dump_stack_lvl+0x4a/0x63",
    " dump_stack+0x10/0x16",
    " dump_header+0x53/0x228",
    " oom_kill_process.cold+0xb/0x10",
    " out_of_memory+0x106/0x2e0",
)
_STACK_GLOBAL = (" __alloc_pages_slowpath.constprop.0+0x97a/0xa40", " __alloc_pages+0x30e/0x330", " </TASK>")
_STACK_CGROUP = (" mem_cgroup_out_of_memory+0x13a/0x150", " try_charge_memcg+0x6b0/0x770", " </TASK>")
_TASKS = "Tasks state (memory values in pages):"
_TASKS_HEAD = "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name"
_SUMMARY_GLOBAL = (
    "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset={cpuset},mems_allowed=0-1,global_oom,"
    "task_memcg={cgroup},task={process},pid={pid},uid=0"
)
_SUMMARY_CGROUP = (
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset={cpuset},mems_allowed=0-1,oom_memcg={cgroup},"
    "task_memcg={cgroup},task={process},pid={pid},uid=0"
)
_KILLED = (
    "{head}: Killed process {pid} ({process}) total-vm:{total}kB, anon-rss:{resident}kB, file-rss:{file}kB, "
    "shmem-rss:{shared}kB, UID:0 pgtables:{tables}kB oom_score_adj:{adjust}"
)
_REAPED = "oom_reaper: reaped process {pid} ({process}), now anon-rss:0kB, file-rss:{file}kB, shmem-rss:{shared}kB"


@dataclass(frozen=True, slots=True)
class _Kill:
    """What the lines of one kill share."""

    event: KernelOom
    pid: int
    process: str  # the kernel keeps 15 characters
    invoker: str
    adjust: int
    file_kib: int
    shared_kib: int


def killed_pid(event: KernelOom, history: History) -> int:
    """The pid that was killed: the rank's own, or that of a child where another program was killed (a compiler)."""
    if event.rank is None:
        return 2000 + int(event.time) % 2000
    pid = history.job.seats[event.rank].pid
    return pid if event.process.startswith(("python", "pt_main")) else pid + 4 * history.job.world + 17


def report(event: KernelOom, history: History, random: Random) -> Iterator[Message]:
    """The whole report; the two lines that name the victim state the fault."""
    process = event.process[:15]
    in_pod = event.cgroup is not None
    kill = _Kill(
        event=event,
        pid=killed_pid(event, history),
        process=process,
        invoker=random.choice((process, process, "python3", "containerd-shim", "kworker/u256:3"))[:15],
        adjust=random.choice((986, 997)) if in_pod else 0,
        file_kib=_PAGE_KIB * random.randrange(2000, 60000),
        shared_kib=_PAGE_KIB * random.randrange(0, 40000),
    )
    for index, (text, fault) in enumerate(_lines(kill, history, random)):
        level = Level.ERR if text.startswith(("Out of", "Memory cgroup out")) else Level.WARN
        yield Message(event.time - 0.02 + index * 0.000004, text, level, fault)
    reaped = _REAPED.format(pid=kill.pid, process=process, file=kill.file_kib, shared=kill.shared_kib)
    yield Message(event.time + random.uniform(0.1, 2.5), reaped, Level.INFO)


def _lines(kill: _Kill, history: History, random: Random) -> Iterator[tuple[str, int | None]]:
    in_pod, event = kill.event.cgroup is not None, kill.event
    gfp = _GFP_CGROUP if in_pod else _GFP_GLOBAL
    yield _INVOKED.format(invoker=kill.invoker, gfp=gfp, adjust=kill.adjust), None
    for text in (*_STACK, *(_STACK_CGROUP if in_pod else _STACK_GLOBAL)):
        yield text, None
    for text in _memory(event, history, random):
        yield text, None
    for text in _table(kill, history, random):
        yield text, None
    cpuset = event.cgroup.rpartition("/")[2] if event.cgroup is not None else "/"
    summary = _SUMMARY_CGROUP if in_pod else _SUMMARY_GLOBAL
    cgroup = event.cgroup if event.cgroup is not None else "/system.slice/slurmstepd.scope"
    yield summary.format(cpuset=cpuset, cgroup=cgroup, process=kill.process, pid=kill.pid), event.fault
    yield _killed(kill), event.fault


def _killed(kill: _Kill) -> str:
    resident = kill.event.resident_kib
    return _KILLED.format(
        head="Memory cgroup out of memory" if kill.event.cgroup is not None else "Out of memory",
        pid=kill.pid,
        process=kill.process,
        total=resident + 31_457_280,
        resident=resident,
        file=kill.file_kib,
        shared=kill.shared_kib,
        tables=resident // 500,
        adjust=kill.adjust,
    )


def _memory(event: KernelOom, history: History, random: Random) -> Iterator[str]:
    """What memory there was: the cgroup's usage and limit, or the node's zones."""
    if event.cgroup is not None:
        limit = -(-event.resident_kib // 1048576) * 1048576
        yield f"memory: usage {limit}kB, limit {limit}kB, failcnt {random.randrange(50, 90000)}"
        yield "swap: usage 0kB, limit 9007199254740988kB, failcnt 0"
        yield f"Memory cgroup stats for {event.cgroup}:"
        return
    host = history.job.hosts[event.host or 0]
    total = _HOST_KIB.get(host.instance_type, 402653184)
    yield "Mem-Info:"
    anonymous = (total - 3_000_000) // _PAGE_KIB
    yield f"active_anon:{anonymous // 900} inactive_anon:{anonymous} isolated_anon:0"
    yield f"Node 0 Normal free:{random.randrange(45000, 90000)}kB min:90096kB low:{total // 600}kB high:{total // 500}kB"
    yield "0 pages in swap cache"
    yield "Free swap  = 0kB"
    yield "Total swap = 0kB"


def _table(kill: _Kill, history: History, random: Random) -> Iterator[str]:
    """The tasks on the host (or in the cgroup), with the ranks among them."""
    yield _TASKS
    yield _TASKS_HEAD
    if kill.event.cgroup is None:
        for name in _OTHERS:
            yield _task(random.randrange(600, 1900), random.randrange(800, 9000), 0, name)
    host = kill.event.host
    ranks = history.job.ranks_on(host) if host is not None else ()
    ordinary = max(kill.event.resident_kib // (_PAGE_KIB * 2 * max(len(ranks), 1)), 20000)
    for rank in ranks:
        pid = history.job.seats[rank].pid
        if pid != kill.pid and history.lives[rank].start < kill.event.time:
            yield _task(pid, int(ordinary * random.uniform(0.8, 1.1)), kill.adjust, "python3")
    yield _task(kill.pid, kill.event.resident_kib // _PAGE_KIB, kill.adjust, kill.process)


def _task(pid: int, pages: int, adjust: int, name: str) -> str:
    tables = pages * 9
    return f"[{pid:7d}]     0 {pid:5d} {pages * 2:8d} {pages:8d} {tables:8d}        0         {adjust:5d} {name}"
