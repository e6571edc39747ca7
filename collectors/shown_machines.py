"""What a command in a terminal shows: the machine on which it runs, which is what few do, or anything else.

One table for all who ask (`sections`, `saved_outputs`, `snapshot`, `own_words`). A login host or a laptop is where people look at
logs of other machines, so nothing is of a machine that is not known to be: a file counts where no other machine's lies
(`/var/log`, `/proc`), or where it is called after the host. What a loop over hosts, a scheduler or a client of a cluster shows is
not told here; a loop that counts devices or cores shows what it does with each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from neuron_doctor.collectors.command_lines import (
    Pipeline,
    arguments,
    asked_by_ssh,
    handed_on,
    pipelines,
    script_of,
    tool_of,
)
from neuron_doctor.collectors.hints import place_of_path, plain
from neuron_doctor.collectors.loops import EACH, Loop, loop_of
from neuron_doctor.collectors.no_host_words import words_of
from neuron_doctor.engine.regexes import regex


class Shows(Enum):
    """What stands below a command."""

    NOTHING = "nothing"  # or a line, or names of files
    KERNEL = "kernel"  # lines of the kernel alone
    STATE = "state"  # no lines of a log
    LOG = "log"
    JOB = "job"  # what it started itself
    OTHERS = "others"


class Shown(Struct, frozen=True):
    """What a command shows, of which host, if that is known; and the files that are shown."""

    what: Shows
    host: str = ""
    files: tuple[str, ...] = ()


_PRINTS_NOTHING = """
cd pushd popd pwd set export unset alias sleep wait true : echo printf date source . exit logout clear history which type
whoami mkdir touch chmod chown cp mv rm ln vi vim nano emacs git kill pkill killall conda module su reset stty
"""
#: What prints nothing, or a line of its own, and names of files.
ASIDE = frozenset(_PRINTS_NOTHING.split())
_LISTS_FILES = frozenset({"ls", "ll", "stat", "du", "find", "tree", "file", "md5sum", "sha256sum"})
_SHOWS_A_MACHINE = """
neuron-ls neuron-top neuron-monitor neuron-det nvidia-smi rocm-smi fi_info fi_pingpong ibv_devinfo ibstat rdma ethtool lspci
lsmod modinfo modprobe rmmod insmod dkms uname uptime hostname hostnamectl timedatectl chronyc chronyd ntpq free df ps pgrep
pstree top htop vmstat iostat mpstat sar nproc lscpu lsblk lsof fuser mount findmnt umount ip ifconfig netstat ss route arp
sysctl ulimit env printenv id who w last dpkg rpm apt apt-get apt-cache yum dnf pip pip3 ipcs numastat dmidecode ipmitool
mcelog ras-mc-ctl
"""
#: What shows the machine on which it is called, and nothing of others.
_OF_ITS_MACHINE = frozenset(_SHOWS_A_MACHINE.split())
_READS = "cat tac tail head less more zcat zless zmore xzcat zstdcat nl wc strings sort"
_SEARCHES = "grep egrep fgrep zgrep zegrep rg sed awk gawk"
#: What reads files; behind an expression.
_READERS, _SEARCHERS = frozenset(_READS.split()), frozenset(_SEARCHES.split())
_EXPRESSIONS = frozenset({"-e", "-f", "--regexp", "--file", "--expression"})
_OF_AWK = frozenset({"-f", "-F", "-v"})
#: What changes the lines of another command, and adds none.
_FILTERS = _READERS | _SEARCHERS | frozenset({"uniq", "cut", "tr", "tee", "column", "jq", "ts", "fold", "fmt", "most"})
#: The options by which what shows its machine shows what another one saved, or another one.
_ELSEWHERE = {
    "dmesg": ("-F", "-K", "--file", "--kmsg-file"),
    "journalctl": ("-D", "-M", "-m", "-i", "--directory", "--machine", "--merge", "--file", "--root", "--image"),
    "systemctl": ("-H", "-M", "--host", "--machine", "--root", "--image"),
    "hostnamectl": ("-H", "-M", "--host", "--machine"),
    "timedatectl": ("-H", "-M", "--host", "--machine"),
    "lspci": ("-F",),
    "sar": ("-f",),
    "last": ("-f", "--file"),
    "chronyc": ("-h",),
    "ipmitool": ("-H",),
}
_JOURNALS = frozenset({"dmesg", "journalctl", "systemctl"})
_OF_KERNEL = regex(r"-[abefqrx]{0,4}k[abefqrx]{0,4}|--dmesg|_TRANSPORT=kernel")
#: Where no file of another machine lies, but for what a server of logs receives; nor `asked`, if somebody went to the machine to
#: look at it: what people copy lies there on the machine at which they sit, as it does in what a user or a pipe has below these.
_OWN_FILES = regex(
    r"/(?:(?:var/log|proc|sys|etc|run(?!/user/)|dev(?!/(?:shm/|std|fd/)))|(?P<asked>tmp))"
    r"(?!/(?:.{0,400}/)?(?:(?:\.\.|remote|remotes|nodes|clients|rsyslog)(?:/|$)|hosts/))/.{1,400}"
)
_KERNEL_FILES = regex(r"/var/log/(?:kern\.log|dmesg)\b.{0,20}")
#: What says how many lines, or from which on.
_NUMBER = regex(r"[+-]?\d{1,18}[a-zA-Z]{0,2}")
_COUNT = regex(r"\d{1,5}")
_PYTHON = regex(r"(?:python|pypy)[\d.]{0,5}")
#: A line of Python that asks the runtime here, through a framework or itself, and has nothing to do with another machine.
_ASKS_HERE = regex(
    r"(?s)(?!.{0,2000}\b(?:ssh|paramiko|fabric|subprocess|system|popen|open|read\w{0,9}|requests|urllib|boto3|ray|dask)\b)"
    r".{0,2000}\b(?:import|from)\s+(?:torch|jax|libneuronxla|transformers_neuronx|tensorflow)"
)
_PROGRAMS = frozenset({"torchrun", "accelerate", "neuron_parallel_compile", "neuronx-cc", "vllm", "pytest", "py.test"})
_SCRIPT = regex(r"\./.{1,400}|.{1,400}\.(?:sh|bash|py)")
_OF_SEVERAL = """
log logs node nodes host hosts cluster fleet remote all each collect collector gather fetch pull get show view tail cat grep
parse analyze analyse analyzer inspect check diag ssh pdsh clush srun sbatch slurm mpi mpirun kubectl kube pod pods ansible
submit submitter enqueue deploy sweep
"""
#: What a script is called after that shows what others said, or starts others.
_FOR_OTHERS = frozenset(_OF_SEVERAL.split())
_SHOWERS = frozenset({"json.tool", "gzip", "zipfile", "tarfile", "pickletools", "base64"})
#: What somebody wrote down is shown rather than used.
_WRITTEN_DOWN = regex(r"[^=]{1,400}\.(?:log|txt|out|err|jsonl|csv|gz|zst)(?:\.\d{1,4}|\.gz)?")
#: No line is understood that is longer, or within more others: a bastion, a host, sudo's shell, a shell.
_LONGEST, _DEEPEST = 2048, 4


@lru_cache(maxsize=1024)
def shown_by(line: str, host: str = "", *, asked: bool = False, within: int = 0) -> Shown:
    """What a line of commands shows that a shell on this host was given; `asked` where somebody went there for it. It stands
    `within` so many other lines."""
    if len(line) > _LONGEST or within > _DEEPEST:
        return Shown(Shows.OTHERS)
    if (loop := loop_of(line)) and all(map(_COUNT.fullmatch, loop.words or ("",))):
        return _of_each(loop, host, asked=asked, within=within)
    try:
        all_shown = [_shown_by(pipeline, host, asked=asked, within=within) for pipeline in pipelines(line)]
    except ValueError:  # a quotation mark too many, or a command within a command
        return Shown(Shows.OTHERS)
    shown = {one for one in all_shown if one.what is not Shows.NOTHING}
    if len(shown) <= 1:
        return next(iter(shown), Shown(Shows.NOTHING))
    hosts = {one.host for one in shown}
    if len(hosts) > 1 or any(one.what is Shows.OTHERS for one in shown):
        return Shown(Shows.OTHERS)
    kinds = {one.what for one in shown}
    what = kinds.pop() if len(kinds) == 1 else Shows.JOB if Shows.JOB in kinds else Shows.LOG
    return Shown(what, hosts.pop(), tuple(sorted({file for one in shown for file in one.files})))


def _of_each(loop: Loop, host: str, *, asked: bool, within: int) -> Shown:
    """What a loop shows that counts, if nothing that it shows is another machine's: `ssh n$i` goes on to the next one."""
    first, last = (
        shown_by(loop.body.replace(EACH, word), host, asked=asked, within=within + 1)
        for word in (loop.words[0], loop.words[-1])
    )
    alike = first.what is last.what and first.host == last.host and first.host in ("", host)
    return first if alike else Shown(Shows.OTHERS)


def _shown_by(pipeline: Pipeline, host: str, *, asked: bool, within: int) -> Shown:
    words = pipeline.words
    if pipeline.writes or pipeline.reads or not _FILTERS.issuperset(pipeline.filters):
        return Shown(Shows.NOTHING if pipeline.writes else Shows.OTHERS)
    if there := asked_by_ssh(words):
        return Shown(Shows.OTHERS) if "$" in there[0] else shown_by(there[1], there[0], asked=True, within=within + 1)
    if (line := handed_on(words)) is not None:
        return shown_by(line, host, asked=asked, within=within + 1)
    if tool_of(words) in _READERS | _SEARCHERS:
        return _of_files(tuple(_files(words)), host, asked=asked)
    what = _what(words)
    return Shown(what, host if what not in (Shows.NOTHING, Shows.OTHERS) else "")


def name_of_file(path: str) -> str:
    """What a file is called after, in lower case: `n7` of `/fsx/run/n7.log`."""
    return plain(path.rpartition("/")[2][:255]).casefold()


def _what(words: Sequence[str]) -> Shows:
    tool = tool_of(words)
    elsewhere = any(_has_option(word, option) for option in _ELSEWHERE.get(tool, ()) for word in words[1:])
    if tool in _LISTS_FILES:
        files = list(arguments(words[1:]))
        return Shows.STATE if files and all(map(_is_own, files)) else Shows.NOTHING
    if tool in _OF_ITS_MACHINE or tool in _JOURNALS:
        return Shows.OTHERS if elsewhere else _of_machine(words)
    if tool in ASIDE or words[0] in ASIDE:
        return Shows.NOTHING
    if _PYTHON.fullmatch(tool) and "-c" in words[:-1] and _ASKS_HERE.match(words[words.index("-c") + 1]):
        return Shows.LOG
    return Shows.JOB if _runs_a_job(script_of(words)) else Shows.OTHERS


def _has_option(word: str, option: str) -> bool:
    """Whether a word is an option, has its value behind it (`--file=x`, `-Fx`), or is several letters with it among them."""
    if option.startswith("--"):
        return word.startswith(option)
    return word.startswith("-") and not word.startswith("--") and option[1:] in word


def _of_machine(words: Sequence[str]) -> Shows:
    if tool_of(words) not in _JOURNALS:
        return Shows.STATE
    return Shows.KERNEL if words[0].endswith("dmesg") or any(map(_OF_KERNEL.fullmatch, words)) else Shows.LOG


def _of_files(files: tuple[str, ...], host: str, *, asked: bool) -> Shown:
    if files and all(map(_KERNEL_FILES.fullmatch, files)):
        return Shown(Shows.KERNEL, host, files)
    own = all((host and name_of_file(file) == host.casefold()) or _is_own(file, host, asked=asked) for file in files)
    return Shown(Shows.LOG, host, files) if files and own else Shown(Shows.OTHERS, files=files)


def _is_own(file: str, host: str = "", *, asked: bool = False) -> bool:
    """Whether it lies where files of the machine itself lie, and no part of its path has the shape of another host."""
    found = _OWN_FILES.fullmatch(file)
    named = place_of_path(file).host
    return found is not None and (asked or not found["asked"]) and named in (None, host)


def _files(words: Sequence[str]) -> Iterator[str]:
    """The files that a reader is told."""
    tool = tool_of(words)
    valued = _OF_AWK if tool.endswith("awk") else _EXPRESSIONS if tool in _SEARCHERS else frozenset[str]()
    told = [word for word in arguments(words[1:], valued) if not _NUMBER.fullmatch(word)]
    yield from told[1:] if tool in _SEARCHERS and _EXPRESSIONS.isdisjoint(words) else told


def _runs_a_job(words: Sequence[str]) -> bool:
    """Whether a program of the user's runs here, that shows nothing but itself."""
    tool = tool_of(words)
    if _PYTHON.fullmatch(tool):
        words = [word for word in words[1:] if word not in ("-u", "-B", "-O")]
        if words[:1] == ["-m"]:
            words = [] if words[1:2] and words[1] in _SHOWERS else words[1:]
        elif words[:1] and (words[0].startswith("-") or not _SCRIPT.fullmatch(words[0])):
            return False
    elif not words or not (tool in _PROGRAMS or _SCRIPT.fullmatch(words[0])):
        return False
    shown = any(_WRITTEN_DOWN.fullmatch(word) and not before.startswith("-") for before, word in pairwise(words))
    return bool(words) and not shown and _FOR_OTHERS.isdisjoint(words_of(tool_of(words)))
