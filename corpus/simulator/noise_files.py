"""Files of unrelated programs, as they lie beside the logs of a job: the doctor must find nothing in them."""

from collections.abc import Callable, Iterator
from random import Random

from neuron_doctor.corpus.simulator import clocks
from neuron_doctor.corpus.simulator.truth import File

_SINCE = 1_749_000_000.0
_PIP = (
    "Requirement already satisfied: numpy<2 in /opt/aws_neuronx_venv/lib/python3.10/site-packages (1.26.4)",
    "Requirement already satisfied: transformers in /opt/aws_neuronx_venv/lib/python3.10/site-packages (4.48.1)",
    "Collecting datasets",
    "  Downloading datasets-3.2.0-py3-none-any.whl (480 kB)",
    "Installing collected packages: xxhash, dill, multiprocess, datasets",
    "Successfully installed datasets-3.2.0 dill-0.3.8 multiprocess-0.70.16 xxhash-3.5.0",
    "WARNING: Running pip as the 'root' user can result in broken permissions and conflicting behaviour",
)
_SSHD = (
    "Accepted publickey for ubuntu from 10.1.0.12 port {port} ssh2: RSA SHA256:9c2vTq0x",
    "pam_unix(sshd:session): session opened for user ubuntu(uid=1000) by (uid=0)",
    "Received disconnect from 10.1.0.12 port {port}:11: disconnected by user",
    "pam_unix(sshd:session): session closed for user ubuntu",
)
_WEB = '10.1.0.{last} - - [{date}] "GET /metrics HTTP/1.1" {status} {size} "-" "Prometheus/2.51.0"'
_YAML = (
    "model:",
    "  name: llama-3-8b",
    "  sequence_length: 8192",
    "trainer:",
    "  max_steps: 10000",
    "  precision: bf16",
    "  timeout_minutes: 30  # on error: restart",
    "data:",
    "  path: s3://training-data/dclm/shard-{port}",
)


def noise_files(count: int, random: Random) -> Iterator[File]:
    """So many files, of several kinds."""
    for index in range(count):
        name, make = random.choice(_KINDS)
        text = "\n".join(make(random)) + "\n" if random.random() < _FILLED else ""
        stem, _, extension = name.rpartition(".")
        yield File(f"other/{stem}-{index}.{extension}", text.encode(), "noise")


def _pip(random: Random) -> Iterator[str]:
    for _ in range(random.randrange(1, 6)):
        yield from _PIP


def _ssh(random: Random) -> Iterator[str]:
    at = _SINCE + random.randrange(10**6)
    for _ in range(random.randrange(4, 60)):
        at += random.expovariate(1 / 300)
        text = random.choice(_SSHD).format(port=random.randrange(30000, 60000))
        yield f"{clocks.syslog(at)} bastion sshd[{random.randrange(900, 9000)}]: {text}"


def _web(random: Random) -> Iterator[str]:
    at = _SINCE + random.randrange(10**6)
    for _ in range(random.randrange(20, 200)):
        at += 15
        date = f"{clocks.iso(at, digits=0, separator=' ')} +0000"
        status = random.choice((200, 200, 200, 200, 304, 500, 502))
        yield _WEB.format(last=random.randrange(2, 250), date=date, status=status, size=random.randrange(200, 90000))


def _config(random: Random) -> Iterator[str]:
    for line in _YAML:
        yield line.format(port=random.randrange(10**4))


def _binary(random: Random) -> Iterator[str]:
    for _ in range(random.randrange(1, 20)):
        yield "".join(chr(random.randrange(1, 0x500)) for _ in range(120))


_Kind = tuple[str, Callable[[Random], Iterator[str]]]
_KINDS: tuple[_Kind, ...] = (
    ("pip-install.log", _pip),
    ("auth.log", _ssh),
    ("access.log", _web),
    ("config.yaml", _config),
    ("core.bin", _binary),
)
_FILLED = 0.9  # the rest is empty
