"""The kinds of fact there are, with their typed fields: the one schema that rules, collectors and docs read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from neuron_doctor.engine.fact_kind import TEXT, FactKind, FieldType, kind_of
from neuron_doctor.engine.kinds_of_machines import OF_MACHINES

__all__ = ["KINDS", "FactKind", "FieldType"]

_OF_JOBS = (
    kind_of(
        "hit", "a log pattern matched a record; the pattern's own captures are further fields", TEXT, "pattern:str"
    ),
    kind_of(
        "status",
        "an NRT status was reported; `api` is the libnrt call, where said",
        TEXT,
        "code:int symbol:str api:str",
    ),
    kind_of(
        "version",
        "a component's version (runtime, driver, collectives, firmware, compiler, kernel, torch ...)",
        TEXT + " modinfo packages uname neuron-ls neuron-monitor",
        "component:str version:str",
    ),
    kind_of(
        "identity",
        "two names of one thing, seen in one record (an alias of a host, a rank of a process); `word` is the name of a host if "
        "anything else knows one of that name; `listed`: it stands in a list of machines, which another list may contradict; "
        "`nickname`: only paths call the host so, and it calls itself by its `address`",
        TEXT + " neuron-monitor neuron-ls kubectl core-dump slurm uname hostname hosts-file sysfs ndet-trace hyperpod",
        "instance_id:str hostname:str address:str pod:str instance_type:str word:str listed:bool nickname:bool",
    ),
    kind_of(
        "mapping", "a line of the map that a launcher prints: a node, or one of the ranks that it puts there", TEXT
    ),
    kind_of("meeting", "the address and port at which a job says that its ranks meet", TEXT, "address:str"),
    kind_of(
        "meeting-clash",
        "a job waits at the address at which an older one meets, the `other`, which ran when it began",
        TEXT,
        "address:str other:str",
    ),
    kind_of("launch", "on how many nodes a launcher is told to start a job", TEXT, "nodes:int"),
    kind_of("node-width", "how many processes a launcher is told to start on each node", TEXT, "processes:int"),
    kind_of("node-rank", "the number that a launcher is told its node has", TEXT, "number:int"),
    kind_of("login", "a word to which somebody logged in: a host, if something is called after it", TEXT, "name:str"),
    kind_of("meeting-host", "the host at which launchers are told to meet", TEXT, "name:str"),
    kind_of("world", "how many ranks the job has, as one source says", TEXT + " env slurm", "size:int"),
    kind_of(
        "progress",
        "the job advanced: the last training step, iteration or token count that a source reports; `served`: it answered "
        "a request",
        TEXT,
        "what:str value:float served:bool",
    ),
    kind_of(
        "completion",
        "a program says that its work is done, or (`exited`) a launcher that all its processes have ended with 0; "
        "`workers` is how many it says there were; `run`: a service says so of a run, whose logs are other files; "
        "`wrapped`: the script around a launcher says it, as it says how it failed; `scheduled`: a scheduler says it of a job",
        TEXT,
        "exited:bool workers:int run:bool wrapped:bool scheduled:bool",
    ),
    kind_of("ci-log", "by this line a service that runs jobs (GitHub Actions) heads what a step does", TEXT, ""),
    kind_of(
        "dump-request",
        "a rank says that somebody asked it for a dump of its flight recorder, through the pipe",
        TEXT,
        "",
    ),
    kind_of(
        "work-done",
        "another process of the job, in the log that both share, said before that the work is done; steps stand above its word "
        "and none below it (see engine.work_done)",
        TEXT,
        "",
    ),
    kind_of(
        "test",
        "what runs tests says of one: it `begins`, has `passed` or `failed` (see engine.passed_tests); without a `name` the one "
        "that began last",
        TEXT,
        "phase:str name:str",
    ),
    kind_of(
        "another-try", "a script says that it starts its program anew, and counts (see engine.ended_well)", TEXT, ""
    ),
    kind_of(
        "service-start",
        "a server says that it starts, or that it loads the model `what` (see engine.services)",
        TEXT,
        "what:str",
    ),
    kind_of(
        "service-up",
        "a server, or the model `what` of one, has come up; `again`: a program says so of its runtime, at a later attempt",
        TEXT,
        "what:str again:bool",
    ),
    kind_of("restart", "a launcher says that it starts its workers anew, or has", TEXT, "launcher:str started:bool"),
    kind_of(
        "step-time",
        "how long the last `lines` reported steps of a rank took, from step `first` to `step`: in loading `data`, at its own "
        "`work`, in the `wait` for others, in `total` (medians, in seconds where the log has units; lines of one `form` have the "
        "same)",
        TEXT + " step-times",
        "form:str first:int step:int lines:int data:float work:float wait:float total:float",
    ),
    kind_of(
        "slow-rank",
        "a rank that works longer at each step than its peers and waits for nobody, while they wait as much longer: at what "
        "(`part`: own, which is all but the wait, data or work), how often as long, and the share of a step that they wait",
        TEXT + " step-times",
        "part:str times:float peers:int share:float step:int",
    ),
    kind_of(
        "env",
        "an environment variable was set; values outside the allow-list read `<masked>`. `until`: the offset up to which a "
        "terminal shows the command for which it was (-1: to its end)",
        TEXT + " env",
        "name:str value:str until:int",
    ),
    kind_of(
        "oom-kill",
        "the kernel killed a process for memory; `scope` is global or memcg; by its table of tasks, processes named `holder` "
        "held most; `foreign`: they are of another user than the victim, and held more than all of the victim's user",
        "kernel",
        "scope:str victim:str victim_pid:int victim_uid:int cgroup:str anon_rss_kb:int holder:str foreign:bool description:str",
    ),
    kind_of("tries-again", "what is said right below an exception: that it is tried again", TEXT, ""),
    kind_of(
        "replay",
        "a cache gives back the words in which a compilation failed once; those on further lines are `below` (see "
        "engine.replayed_words)",
        TEXT,
        "below:str",
    ),
    kind_of(
        "section",
        "a heading or a command above what was said: `form` is banner, session (`name` is the host of a shell), prompt (`name` "
        "is the host that it names, if it does), or shell (a script echoes the command); a banner's `name` may be anything",
        TEXT,
        "name:str command:str form:str",
    ),
    kind_of(
        "line-label",
        "what stands before nearly all lines of a log, a fact for each `name` in it: `form` is pair, bracket, colon, pipe, space "
        "or number; `numbers` says what its numbers are (rank, local_rank, or nothing), `sure` whether the name alone is one",
        TEXT,
        "form:str name:str numbers:str sure:bool",
    ),
    kind_of("memory-table", "the kernel begins to list the tasks among which it kills one for memory", TEXT, ""),
    kind_of(
        "memory-holder",
        "a row of the table of tasks that the kernel prints when it kills one for memory; small processes are left out",
        TEXT,
        "command:str uid:int held_kb:int",
    ),
    kind_of(
        "hw-err",
        "the runtime's NEURON_HW_ERR line in the kernel log; `raw` keeps what its keys do not say",
        TEXT,
        "name:str action:str serial:str raw:str",
    ),
    kind_of("attach", "a process opened the device (`npid_attach`)", "kernel", "slot:int"),
    kind_of(
        "host-down",
        "the kernel of a host started anew while processes, so many, had its devices open; `of_ranks`: ranks of the job",
        "kernel",
        "processes:int of_ranks:bool",
    ),
    kind_of("detach", "a process closed the device (`npid_detach`), usually by exiting", "kernel", "slot:int"),
    kind_of(
        "reset",
        "a step in the life of a device reset: started, completed, failed",
        "kernel",
        "request:int phase:str",
    ),
    kind_of(
        "pci-device",
        "a device node and its PCI address; `gone` when it does not answer on the bus any more (lspci: rev ff)",
        "kernel lspci neuron-ls",
        "bdf:str kind:str gone:bool",
    ),
    kind_of(
        "launcher-failure",
        "a launcher reported the end of a worker; `signal` is 0 where it exited by itself; `first` marks its own root-cause row, "
        "or that it came first; `told`: it was killed since it had been told to end and did not; `later`: its launcher saw "
        "another one end of itself before it; `logged`: what that rank said was collected too; `day`: the date of the end "
        "(2026-05-26), where the record states it and its line has no time",
        "log slurm kubectl docker",
        "launcher:str exitcode:int signal:int first:bool told:bool later:bool logged:bool message:str day:str",
    ),
    kind_of(
        "ndet-event",
        "an event of an NDET trace; times in microseconds of the trace; `complete` is false for an event that never ended",
        "ndet-trace ndet-console",
        "event:str complete:bool start_us:float end_us:float exec_id:int gid:int ret:int neff:str peer:int",
    ),
    kind_of(
        "cut-traceback",
        "a log ends in the middle of a Python traceback, before the line that names the exception; the last frame that it shows",
        TEXT,
        "file:str line:int function:str",
    ),
    kind_of(
        "hang-report",
        "a process says that it waits in vain, or that it lost a peer; `what` is collectives, barrier, compute, watchdog "
        "(it gave up waiting; `own`: so its watchdog says of its own operation, or false of another's), retry (it goes on "
        "waiting), store, store-gone, "
        "bootstrap or lost; `peer`: an address; `closed`: that peer closed the connection, as a process that ends does; "
        "`waited_s`: how long it has waited",
        TEXT,
        "what:str own:bool peer:str operation:str waited_s:int closed:bool",
    ),
    kind_of(
        "lost-host",
        "so many processes of other hosts lost connections to this one, which was heard and tells of no loss itself",
        TEXT,
        "peers:int",
    ),
    kind_of(
        "unanswered",
        "a process got no answer over EFA: by its `own` address there and that of its `peer`, or the id of the peer's instance",
        TEXT,
        "own:str peer:str peer_id:str",
    ),
    kind_of(
        "unanswered-host",
        "the one host that so many others asked in vain over EFA, and that asked them in vain",
        TEXT,
        "others:int",
    ),
    kind_of(
        "silent-rank",
        "the one rank that says nothing, in its log, while all `others` whose logs are here say that they wait or lost a peer",
        TEXT,
        "others:int",
    ),
    kind_of(
        "short-buffer",
        "gloo ended a process that was `sent` more bytes than it `expected`: at its rank, where that one is at fault",
        TEXT,
        "sent:int expected:int",
    ),
    kind_of(
        "stack",
        "where the main thread of a process stands, by its stack: in a collective, compiler, data loader, storage, store, lock, "
        "or somewhere (a stack that tells more is a fact for each)",
        TEXT,
        "stands:str",
    ),
    kind_of(
        "stacks",
        "no main thread of the processes whose stacks are here, so many (`known`), stands in a collective or a compiler, and "
        "nearly all, so many, `outside`: most of them in a data loader, storage, store or lock (`stands`). `whole`: these are "
        "all processes of the job, and each of them stands there",
        TEXT,
        "known:int outside:int stands:str whole:bool description:str",
    ),
    kind_of("refusal", "a service turned a request away because there were too many of them", TEXT, "service:str"),
    kind_of(
        "refusals",
        "so many `times` a service turned requests away, of so many `ranks` and on so many `hosts`, as far as these are known",
        TEXT,
        "service:str times:int ranks:int hosts:int description:str",
    ),
    kind_of(
        "blocked-task",
        "the kernel reports that a process of a trainer has slept in a file system for more than `waited_s` seconds",
        TEXT,
        "process:str waited_s:int",
    ),
    kind_of("save-begun", "a program begins to save a checkpoint, a model or a state", TEXT),
    kind_of(
        "sleeping-trainers",
        "so many `tasks` of trainers slept in a file system for so many `seconds`, by the kernel's reports, and no step of the "
        "job is told of after that",
        TEXT,
        "tasks:int seconds:int description:str",
    ),
    kind_of(
        "no-step",
        "a program says that it has made no step for `waited_s` seconds, or `waited_min` minutes",
        TEXT,
        "waited_s:int waited_min:int",
    ),
    kind_of(
        "stack-timer",
        "the stacks of a process were printed because a timer that it had set ran out, which is set anew as long as it gets on",
        TEXT,
        "hours:int minutes:int seconds:int",
    ),
    kind_of(
        "standstill",
        "for so many `seconds` the job has made no step: by its own `words`, by a `log` that goes on without one, by a `timer` "
        "after which no log goes on, or by a `monitor`: all cores have been idle, and were not before, while the processes "
        "lived on",
        TEXT + " neuron-monitor",
        "seconds:int told_by:str description:str",
    ),
    kind_of(
        "memory-request",
        "an allocation of device memory that failed: its `size` as printed, and for which `usage` it was",
        TEXT,
        "size:str usage:str",
    ),
    kind_of(
        "memory-use",
        "what the runtime says that a device, or one of its cores, holds when an allocation failed: the `size` of one "
        "`category` as printed, or the `row` of its table",
        TEXT,
        "category:str size:str row:str",
    ),
    kind_of(
        "memory-account",
        "what filled the device memory into which a `memory-request` did not fit, by the runtime's own account: `largest` is "
        "the category that holds most, with `percent` of all that is in use",
        TEXT,
        "largest:str percent:int description:str",
    ),
    kind_of(
        "stand",
        "how far one rank came in one process group, as a text says; -1 or absent: unknown. `witness` is who says so "
        "(watchdog, desync, barrier, runtime, api) and whose numbers they are; `pg` is the group's name as printed, `pg_id` "
        "the rank's own number of it (absent where the text has one number only), `group_rank` its rank in the group; "
        "`sequence` is the operation that it stands before or in. It `waits` there or gave it up; else it was only "
        "informed, or `named` by a peer as one who did not come",
        TEXT,
        "witness:str pg:str pg_id:int pg_desc:str group_rank:int sequence:int total:int operation:str "
        "numel_in:int numel_out:int last_enqueued:int last_started:int last_completed:int waits:bool "
        "named:bool",
    ),
    kind_of(
        "graph", "a graph that a process took from the compile cache, or compiled: its `module`", TEXT, "module:str"
    ),
    kind_of(
        "odd-graph",
        "every rank waits for the others to load the same graph, and those of one place took another `module` than the "
        "`usual` one",
        TEXT,
        "module:str usual:str description:str",
    ),
    kind_of(
        "fingerprint",
        "two ranks, by their numbers in a process group, that are about to run different collectives: what `one`, which "
        "speaks, and the `other` run",
        TEXT,
        "one:int one_sequence:int one_operation:str one_shape:str one_type:str "
        "other:int other_sequence:int other_operation:str other_shape:str other_type:str",
    ),
    kind_of(
        "barrier",
        "a rank `came` to a barrier of `size` ranks that has a name of its own, `waits` there, `gave-up`, or `passed` it; "
        "none passes before all have `joined`",
        TEXT,
        "name:str phase:str size:int joined:int",
    ),
    kind_of(
        "connection",
        "a connection to the store of torch.distributed: its server `listens` at `port`, a client `tries` to reach it, "
        "`connected` from its own address `client` and `client_port`, and the server `accepted` one that came from there",
        TEXT,
        "phase:str port:int client:str client_port:int",
    ),
    kind_of(
        "disagreement",
        "two kinds of witness convict different ranks; there is one such fact for each kind, at the ranks that it convicts",
        TEXT + " flight-recorder ndet-trace ndet-console neuron-monitor",
        "witness:str description:str",
    ),
    kind_of(
        "first-error",
        "the rank of a trace that shows this error in an earlier execution than all others that show it, so many (see "
        "engine.first_errors)",
        "ndet-trace",
        "event:str exec_id:int later:int",
    ),
    kind_of("ndet-clean", "neuron-det found no error", "ndet-console"),
    kind_of("ndet-raw", "a raw NDET log, readable only through neuron-det", "ndet-raw", "trace_pid:int started:str"),
    kind_of(
        "fr-rank",
        "a flight-recorder dump: its rank's groups, status and in-flight operations (see engine.recorder)",
        "flight-recorder",
        "version:str dialect:str entries:int whole:bool issued:int first_ns:int last_ns:int backend:str fresh:int peers:str "
        "groups:list",
    ),
    kind_of(
        "collective",
        "what matching the collectives of all ranks says of one group or of the wait-for graph: `verdict` is a class "
        "(rank-missing, rank-died, rank-ended, op-mismatch, size-mismatch, dtype-mismatch, order-mismatch, partial-completion, "
        "transport-stall, device-stuck, outside, p2p-missing, p2p-mismatch, p2p-order, straggler, undecided, unproven, moving, "
        "healthy, stale-dump); `witness` is who convicts (recorder, watchdog, desync, fingerprint, runtime, api, ndet, silence); "
        "`suspects` may have come or not, and wait in what they issued before; `scattered`: the job moved between its dumps",
        "flight-recorder log ndet-trace",
        "verdict:str operation:str ordinal:int description:str culprits:list waiting:list missing_dumps:list "
        "members:list suspects:list scattered:bool culprit_frame:str waiting_frame:str difference:str witness:str",
    ),
)

KINDS: Mapping[str, FactKind] = MappingProxyType({kind.name: kind for kind in (*_OF_JOBS, *OF_MACHINES)})
