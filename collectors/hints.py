"""What the path of a file hints at: host, instance, container, rank, local rank, attempt, process, Slurm job.

A hint is taken from shapes that are written on purpose, never from any name with a number in it:

- **Host**: a directory (or an archive, `node3.tar.gz!dmesg.txt`) directly in `hosts/` or `nodes/`, whatever its name;
  else a directory or the stem of a file that, without words for evidence at its ends (`dmesg_`, `-logs`) and without
  its rank, is `ip-10-0-3-7`, a private IPv4 address, an instance id, or one of a few nouns with a number or one letter
  (`node3`, `host-a`, `trn1-07`, `queue1-dy-compute1-4`), each with or without a domain, or any name with a domain, of three
  labels at least (`lyra3.hpc.example.edu`). Of directories also `worker-3` and any name in `.internal`, `.local` or the like.
  The only address, instance id or name with its domain in a name, behind nothing but words for evidence, is one before
  anything else, too (`neuron-ls_ip-10-0-3-7_third_try_rank8.log`).
  So `logs`, `run1`, `node-logs`, `attempt_0`, `trn1` are none.
- **Rank**: `rank_12`, `rank12`, `trace_rank_5`, flight-recorder dumps `_dump_5`, `trace_5`; `local_rank_3` is the local
  rank, and a rank within anything else (`tp_rank_1`, `node_rank_0`) is none.
- **Attempt**: directories `attempt_0`, `restart_1`, `restart-attempt-1`; a number directly in one is the local rank (torchrun's
  `<run>/attempt_0/3/stderr.log`), as in `ranks/3/stderr.log`, of which each host may have one (`rank_directories`).
- **Host and instance**: the streams of ParallelCluster, `<host>.<instance id>.<log>`; the host alone: those of Container
  Insights, `<host>-host.dmesg`.
- **Container**: kubelet's `<namespace>_<pod>_<uid>/<container>/0.log` and
  `<pod>_<namespace>_<container>-<64 hex digits>.log`, `pods/<namespace>_<pod>/<container>/0.log`,
  and `pods/<pod>/<container>.log`; written `<pod>/<container>`.
- **Slurm**: `slurm-1234.out`, `slurm-1234_5.out`: the job; the second number is an array index or a task, so no rank.

The innermost part that says something wins. Hosts that only show when files lie beside each other (`trn-b01/ trn-b03/`)
are found afterwards, in `layout`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from msgspec.structs import replace

from neuron_doctor.collectors.no_host_words import (
    BEFORE_A_HOST,
    GROUPINGS,
    NO_HOST_OF_LINES,
    OF_ANOTHER_HOST,
    may_name_a_host,
    words_of,
)
from neuron_doctor.engine.facts import NOWHERE, Place
from neuron_doctor.engine.hostnames import EC2_NAME
from neuron_doctor.engine.regexes import regex

_LONGEST_PART = 255
_HOST_PARENTS = frozenset({"hosts", "nodes"})

_EXTENSION = regex(
    r"\.(?:log|txt|out|err|json|jsonl|ndjson|logfmt|pkl|pickle|csv|ya?ml|dmesg|tar|tgz|zip|gz|zst|xz|bz2)"
    r"(?:\.(?:\d{1,3}|log|txt|json|tar|gz|zst|xz|bz2)){0,3}$",
    re.IGNORECASE,
)
#: A date, or seconds since 1970 (of 2017 to 2033), as SageMaker's `algo-2-1727755200`.
_DATE = regex(r"[-_.T]\d{4}-?\d\d-?\d\d(?:[-_T.]?\d\d[-_:.]?\d\d(?:[-_:.]?\d\d)?)?Z?$|[-_.]1[5-9]\d{8}(?:\d{3})?$")

#: How sos calls its reports (`sosreport-{name}{label}{case}{date}-{rand}` in sos/policies, 3.0 to 4.8). Only a number of eight
#: digits with a zero before, or one that is called so, is known for that of a case; any other may be the end of the host.
_SOSREPORT = regex(
    r"sosreport-(?P<named>[\w.-]{1,253}?)(?:-(?:0\d{7}|(?:CASE|case)[-_]?\d{3,12}))?"
    r"-\d{4}-\d\d-\d\d-[a-z\d]{4,9}(?:-obfuscated)?"
)

_EVIDENCE = (
    r"(?:dmesg(?:-[a-zA-Z](?![a-zA-Z\d]))?|kern|kernel|syslog|messages|journal|journalctl|neuron|monitor|ls|top|nrt|runtime|ccom|nccl|train|training"
    r"|torch|torchrun|mpirun|srun|stderr|stdout|err|out|output|(?:docker|container|pod)?logs?|traces?|dumps?|report|sysfs|lspci|lsmod|modinfo|env|slurm|jobs?"
    r"|run|console|epilog(?:ue)?|prolog(?:ue)?|kubectl|describe|efa|rdma|stats?|metrics|ps|health|hw|info|debug|bundle|data|df|du|free|uptime|uname|ulimit|limits"
    r"|mount|meminfo|cpuinfo|vmstat|iostat|lsof|ethtool|chronyc|timedatectl|ss|netstat|dkms|dpkg|rpm|pip"
    r"|docker|podman|checks?|launch(?:er)?|startup|bootstrap|ssh|collect(?:ed)?|snapshot|triage|diag|preflight|postmortem"
    r"|sosreport|ssm|session|terminal|typescript|tmux|screen|scrollback|pasted?|transcript|before|after|pre|post|previous|tail|full|stacks?|py-?spy|backtraces?)"
)
_EVIDENCE_BEFORE = regex(rf"(?:{_EVIDENCE}[-_.@])+", re.IGNORECASE)
#: `neuron-dev-b`: a part of the name, unless it is that of a tool, or what follows tells itself.
_NEURON_ALONE = regex(
    r"neuron-(?!(?:ls|top|monitor|det|profile|cc|driver|rt|sysfs|logs?|dmesg)(?![a-z\d])|ip-\d|i-0|\d)", re.IGNORECASE
)
#: `node-ip-10-0-3-7.dmesg`: the word says what the address is of.
_NOUN_BEFORE = regex(r"(?:node|host|instance)[-_.](?=ip-\d|i-0)", re.IGNORECASE)
#: The number of a job, and of a task of an array, behind what that is called (`%x_%A_%a_%N.out` of sbatch).
_JOB_BEFORE = regex(r"(?:[a-z][\w.-]{0,60}?[-_.])?\d{2,12}[-_.](?:\d{1,6}[-_.])?(?=ip-\d)", re.IGNORECASE)
_EVIDENCE_AFTER = regex(rf"[-_.@]{_EVIDENCE}$", re.IGNORECASE)

_NOUN = r"(?:node|host|compute|server|machine|vm|instance|algo|head|master|cn)"
_NUMBER = r"(?:\d{1,5}|[-_](?:\d{1,5}|[a-z]))"  # node7, node-7, node-b
#: `nodeB`; but `algoB` and `headB` are of a comparison, `algo-b` too.
_LETTERED = r"(?:node|host|instance|machine|vm|compute)(?-i:[A-H](?![A-Za-z]))"
_INSTANCE_TYPE = r"(?:trn|inf)\d[a-z]{0,2}(?:-[a-z]{1,12}){0,2}-\d{1,5}"
_KINDS = rf"(?!algo[-_][a-z]){_NOUN}{_NUMBER}|{_LETTERED}|{_INSTANCE_TYPE}"
_NUMBERED = rf"(?:[a-z][a-z\d]{{0,30}}-){{0,3}}(?:{_KINDS})(?:-\d{{1,5}}){{0,4}}"
_LABELS = r"(?:\.[a-z\d-]{1,63}){0,6}"
_IP = (
    rf"{EC2_NAME}{_LABELS}"
    r"|10(?:\.\d{1,3}){3}|(?:192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3}){2}"
)
#: `lyra3.hpc.example.edu`, `trn09.ml.uni.de`: a name with a number, and three labels at least, none of figures alone (which are
#: of versions), of which the last is a domain's. That of a country needs one more, and no language before it
#: (`wmt14.train.en.de`); that of a network of one's own, of which words are made, no number before it (`llama3.8b.local`).
_TOP = r"(?:com|org|net|edu|gov|mil)"
_OWN_TOP = r"(?:corp|cloud|cluster|intra|intranet|private|home|internal|local|localdomain|lan|pcluster)"
_COUNTRY = (
    r"(?:(?:ac|co|edu|go)\.[a-z]{2}"
    r"|[a-z\d-]{3,63}\.(?:at|au|be|ca|ch|cn|cz|de|dk|es|eu|fi|fr|ie|il|it|jp|kr|nl|no|pl|se|sg|tw|uk))"
)
_LABEL = r"(?!\d+\.)[a-z\d][a-z\d-]{0,62}"
_OF_A_DOMAIN = (
    rf"(?!(?:{'|'.join(sorted(BEFORE_A_HOST))})-)(?!s3\.)(?=[a-z-]{{1,60}}\d)[a-z][a-z\d-]{{0,62}}"
    rf"(?:(?:\.{_LABEL}){{1,5}}\.(?:{_TOP}|{_COUNTRY})|(?:\.[a-z-]{{1,63}}){{1,5}}\.{_OWN_TOP})"
)
_EC2 = regex(rf"{EC2_NAME}{_LABELS}", re.IGNORECASE)
_ADDRESS = rf"{_IP}|(?:hyperpod-)?i-(?:0[\da-f]{{3,16}}|[\da-f]{{8}})"
#: An address that somebody's label follows.
_LABELLED = regex(rf"({_ADDRESS})-[a-z][\w.-]{{0,80}}", re.IGNORECASE)
_HOST = rf"{_ADDRESS}|{_NUMBERED}(?:{_LABELS}\.[a-z]{{2,20}})?|{_OF_A_DOMAIN}"
#: What names one machine and nothing else, whatever follows: `ip-10-0-3-7_nrt_746999_rank8.log`.
_ADDRESS_WITHIN = regex(
    rf"(?<![a-z\d.])(?:(?:{_ADDRESS})(?=_)|(?:{_IP})(?=-[a-z])|(?:{_OF_A_DOMAIN})(?=_(?!rank|local)|[-.][a-z]))",
    re.IGNORECASE,
)
#: The address in brackets behind what somebody calls the machine: `proxy+prefill (ip-10-0-3-7)`.
_IN_BRACKETS = regex(rf"(?P<before>[^()\[\]]{{1,120}})[(\[](?P<host>{_IP})[)\]]", re.IGNORECASE)
#: A host by its domain alone, one whatever its domain, and what a domain ends with that no word or language is.
_IN_A_DOMAIN, _BY_ITSELF = regex(_OF_A_DOMAIN, re.IGNORECASE), regex(rf"{_ADDRESS}|{_NUMBERED}{_LABELS}", re.IGNORECASE)
_TOP_OF_ONES_OWN, _SURE_DOMAIN = regex(_OWN_TOP, re.IGNORECASE), regex(rf"\.{_TOP}$", re.IGNORECASE)
_HOST_FILE = regex(_HOST, re.IGNORECASE)
_HOST_DIRECTORY = regex(
    rf"{_HOST}|worker{_NUMBER}|[a-z][a-z\d-]{{0,62}}{_LABELS}\.(?:internal|local|localdomain|lan|pcluster)",
    re.IGNORECASE,
)

#: What SageMaker calls the log of one host of a job, behind the name of that: `llama/algo-2-1727755200`, and files after it.
_OF_SAGEMAKER = regex(
    r"(?:(?<![a-z\d])|(?<=2f))algo-\d{1,4}(?=-1[5-9]\d{8}(?:\d{3})?(?P<behind>[-_.][a-z\d_.-]*)?$)", re.IGNORECASE
)

_INSTANCE = regex(r"(?<![0-9a-zA-Z])i-(?:0[0-9a-f]{3,16}|[0-9a-f]{8})(?![0-9a-zA-Z])")
_RANK = regex(
    r"(?<![a-z])(?:(?P<of>[a-z]{1,20})[-_.]|(?P<glued>local|global))?rank[-_.]?(?P<rank>\d{1,6})(?![\da-z])"
    r"(?:-(?P<last>\d{1,5})(?!\d))?",  # a range of ranks, or the number of a copy
    re.IGNORECASE,
)
#: A directory is a rank's if nothing else is said: that of an incident (`hang-of-rank-4-and-9`) tells a story.
_RANK_DIRECTORY = regex(r"(?:[a-z\d]{1,20}[-_.])?(?:(?:local|global)[-_.]?)?rank[-_.]?\d{1,6}", re.IGNORECASE)
_OTHER_RANKS = frozenset(
    {"node", "group", "host", "role", "data", "tensor", "pipeline", "model", "expert", "context", "sequence"}
    | {"dp", "tp", "pp", "ep", "cp", "sp", "mp", "vp"}
)
_RANK_ITSELF = regex(r"(?<![a-z])(?:local|global)?[-_.]?rank[-_.]?\d{1,6}(?![\da-z])", re.IGNORECASE)
_DUMP = regex(
    r"(?:(?:nccl|fr|flight_recorder|comm_lib|torch)?_)?dump_(?P<rank>\d{1,6})(?:\.(?:json|pkl))?"
    r"|trace_(?P<trace>\d{1,6})"
)
_DUMP_OF_HOST = regex(r".{0,100}rank_(?P<host>[A-Za-z][\w.-]{0,200})_(?P<rank>\d{1,6})(?:\.(?:json|pkl))?", re.ASCII)
_PACKED = regex(r"\.(?:gz|zst|xz|bz2)$", re.IGNORECASE)
#: (JobSet counts with the label `restart-attempt`, GitHub with `run_attempt`.)
_ATTEMPT = regex(
    r"(?:(?:restart|retry|job|run|launch)[-_])?(?:attempt|restart|retry)[-_]?(?P<attempt>\d{1,6})", re.IGNORECASE
)
#: What holds a directory for each worker of a host.
_LOCAL_RANKS = regex(r"(?:local[-_]?)?ranks", re.IGNORECASE)
_TASK = regex(r"\d{1,4}", re.ASCII)
_PID = regex(r"(?<![a-z])pid[-_.]?(?P<pid>\d{1,10})(?!\d)", re.IGNORECASE)
_PID_AT_END = regex(r"[-_.]pid[-_.]?\d{1,10}$", re.IGNORECASE)
#: The streams of ParallelCluster in CloudWatch Logs, and what is exported of them: `q-st-trn2-2.i-0777c3e9e1b2d5f40.slurmd`.
_STREAM = regex(
    r"(?P<host>[A-Za-z][A-Za-z\d-]{0,62})\.(?P<id>i-(?:0[\da-f]{3,16}|[\da-f]{8}))\.[a-z][a-z_-]{1,40}(?:[.\d].{0,60})?"
)
#: The streams of Container Insights: Fluent Bit puts its tag behind the name of the node, as does the manifest of EKS
#: (`log_stream_prefix ${HOST_NAME}-`; tags `host.dmesg`, `dataplane.systemd.*`, `dataplane.tail.*`, `application.*`).
OF_INSIGHTS = regex(
    r"(?P<host>[A-Za-z][\w.-]{0,253}?)-(?P<tag>host\.(?:dmesg|messages|secure)(?:\..{1,20})?|dataplane\.(?:systemd|tail)\..{1,400}"
    r"|application\.var\.log\..{1,400})"
)
_SLURM = regex(r"slurm-(?P<job>\d{1,12})(?:[_.-].{0,100})?\.(?:out|err|log)(?:\..{1,20})?")

#: (`<definition>_default_<id>` is a stream of AWS Batch or ECS.)
_KUBELET_POD = regex(r"[a-z\d-]{1,63}_(?!default_)(?P<pod>[a-z\d.-]{1,253})_[\da-f-]{32,36}")
_KUBELET_LOG = regex(r"\d{1,4}\.log")
_KUBELET_LINK = regex(r"(?P<pod>[a-z\d.-]{1,253})_[a-z\d-]{1,63}_(?P<container>[a-z\d-]{1,63})-[\da-f]{64}\.log")
#: What stands between two hosts, or before the one that is spoken of.
_DIRECTIONS = frozenset({"to", "from", "vs", "versus", "and", "against"})
_BETWEEN_WORDS = regex(r"[-_.]")
#: One of these stands in every name that a host is found in; most names of files have none.
_OF_A_HOST = regex(
    rf"ip-|i-|10\.|192\.|172\.|{_NOUN}|trn|inf|worker|\.(?:{_TOP}|{_OWN_TOP}|{_COUNTRY})(?![a-z\d])",
    re.IGNORECASE,
)


def plain(name: str) -> str:
    """The name of a file or directory without extensions and date, and without what sosreport puts around that of the host."""
    stem = _EXTENSION.sub("", name)
    return _host_of_sosreport(stem) or _DATE.sub("", stem)


def _host_of_sosreport(stem: str) -> str | None:
    """The host after which sos calls a report. A label behind it is told from it only where an address goes before."""
    report = _SOSREPORT.fullmatch(stem)
    labelled = _LABELLED.fullmatch(report["named"]) if report else None
    return labelled[1] if labelled else report["named"] if report else None


def bare(name: str) -> str:
    """The name of a file or directory without extensions, date, words for evidence at its ends, rank, and process."""
    stem = plain(name)
    stem = _PID_AT_END.sub("", _RANK_ITSELF.sub("", stem)).strip("-_.")
    before = None if _NEURON_ALONE.match(stem) else _EVIDENCE_BEFORE.match(stem)
    stem = _NOUN_BEFORE.sub("", stem[before.end() :] if before else stem, count=1)
    while shorter := _EVIDENCE_AFTER.sub("", stem):
        if shorter == stem:
            break
        stem = shorter
    return stem


def has_shape_of_host(name: str) -> bool:
    """Whether a name alone, without anything around it, is known for a host's."""
    return _HOST_FILE.fullmatch(name) is not None


def is_name_of_ec2(name: str) -> bool:
    """Whether it is the name that EC2 gives an instance after its address."""
    return _EC2.fullmatch(name) is not None


def _host(name: str, shape: re.Pattern[str]) -> str | None:
    if of_report := _host_of_sosreport(_EXTENSION.sub("", name)):
        return of_report
    if not _OF_A_HOST.search(name):
        return None
    if stream := _STREAM.fullmatch(name):
        return stream["host"]
    if (tagged := OF_INSIGHTS.fullmatch(name)) and shape.fullmatch(tagged["host"]):
        return tagged["host"]
    stem = bare(name)
    told = stem and shape.fullmatch(stem) and _DIRECTIONS.isdisjoint(_BETWEEN_WORDS.split(stem.casefold()))
    host = stem if told else _of_sagemaker(name) or _address(name) or _in_brackets(name)
    return host if host and _may_be_in_a_domain(host) else None


def _may_be_in_a_domain(host: str) -> bool:
    """Whether no part of a host's name that only its domain shows to be one means something else."""
    if not _is_by_domain(host):
        return True
    first, *domain, top = host.split(".")
    within = domain if _TOP_OF_ONES_OWN.fullmatch(top) else []
    return may_name_a_host(first) and words_of(".".join(within)).isdisjoint(NO_HOST_OF_LINES - GROUPINGS)


def _is_by_domain(host: str) -> bool:
    return not _BY_ITSELF.fullmatch(host) and _IN_A_DOMAIN.fullmatch(host) is not None


def _of_sagemaker(name: str) -> str | None:
    """The host after which SageMaker has called the stream that is called so; two of them are no stream's."""
    found = list(_OF_SAGEMAKER.finditer(name))
    return found[0][0] if len(found) == 1 and not _speaks_of_another(found[0]["behind"] or "") else None


def _address(name: str) -> str | None:
    """The address in a name that says of what host the evidence is and goes on; two of them tell of a connection."""
    before = _JOB_BEFORE.match(name) or _EVIDENCE_BEFORE.match(name)
    found = list(_ADDRESS_WITHIN.finditer(f"{plain(name)}_"))
    if len(found) != 1 or found[0].start() != (before.end() if before else 0):
        return None
    within = _BETWEEN_WORDS.split(name[: found[0].end()].casefold())
    return found[0][0] if _DIRECTIONS.isdisjoint(within) and not _speaks_of_another(name[found[0].end() :]) else None


def _in_brackets(name: str) -> str | None:
    """The address in brackets at the end of a name that speaks of no other machine, and of no way to it."""
    found = _IN_BRACKETS.fullmatch(plain(name).strip())
    before = set(words_of(found["before"])) if found else _DIRECTIONS
    return found["host"] if found and before.isdisjoint(_DIRECTIONS | OF_ANOTHER_HOST) else None


def _speaks_of_another(behind: str) -> bool:
    return not OF_ANOTHER_HOST.isdisjoint(_BETWEEN_WORDS.split(behind.casefold()))


def _rank(name: str) -> Place:
    for match in _RANK.finditer(name):
        if match["last"] and int(match["last"]) > int(match["rank"]):
            continue
        of = (match["of"] or match["glued"] or "").casefold()
        if of == "local":
            return Place(local_rank=int(match["rank"]))
        if of not in _OTHER_RANKS:
            return Place(rank=int(match["rank"]))
    return NOWHERE


def _instance(name: str) -> str | None:
    match = _INSTANCE.search(name)
    return match[0] if match else None


def _attempt(name: str) -> int | None:
    match = _ATTEMPT.fullmatch(name)
    return int(match["attempt"]) if match else None


def _local_rank(parent: str, name: str) -> int | None:
    """torchrun makes a directory for each worker in that of the attempt."""
    numbered = _ATTEMPT.fullmatch(parent) or _LOCAL_RANKS.fullmatch(parent)
    return int(name) if numbered and _TASK.fullmatch(name) else None


def _within(inner: Place, above: Place) -> Place:
    """What a part of a path says, or one above. No host is within another one by a domain that a file's name may end with."""
    inside = above.host and inner.host and _is_by_domain(inner.host) and not _SURE_DOMAIN.search(inner.host)
    return (replace(inner, host=None) if inside else inner).over(above)


def _of_directory(parent: str, name: str) -> Place:
    named = name if parent in _HOST_PARENTS else None
    place = Place(
        attempt=_attempt(name),
        host=_host(name, _HOST_DIRECTORY) or (_EXTENSION.sub("", name) if named else None),
        instance_id=_instance(name),
        local_rank=_local_rank(parent, name),
    )
    return place.over(_rank(name) if _RANK_DIRECTORY.fullmatch(_EXTENSION.sub("", name)) else NOWHERE)


def _dump(name: str) -> Place:
    name = _PACKED.sub("", name)
    dump = _DUMP.fullmatch(name)
    if dump is not None:
        return Place(rank=int(dump["rank"] or dump["trace"]))
    of_host = _DUMP_OF_HOST.fullmatch(name)
    if of_host is not None:
        return Place(rank=int(of_host["rank"]), host=_host(of_host["host"], _HOST_DIRECTORY))
    return NOWHERE


def _of_file(name: str) -> Place:
    pid, job, host, instance_id = _PID.search(name), _SLURM.fullmatch(name), _host(name, _HOST_FILE), _instance(name)
    place = NOWHERE
    if pid or job or host or instance_id:
        place = Place(
            job=job["job"] if job else None,
            host=host,
            instance_id=instance_id,
            pid=int(pid["pid"]) if pid else None,
        )
    return _dump(name).over(place).over(_rank(name))


def _container(directories: list[str], name: str) -> str | None:
    link = _KUBELET_LINK.fullmatch(name)
    if link is not None:
        return f"{link['pod']}/{link['container']}"
    at = next((n for n in reversed(range(len(directories))) if _KUBELET_POD.fullmatch(directories[n])), None)
    if at is None and "pods" in directories[-3:]:
        at = len(directories) - directories[::-1].index("pods")
    if at is None:
        return None
    pod, *rest = [*directories, name][at:]
    kubelet = _KUBELET_POD.fullmatch(pod)
    container = rest[0] if rest else ""
    # no name of Kubernetes has an underscore in it
    parts = _EXTENSION.sub("", pod).split("_") if _KUBELET_LOG.match(name) else []
    named = kubelet["pod"] if kubelet else parts[1] if parts[1:] else _EXTENSION.sub("", pod)
    names = [named, _EXTENSION.sub("", container)]
    return "/".join(name for name in names if name)


@lru_cache(maxsize=1024)
def _of_directories(directories: tuple[str, ...]) -> Place:
    """Kept, because the files of one directory come one after the other, by the thousand."""
    place = NOWHERE
    for parent, directory in pairwise(("", *directories)):
        place = _within(_of_directory(parent, directory), place)
    return place


def place_of_path(path: str) -> Place:
    """What `path` hints at, by the rules above; parts are separated by `/`, archive members by `!`."""
    *directories, name = [part[:_LONGEST_PART] for part in path.replace("!", "/").split("/") if part] or [""]
    place = _within(_of_file(name), _of_directories(tuple(directories)))
    container = _container(directories, name)
    return replace(place, container=container) if container else place
