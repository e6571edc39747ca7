"""The prefixes and headers that log lines begin with: one row for each form, by the character it begins with.

The named groups of a row say what was learned: `rank`, `local_rank`, `pid`, `host`, `container`, `core`, `level`,
`component`, `function`, `partial`, and the groups of its time stamp (see `timestamps`). A row matches exactly the
prefix with its separator, so that what follows is the message untouched. All repetitions are bounded or begin at a
fixed place: matching a row takes time linear in the prefix.

Sources: AWS Neuron SDK 2.32 runtime and troubleshooting guides (libnrt, libnccom, nrtd), torch.distributed.elastic
(log prefixes), torch c10 logging, absl/glog, TensorFlow, vLLM and NeMo logging, Open MPI `--tag-output`,
`srun --label`, pdsh and clush, Ray, the CRI log format (kubelet), `kubectl logs --prefix --timestamps`, stern 1.2x, docker
compose v2, logcli 2 and 3, logfmt (go-kit, zap, structlog), dmesg(1), rsyslog, journalctl(1), CloudWatch Logs Insights.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType

from msgspec import Struct

from neuron_doctor.collectors import timestamps
from neuron_doctor.collectors.no_host_words import NO_HOST_OF_LINES
from neuron_doctor.collectors.timestamps import CTIME, ISO, ISO_ZONED, RUNTIME, SYSLOG, StampReader
from neuron_doctor.engine.pod_names import SUFFIX
from neuron_doctor.engine.regexes import regex

#: Words for levels, as they are printed (0 to 7: priorities of syslog(3)), and what a record calls them.
LEVELS: Mapping[str, str] = MappingProxyType(
    {
        "ERROR": "ERROR",
        "WARNING": "WARN",
        "WARN": "WARN",
        "INFO": "INFO",
        "NOTICE": "INFO",
        "DEBUG": "DEBUG",
        "TRACE": "TRACE",
        "CRITICAL": "FATAL",
        "FATAL": "FATAL",
        "E": "ERROR",
        "W": "WARN",
        "I": "INFO",
        "D": "DEBUG",
        "F": "FATAL",
        "emerg": "ERROR",
        "alert": "ERROR",
        "crit": "ERROR",
        "err": "ERROR",
        "error": "ERROR",
        "warn": "WARN",
        "notice": "INFO",
        "info": "INFO",
        "debug": "DEBUG",
        "trace": "TRACE",
        "0": "ERROR",
        "1": "ERROR",
        "2": "ERROR",
        "3": "ERROR",
        "4": "WARN",
        "5": "INFO",
        "6": "INFO",
        "7": "DEBUG",
    }
)

_LEVEL = r"(?P<level>ERROR|WARNING|WARN|INFO|NOTICE|DEBUG|TRACE|CRITICAL|FATAL)"
_LETTER = r"(?P<level>[IWEDF])"
_WHERE = r"[^\s\]]{1,300}:\d{1,6}"  # file:line
_PID_TID = r"(?P<pid>\d{1,10}):\d{1,10}"
_PID = r"(?P<pid>\d{1,10})"
_NAME = r"(?P<host>[\w.:-]{0,254}[\w.-])"
#: A masked host (`**`) is no name, nor is the level that a program writes there: `%(levelname)s %(name)s[%(process)d]: `.
_HOST = rf"(?:{_LEVEL}(?= )|{_NAME}(?= )|\S{{1,255}})"
#: What stands where a system's logger writes the host, and is the level or the name of a part of a program: `main`, `error`.
_OF_PROGRAM = rf"(?i:{'|'.join(sorted(NO_HOST_OF_LINES | {level.lower() for level in LEVELS if len(level) > 1}))})"
_SPEAKER = rf"(?:{_LEVEL}(?= )|(?!{_OF_PROGRAM} ){_NAME}(?= )|\S{{1,255}})"
#: Where a program's own logger may have written it, a mere word is none either: `%(asctime)s %(name)s worker[%(process)d]: `; and
#: nothing is behind the time as Python writes it (`10:00:00,123`).
_NUMBERED_SPEAKER = (
    rf"(?:{_LEVEL}(?= )|(?<!,\d{{3}} )(?!{_OF_PROGRAM}[-_.]?\d{{0,9}} )(?=[^\s.]{{0,254}}\d){_NAME}(?= )|\S{{1,255}})"
)
#: What has a number in brackets behind it that is no process.
_IDENT = r"(?!(?:(?:local|global|node)[_-]?)?(?:rank|step|epoch|iter|stage|layer|device|core)[\[:])[^\s\[\]:]{1,80}"
#: `systemd[1]` speaks of others.
_NUMBERED = rf"(?:systemd\[1\]|{_IDENT}\[{_PID}\])"
_PROGRAM = rf"(?:systemd\[1\]|{_IDENT}(?:\[{_PID}\])?)"
_LOGGER = r"(?P<component>[A-Za-z_][\w.]{0,200})"
_SECONDS = r"(?P<seconds>\d{1,9})\.(?P<fraction>\d{1,9})"
_BOOT = r"\[ {0,11}(?P<seconds>\d{1,9})\.(?P<fraction>\d{6})(?: {0,8}<[ \d.]{1,20}>)?\]"
_CALLER = r"(?:\[ {0,8}[TC]\d{1,10}\])?"  # CONFIG_PRINTK_CALLER
_RAY_ADDRESS = r"(?:, ip=(?P<host>[0-9a-fA-F.:]{2,45}))?"

_FUNCTION = r"(?P<function>[A-Za-z_]\w{0,120}(?:::\w{1,120}){0,16})"

#: COMP:func at the start of a message: of the runtime (2.x and, in brackets, 1.x), or of the kernel module.
COMPONENT = regex(
    r"\[?(?P<component>NRT|TDRV|NMGR|KMGR|HAL|hal|ENCD?|NLOG|RUST|NDL|CCOM|NRTD|neuron):" + _FUNCTION, re.ASCII
)

#: The same after a header of the runtime, which proves the component.
ANY_COMPONENT = regex(r"(?P<component>[A-Za-z]{2,12}):" + _FUNCTION, re.ASCII)

#: Where another producer's header begins in the middle of a line (torn lines, headers after progress dots).
BOUNDARY = regex(
    r"\d(?:"  # one digit in front of all alternatives: the search skips to the next digit
    r"\d{3}-(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)-\d\d \d\d:\d\d:\d\d\."
    r"(?:\d{6}|\d{4})(?= {0,8}(?:\d{1,10}:\d{1,10} |\d{4}-[A-Z]|$))"
    r"|\d{0,9}:\d{1,10} {1,8}(?:ERROR|WARN|INFO|DEBUG|TRACE) {1,8}[A-Z]{2,8}:[A-Za-z_]"
    r"|\d{3}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: {1,8}\d{1,10} {1,8}(?:\[[A-Z]{4,8}\]:|[A-Z]{4,8} {1,8}\|\|)"
    r")",
    re.ASCII,
)


class When(Enum):
    """Where in the stack of prefixes a row may stand."""

    ANYWHERE = auto()
    BEFORE_HEADERS = auto()  # a weak label that only a launcher writes: outside of the program's own headers
    AFTER_STAMP = auto()


class Form(Struct, frozen=True):
    """One prefix or header.

    `own` marks the program's own header, after which no launcher's label can stand; `ends` the innermost header;
    `queued` stamps of which a torn line may show several before the headers that they belong to.
    """

    regex: re.Pattern[str]
    stamp: StampReader | None = None
    when: When = When.ANYWHERE
    own: bool = True
    ends: bool = False
    kernel: bool = False
    queued: bool = False


def _label(expression: str, when: When = When.ANYWHERE) -> Form:
    return Form(regex(expression, re.ASCII), when=when, own=False)


def _transport(expression: str, stamp: StampReader) -> Form:
    return Form(regex(expression, re.ASCII), stamp, own=False)


def _header(
    expression: str, stamp: StampReader | None = None, when: When = When.ANYWHERE, *, ends: bool = False
) -> Form:
    return Form(regex(expression, re.ASCII), stamp, when, ends=ends)


def _kernel(expression: str, stamp: StampReader | None = None) -> Form:
    return Form(regex(expression, re.ASCII), stamp, own=False, kernel=True)


def _runtime(expression: str, *, ends: bool = True) -> Form:
    return Form(regex(expression, re.ASCII), timestamps.runtime, ends=ends, queued=True)


#: libnrt and libnccom: with a stamp or (its date stripped, or printed earlier on a torn line) without.
_RUNTIME_FORMS = (
    _runtime(rf"(?:{RUNTIME} {{0,8}})?{_PID_TID} {{1,8}}{_LEVEL} {{1,8}}"),
    _runtime(
        # `where` is a file or, in messages of the OFI plugin, a C++ signature; [core] is the local core
        rf"(?:{RUNTIME} {{0,8}})?{_PID_TID} {{1,8}}\[(?P<core>\d{{1,4}})\] (?P<function>[^\[\]]{{1,400}}?):\d{{1,6}} "
        r"(?=(?P<component>CCOM|NCCL) (?P<level>[A-Z]{4,7}) )"
    ),
    _runtime(rf"{RUNTIME} {{0,8}}(?:\.\.\. {{1,8}})?", ends=False),
)

#: What the logger of a system keeps: rsyslog, journalctl -o short-iso.
_LOGGED = (
    _kernel(rf"{ISO} {_HOST} kernel: ", timestamps.calendar),
    _transport(rf"(?=\d{{4}}-\d\d-\d\dT[\d:]{{8}}[^,]){ISO} {_SPEAKER} {_NUMBERED}: ", timestamps.calendar),
    _transport(rf"{ISO} {_NUMBERED_SPEAKER} {_NUMBERED}: ", timestamps.calendar),
)
_STAMPED = (
    _transport(rf"{ISO} (?:stdout|stderr) (?P<partial>[FP])(?:$| )", timestamps.calendar),  # CRI
    *_LOGGED,
    _kernel(  # dmesg --time-format iso
        r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)T(?P<clock>\d\d:\d\d:\d\d),(?P<fraction>\d{6})"
        r"(?P<zone>[+-]\d\d:\d\d) ",
        timestamps.calendar,
    ),
    _header(rf"{ISO}: {_LETTER} {_WHERE}\](?:$| )", timestamps.calendar, ends=True),  # TensorFlow, PJRT
    _header(  # the compiler wrapper and its cache (libneuronxla)
        rf"{ISO}: {{1,8}}{_PID} {{1,8}}\[?{_LEVEL}\]?:? {{1,8}}(?:\|\|(?P<component>\w{{1,80}})\|\|: ?)?",
        timestamps.compiler,
    ),
    _header(rf"{ISO}::{_LEVEL}:{{1,2}} ?", timestamps.calendar),
    _header(rf"{ISO} - (?:{_LOGGER} - )?{_LEVEL} - (?:{_WHERE} - )?", timestamps.calendar),
    _header(rf"{ISO} \| {_LEVEL} {{0,8}}\| (?:{_WHERE} - )?", timestamps.calendar),  # loguru
    _header(
        r"(?P<month>\d\d)/(?P<day>\d\d)/(?P<year>\d{4}) (?P<clock>\d\d:\d\d:\d\d)(?: (?P<half>[AP]M))?(?: -)? ",
        timestamps.american,
    ),
    _transport(rf"{ISO_ZONED}(?:$|[ \t])", timestamps.calendar),  # CloudWatch, kubectl --timestamps
    _header(rf"\d{{3}} \(\d{{1,9}}\.\d{{3}}\.\d{{3}}\) {ISO} ", timestamps.calendar),  # the event log of HTCondor
    _header(rf"{ISO}[:,]?(?:$| )", timestamps.calendar),
    # CloudWatch Logs Insights, exported as CSV: @timestamp,@logStream,@message
    _transport(rf'{ISO},(?P<container>[A-Za-z][\w./$\[\]-]{{0,511}}),"?', timestamps.calendar),
)

#: srun -l: the number of the task, which is its rank; padded to the width of the largest.
_SRUN = _label(r" {0,6}(?P<rank>\d{1,6}): ", When.BEFORE_HEADERS)

_LOGGED_SINCE_BOOT = (  # journalctl -o short-monotonic
    _kernel(rf"{_BOOT} (?P<host>[\w.-]{{1,255}}) kernel: ", timestamps.boot),
    _transport(rf"{_BOOT} (?P<host>[\w.-]{{1,255}}) {_NUMBERED}: ", timestamps.boot),
)
_BRACKETED = (
    _label(r"\[rank(?P<rank>\d{1,6})\](?:: ?| |(?=\[))"),  # torch, torchrun and loggers: the global rank
    _label(r"\[rank[ :=](?P<rank>\d{1,6})\](?:: ?| )"),  # formats of people's own
    _label(r"\[default(?P<local_rank>\d{1,4})\]: ?"),  # torchrun --tee: role and local rank
    # mpirun: job, world rank; horovodrun without MPI: the rank alone
    _label(r"\[(?:(?:[^\s\]@]{1,80}@)?\d{1,10},)?(?P<rank>\d{1,6})\]<std(?:out|err|diag)>: ?"),
    # the same as SageMaker's training toolkit has mpirun write it
    _label(r"\[\d{1,10},mpirank:(?P<rank>\d{1,6}),(?P<host>[A-Za-z][\w.-]{0,252})\]<std(?:out|err|diag)>: ?"),
    _label(  # Open MPI's handler of fatal signals and of errors (opal/util/stacktrace.c, ompi/errhandler): host and process
        rf"\[(?P<host>[A-Za-z\d][\w.-]{{0,252}}):{_PID}\] (?=\*\*\* (?:Process received signal|An error occurred in|End of error)"
        r"|Signal(?: code)?: |Failing at address: |\[ {0,2}\d{1,3}\] \S{1,300}\[0x)"
    ),
    _label(r"\[Rank (?P<rank_of_group>\d{1,6})\] "),  # torch's watchdog: its rank in the process group
    _label(r"\[pod/(?P<container>[\w.-]{1,253}/[\w.-]{1,253})\] "),
    *_LOGGED_SINCE_BOOT,
    _kernel(rf"{_BOOT}{_CALLER}(?:$| )", timestamps.boot),
    _kernel(r"\[(?: {1,10}\+\d{1,9}\.\d{6}|[A-Z][a-z]{2} ?\d{1,2} \d\d:\d\d)\](?:$| )"),  # dmesg -e: no usable time
    _kernel(rf"\[{CTIME}\](?:$| )", timestamps.calendar),  # dmesg -T
    _header(  # torch c10: the month without padding
        rf"\[{_LETTER}(?P<month>\d{{1,2}}?)(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d)\.(?P<fraction>\d{{1,9}})"
        rf" {_WHERE}\] ",
        timestamps.yearless,
    ),
    _header(rf"\[{ISO}: {_LETTER} {_WHERE}\] ", timestamps.calendar),  # neuronx_distributed
    _header(rf"\[NeMo {_LETTER} {ISO} {_WHERE}\] ", timestamps.calendar),
    _header(rf"\[{ISO}\](?:$|:? )", timestamps.calendar),
    _header(rf"\[{_LEVEL}\](?:$|:? )"),
)

_PARENTHESISED = (
    # Ray, vLLM: `Worker_TP1` is a rank within tensor parallelism, neither the global nor (on several hosts) the local
    # one, so the process id alone is taken.
    _label(rf"\((?:[^()=]{{1,100}} )?pid={_PID}{_RAY_ADDRESS}\)(?:$| )"),
    _label(rf"\((?:raylet|autoscaler){_RAY_ADDRESS}\)(?:$| )"),
)

_PRIORITISED = (_kernel(rf"<(?:(?P<level>[0-7])|\d{{2,3}})>\[ {{0,11}}{_SECONDS}\]{_CALLER}(?:$| )", timestamps.boot),)

_LOGGED_IN_A_YEAR = (
    _kernel(rf"{SYSLOG} {_HOST} kernel: ", timestamps.yearless),
    _transport(rf"{SYSLOG} {_SPEAKER} {_PROGRAM}: ", timestamps.yearless),
)
_DAYS = (
    *_LOGGED_IN_A_YEAR,
    _transport(rf"{SYSLOG} ", timestamps.yearless),
)

#: The zone as the system calls it, which says nothing for sure: `IST` is three of them.
_ZONE_NAME = r"(?:(?:[A-Z]{2,5}|[+-]\d{2}(?:\d{2})?) )?"

_WEEKDAYS = (  # journalctl -o short-full
    _kernel(rf"[A-Z][a-z]{{2}} {ISO} {_ZONE_NAME}{_HOST} kernel: ", timestamps.calendar),
    _transport(rf"[A-Z][a-z]{{2}} {ISO} {_ZONE_NAME}{_SPEAKER} {_PROGRAM}: ", timestamps.calendar),
)
#: mpirun --tag-output --timestamp-output: Thu May  7 10:15:31 2026[1,2]<stderr>:
_TAGGED = (
    _transport(rf"{CTIME}(?=\[[^\s\]]{{1,100}}\]<std(?:out|err|diag)>:)", timestamps.calendar),
    # bhist -l of LSF: Wed Apr 29 23:41:55: Done successfully. The CPU time used is 611022.0 seconds;
    _header(rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {SYSLOG}: ", timestamps.yearless),
)

_OF_LOGGERS = (*_LOGGED, *_LOGGED_SINCE_BOOT, *_LOGGED_IN_A_YEAR, *_WEEKDAYS)


def host_of_logger(line: str) -> str | None:
    """The host that the logger of a system names at the head of a line, whose own it is then."""
    found = (form.regex.match(line) for form in _OF_LOGGERS)
    return next((match["host"] for match in found if match), None)


_FACILITIES = (  # dmesg -x
    _kernel(
        rf"(?:kern|user|daemon|syslog) {{0,8}}:(?P<level>emerg|alert|crit|err|warn|notice|info|debug) {{0,8}}: "
        rf"(?:\[ {{0,11}}{_SECONDS}\](?:$| ))?",
        timestamps.boot,
    ),
)

_LIBFABRIC = (  # pid : unix time : : provider : subsystem : function() : line <level>
    _header(
        r"libfabric:(?P<pid>\d{1,10}):(?P<seconds>[12]\d{9}):[^:\s]{0,40}:(?P<component>[\w-]{1,40}):[\w-]{1,40}:"
        r"(?P<function>\w{1,120})\(\):\d{1,6}<(?P<level>[a-z]{4,6})> ",
        timestamps.unix,
        ends=True,
    ),
)

_NCCL = (  # host : pid : tid [core]
    _header(
        rf"(?P<host>[\w.-]{{1,255}}):{_PID}:\d{{1,10}} \[(?P<core>\d{{1,4}})\] "
        r"(?=(?P<component>NCCL|CCOM) (?P<level>[A-Z]{4,7}) )",
        ends=True,
    ),
)

_LEVELLED = (
    _header(rf"{_LEVEL} {{1,8}}(?=[A-Z]{{2,8}}:[A-Za-z_])", ends=True),  # libnrt, its date stripped
    _header(rf"{_LEVEL} {_PID} \[(?P<component>[\w.-]{{1,80}})\]:(?:$| )"),  # neuronx-cc
    _header(rf"{_LEVEL} \[(?P<component>neuron[\w.-]{{1,80}})\]:(?:$| )"),  # neuron-cc
    _header(  # vLLM
        rf"{_LEVEL} (?P<month>\d\d)-(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d) \[?{_WHERE}\] ", timestamps.yearless
    ),
    _header(rf"{_LEVEL}:(?P<component>[A-Za-z_][\w.]{{0,200}}):"),  # Python's default: level, logger
    _header(rf"{_LEVEL}:(?:$| )"),
    _header(rf"{_LEVEL}(?:$| {{1,8}})", when=When.AFTER_STAMP),
)

_LETTERED = (
    _header(  # absl before its log is set up: unix time
        rf"{_LETTER}0000 00:00:(?P<seconds>[12]\d{{9}})\.(?P<fraction>\d{{1,9}}) {{1,8}}\d{{1,10}} {_WHERE}\] ",
        timestamps.unix,
    ),
    _header(  # glog and torch: Python prints the process, C++ the thread
        rf"{_LETTER}(?P<month>\d\d)(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d)\.(?P<fraction>\d{{1,9}}) {{1,8}}"
        rf"(?:(?P<pid>\d{{1,10}}) (?=[^\s\]:]{{1,300}}\.py:)|\d{{1,10}} ){_WHERE}\] ",
        timestamps.yearless,
    ),
    _header(rf"{_LETTER} [\w./-]{{1,300}}:\d{{1,6}}\] ", ends=True),  # TensorFlow, its date stripped
)

#: What a line of a job or of the kernel begins with, behind the name of a host.
_BEGINNING = (
    r"(?=\[ {0,11}\d{1,9}\.\d{6}\]|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:|\[(?:rank|default|r)\d|\[pod/|\(\w{1,80} pid=\d"
    r"|\d{4}-(?:\d\d|[A-Z][a-z]{2})-\d\d[ T]|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d |\d{1,10}:\d{1,10} {1,8}(?:ERROR|WARN|INFO) "
    r"|[IWEF]\d{4} \d\d:|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL)(?::| {1,8}(?:\d{4}-)?\d\d-\d\d[ T]\d\d:)"
    r"|Traceback \(most|  File \"|    \S|[A-Za-z][\w.]{0,80}(?:Error|Exception): "
    # the table of failures of torchrun
    r"|  (?:time|host|rank|exitcode|traceback) {1,6}: |  error_file: |\[\d{1,4}\]:$|={60}$|-{60}$|Failures:$|Root Cause \(first "
    # a stack of py-spy
    r"|Process \d{1,9}: |Thread (?:0x)?[\da-fA-F]{1,16} \(|Python v\d\.\d"
    r"|(?:/dev/[\w/.-]{1,60}|tmpfs) {1,40}[\d.]{1,12}[KMGTPE]? {1,20}[\d.]{1,12}[KMGTPE]? "
    # a shell, or a small command, that did not find what it was asked for
    r"|(?:ba|z|da|k)?sh:(?: line)? ?\d{1,6}: |-bash: |(?:ls|cat|stat|head|tail|grep|modinfo|modprobe): \S)"
)
BEGINNING = regex(_BEGINNING)
#: Words that programs number as pdsh numbers hosts.
_NUMBERED_ELSE = rf"(?!(?:{'|'.join(sorted(NO_HOST_OF_LINES))})[-.]?\d{{1,6}}: )"

_PARALLEL_SHELLS = (  # pdsh, clush, dsh: the host before each line; a name without a number is a word like any other
    _label(
        rf"{_NUMBERED_ELSE}(?=[a-z.-]{{0,80}}\d)(?P<host>[a-z][a-z\d]{{0,30}}(?:[-.][a-z\d]{{1,40}}){{0,8}}): {_BEGINNING}",
        When.BEFORE_HEADERS,
    ),
)
_PARALLEL_SHELLS_BY_ADDRESS = (_label(rf"(?P<host>\d{{1,3}}(?:\.\d{{1,3}}){{3}}): {_BEGINNING}", When.BEFORE_HEADERS),)

#: Ansible: how a task ended on a host (the console; in the file of `log_path` behind a header), and on one line in the form of
#: `ansible -o`. What was delegated (`[web -> db]`) happened on another host, and `localhost` is anybody's.
_HOST_OF_INVENTORY = r"(?!localhost\b|127\.)(?P<host>[A-Za-z\d][\w.-]{0,252})"
_ANSIBLE = (
    _label(rf"(?:ok|changed|skipping): \[{_HOST_OF_INVENTORY}\](?:$| (?=(?:=> |\(item=)))"),
    _label(rf"(?:fatal|failed|unreachable): \[{_HOST_OF_INVENTORY}\]:? (?=(?:FAILED!|UNREACHABLE!|\(item=|=> ))"),
)
_ANSIBLE_AD_HOC = (
    _label(
        rf"{_HOST_OF_INVENTORY} \| (?=(?:CHANGED|SUCCESS|FAILED!?|UNREACHABLE!) (?:\| rc=-?\d{{1,3}} \| \(std|=> ))",
        When.BEFORE_HEADERS,
    ),
)
#: The header of that file, behind the time.
_ANSIBLE_HEADER = (_label(r"p=\d{1,10} u=\S{1,64} (?:n=\S{1,64} (?:[A-Z]{4,8} ?)?)?\| {0,8}", When.AFTER_STAMP),)

#: A number, or what Kubernetes adds, ends the names of pods of sets and jobs.
_POD = rf"[a-z][a-z\d.-]{{0,246}}-(?:\d{{1,5}}|{SUFFIX})"
_STERN = (  # stern: [namespace] pod container message
    _label(
        rf"(?:[a-z][a-z\d-]{{0,62}} )?(?P<container>{_POD} [a-z][a-z\d-]{{0,62}}) {_BEGINNING}",
        When.BEFORE_HEADERS,
    ),
)

#: What whoever started a program puts before its lines: alone it means nothing (`line_labels`), but behind it is the line.
_UNKNOWN_LABELS = (
    _label(
        rf"\[(?!(?:rank|default)\d)[A-Za-z][\w.-]{{0,62}}(?::\d{{1,10}})?\] {{1,2}}(?:\[\d{{1,6}}\] )?{_BEGINNING}",
        When.BEFORE_HEADERS,
    ),
    _label(rf"\[r?\d{{1,6}}\] {_BEGINNING}", When.BEFORE_HEADERS),
)

#: A program that says which of its ranks speaks; alone it may speak of another one.
_RANK_SPEAKS = _label(rf"[Rr]ank[ :=]?(?P<rank>\d{{1,6}}): {_BEGINNING}", When.BEFORE_HEADERS)

#: docker compose: the container, padded to the width of the longest name.
_COMPOSE = (_label(rf"(?P<container>[a-z][\w.-]{{0,120}}[-_]\d{{1,4}}) {{1,60}}\| {_BEGINNING}", When.BEFORE_HEADERS),)

#: `aws logs tail`, and `filter-log-events --output text`, behind the time: a stream of ParallelCluster, which is called after
#: the host and its instance; of SageMaker, after the job and the host; of ECS and Batch, after container and task.
_STREAMS = (
    _label(
        r"(?P<host>[a-z][A-Za-z\d-]{0,62})\.(?P<instance_id>i-(?:[\da-f]{17}|[\da-f]{8}))\.[a-z][a-z_-]{1,40}[ \t]",
        When.AFTER_STAMP,
    ),
    _label(r"[A-Za-z\d][\w-]{0,62}/(?P<host>algo-\d{1,4})-1[5-9]\d{8}(?:\d{3})?[ \t]", When.AFTER_STAMP),
    _label(r"(?P<container>[\w.-]{1,128}/[\w.-]{1,128}/[\da-f]{32})[ \t]", When.AFTER_STAMP),
)

#: Before what grep, zgrep and rg found: file and line, with `-` for `:` around a match; logrotate's `dateext` tells the day.
_DATED = (
    r"(?=\[ {0,11}\d{1,9}\.\d{6}\]|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
    r"|(?:\[\w,/.-]{1,120}\](?:<std(?:out|err)>)?:? ?)?\[?\d{4}-(?:\d\d|[A-Z][a-z]{2})-\d\d[ T]\d\d:\d\d|[IWEF]\d{4} \d\d:\d\d:)"
)
_GREPPED = (
    _label(
        r"(?=[^\s:/.]{0,255}[/.]|messages|syslog|dmesg|kern)(?P<file>[\w./~-][\w./~+@=,%-]{0,254}?"
        rf"(?:[-.](?P<rotated>20\d\d[01]\d[0-3]\d)(?:\.[a-z\d]{{2,4}})?)?)[:-](?:\d{{1,9}}[:-])?{_DATED}",
        When.BEFORE_HEADERS,
    ),
    _label(rf"\d{{1,9}}[:-]{_DATED}", When.BEFORE_HEADERS),
)

_DOTS = (_label(r"\.{1,2000}(?=\d{4}-)"),)  # progress of the compiler, before the next stamp

#: logfmt: the keys that loggers bind before the message. Another host than a short or internal name is one spoken to.
_LOGFMT = (
    _header(
        rf'(?:ts|time|timestamp)="?{ISO}"? (?:(?:level=(?P<level>\w{{1,10}})|rank=(?P<rank>\d{{1,6}})'
        rf"|local_rank=(?P<local_rank>\d{{1,5}})|pid={_PID}|(?:caller|component|logger|source)=\S{{1,200}}"
        r"|host(?:name)?=(?:localhost|(?P<host>[A-Za-z][A-Za-z\d-]{0,62}(?:(?:\.[\w-]{1,62}){0,6}\.(?:internal|local|lan))?))"
        r") ){0,8}",
        timestamps.calendar,
    ),
)

#: logcli, Loki's client: behind the time of each line the labels of its stream, with those of Kubernetes among them.
_LABELS = (
    _label(
        r'\{(?:(?:pod="(?P<container>[\w.-]{1,253})"|(?:node_name|node)="(?P<host>[\w.-]{1,253})"'
        r'|(?!pod=|node=|node_name=)[A-Za-z_]\w{0,120}="[^"\n]{0,500}")(?:, ?(?=[A-Za-z_])|(?=\}))){1,40}\}(?:$|[ \t]{1,80})'
    ),
)

_NRT = (_label(r"NRT: {1,8}(?=\d{1,10}:\d{1,10} )"),)

#: What is quoted in a mail or in Markdown, once or more. Python's debugger marks the line where it stands so, too.
_QUOTED = (_label(r">(?:$| (?![^\n]{1,300}\.py\(\d{1,7}\)))", When.BEFORE_HEADERS),)


def _by_first(*rows: tuple[str, tuple[Form, ...]]) -> Mapping[str, tuple[Form, ...]]:
    firsts = {first for letters, _ in rows for first in letters}
    return MappingProxyType(
        {first: sum((forms for letters, forms in rows if first in letters), ()) for first in firsts}
    )


_DIGITS = "0123456789"
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SMALL = "abcdefghijklmnopqrstuvwxyz"

#: The rows to try in user space, by the first character; in order, the narrow ones first.
FORMS = _by_first(
    (_DIGITS, (*_RUNTIME_FORMS, *_STAMPED, _SRUN)),
    (" ", (_SRUN,)),
    ("[", (*_BRACKETED, *_UNKNOWN_LABELS)),
    ("(", _PARENTHESISED),
    ("<", _PRIORITISED),
    ("{", _LABELS),
    (".", _DOTS),
    ("ADFJMNOS", _DAYS),
    ("FMSTW", (*_WEEKDAYS, *_TAGGED)),
    ("N", _NRT),
    (">", _QUOTED),
    ("CDEFINTW", _LEVELLED),
    ("DEFIW", _LETTERED),
    ("kuds", _FACILITIES),
    ("k", (_kernel(r"kernel: "),)),
    ("n", (_label(rf"(?:nrtd|neuron-rtd)\[{_PID}\]: "),)),
    ("l", _LIBFABRIC),
    ("t", _LOGFMT),
    (_DIGITS + _CAPITALS + _SMALL, _NCCL),
    ("cfosu", _ANSIBLE),
    ("p", _ANSIBLE_HEADER),
    ("rR", (_RANK_SPEAKS,)),
    (_DIGITS + _CAPITALS + _SMALL, _STREAMS),
    (_SMALL, (*_PARALLEL_SHELLS, *_STERN, *_COMPOSE)),
    (_DIGITS + _CAPITALS + _SMALL, _ANSIBLE_AD_HOC),
    (_DIGITS, _PARALLEL_SHELLS_BY_ADDRESS),
    (f"{_DIGITS}{_CAPITALS}{_SMALL}/.~_", _GREPPED),
)

#: The rows to try after something has shown that the line is the kernel's. Its own messages begin with `INFO:` or
#: `[Hardware Error]`; only the runtime's own lines, which the driver prints for it, have a header of their own.
KERNEL_FORMS = _by_first(
    (_DIGITS, (*_RUNTIME_FORMS, _header(rf"{ISO},? (?=NEURON_HW_ERR=)", timestamps.calendar))),
    ("[", tuple(form for form in _BRACKETED if form.kernel)),
    ("<", _PRIORITISED),
    ("EWIDT", (_LEVELLED[0],)),
)
