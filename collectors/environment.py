"""Environment dumps: `env`, `printenv`, `export -p`, `declare -x`, and /proc/<pid>/environ (separated by NUL).

A value is shown only where its name is known to be harmless (see `masking`), in the fact and in its quotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from neuron_doctor.collectors.base import HEAD, Collector, Input
from neuron_doctor.collectors.masking import masked
from neuron_doctor.collectors.snapshot import Line, fact, has_form, head_lines, lines_of, output, read_bytes
from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.regexes import regex

_SETTING = regex(r"(?:export |declare -[a-z]{0,6}x[a-z]{0,6} )?(?P<name>[A-Za-z_]\w{0,200})=(?P<value>.*)$", re.DOTALL)

#: Several of these stand in every real environment, and not in other files of NAME=value lines.
_TYPICAL = regex(
    r"(?:export |declare -\w{1,8} )?"
    r"(?:PATH|HOME|PWD|SHLVL|HOSTNAME|LD_LIBRARY_PATH|(?:NEURON|FI|SLURM|NCCL|CCOM|XLA|TORCH)_\w+)="
)
_PID = regex(r"(?:^|[/!])(\d{1,7})/environ$")
_NUMBER = regex(r"\d{1,7}")


def _sniff(head: bytes, _name: str) -> bool:
    if b"\0" in head:
        texts = _variables(head, len(head) >= HEAD)
        # A log with NUL bytes in it begins or ends with several lines in one piece.
        whole = all(map(_SETTING.match, texts)) and not any("\n" in text for text in texts[:1] + texts[-1:])
        return whole and _is_typical(texts)
    return has_form(head, _SETTING) and _is_typical(head_lines(head))


def _is_typical(texts: Sequence[str]) -> bool:
    return sum(1 for text in texts if _TYPICAL.match(text)) > 1


def _variables(data: bytes, cut: bool) -> list[str]:
    pieces = data.split(b"\0")
    return [piece.decode("utf-8", "replace") for piece in (pieces[:-1] if cut else pieces) if piece.strip()]


def _collect(inp: Input) -> Iterator[Fact]:
    data = read_bytes(inp)
    settings = _separated(data) if b"\0" in data else output(lines_of(data))
    inp.records = len(settings)
    return _facts(inp, settings)


def _separated(data: bytes) -> list[Line]:
    lines, offset = [], 0
    for raw in data.split(b"\0"):
        if raw:
            lines.append(Line(raw.decode("utf-8", "replace"), raw, offset, 1))
        offset += len(raw) + 1
    return lines


def _facts(inp: Input, lines: Sequence[Line]) -> Iterator[Fact]:
    """One `env` fact for each variable, `world` for the size of the job; ranks give the place of all of them."""
    settings = [(line, m["name"], _unquoted(m["value"])) for line in lines if (m := _SETTING.match(line.text))]
    pid = _PID.search(inp.path)
    place = place_of_environment({name: value for _, name, value in settings}).over(
        Place(pid=int(pid[1]) if pid else None)
    )
    for line, name, value in settings:
        shown = masked(name, value)
        said = fact(inp, line, "env", {"name": name, "value": shown}, place)
        yield replace(said, span=replace(said.span, text=f"{name}={shown}"))
        if name == "WORLD_SIZE" and place.rank is not None and _NUMBER.fullmatch(value):
            yield fact(inp, line, "world", {"size": int(value)}, place)


def _unquoted(value: str) -> str:
    value = value.rstrip("\r")
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def place_of_environment(variables: dict[str, str]) -> Place:
    """The place that these variables give their process: host, job and, where they are a worker's, the ranks.

    RANK counts workers only beside LOCAL_RANK: in the shell of a PyTorchJob pod it counts pods. What srun, mpirun and
    PJRT number are workers only where they say so: a launcher that they start once on each host is none.
    """
    job = variables.get("SLURM_JOB_ID") or variables.get("SLURM_JOBID") or None
    host = variables.get("HOSTNAME") or None
    for rank, local_rank, is_worker in _NUMBERINGS:
        if is_worker(variables) and _is_number(variables, rank):
            local = int(variables[local_rank]) if _is_number(variables, local_rank) else None
            return Place(job=job, host=host, rank=int(variables[rank]), local_rank=local)
    return Place(job=job, host=host)


def _is_number(variables: dict[str, str], name: str) -> bool:
    return _NUMBER.fullmatch(variables.get(name, "")) is not None


def _of_torch(variables: dict[str, str]) -> bool:
    return _is_number(variables, "LOCAL_RANK")


def _of_slurm(variables: dict[str, str]) -> bool:
    return _is_number(variables, "SLURM_LOCALID") and _are_workers(
        variables, "SLURM_NTASKS", variables["SLURM_LOCALID"]
    )


def _of_mpi(variables: dict[str, str]) -> bool:
    local = variables.get("OMPI_COMM_WORLD_LOCAL_RANK", "")
    return _are_workers(variables, "OMPI_COMM_WORLD_SIZE", local)


def _are_workers(variables: dict[str, str], tasks: str, local_rank: str) -> bool:
    """Whether a launcher's tasks are the job's workers: as many as the world has ranks, or a second one on the host."""
    if "RANK" in variables or "WORLD_SIZE" in variables:
        return _is_number(variables, tasks) and variables[tasks] == variables.get("WORLD_SIZE")
    return local_rank.isascii() and local_rank.isdigit() and int(local_rank) > 0


def _of_pjrt(variables: dict[str, str]) -> bool:
    """One device for each process: only then is the number of a process that of a rank."""
    return set(variables.get("NEURON_PJRT_PROCESSES_NUM_DEVICES", "").split(",")) == {"1"}


#: The variables that number workers and those of one host, and when they do.
_NUMBERINGS = (
    ("RANK", "LOCAL_RANK", _of_torch),
    ("SLURM_PROCID", "SLURM_LOCALID", _of_slurm),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", _of_mpi),
    ("NEURON_PJRT_PROCESS_INDEX", "LOCAL_RANK", _of_pjrt),
)

COLLECTORS = (Collector("env", "environment variables", _sniff, _collect),)
