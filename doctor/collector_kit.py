"""The tests that every collector must pass, ours and those of plug-ins: it is handed damaged, hostile and strange input, and what
it promises is looked at.

    from neuron_doctor.collector_kit import Sample, faults_of

    def test_the_collector_keeps_its_promises() -> None:
        assert faults_of(COLLECTOR, [Sample(Path("samples/one.log").read_bytes())]) == []

It needs no network, no other packages, and nothing that is random: the same samples meet the same damage each time.
"""

from __future__ import annotations

import hashlib
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from random import Random
from typing import Any

from msgspec import Struct

from neuron_doctor.collectors.base import HEAD, Collector, Input, UnreadableInput
from neuron_doctor.collectors.streams import finish, streamed
from neuron_doctor.engine.facts import NOWHERE, Fact, Place
from neuron_doctor.engine.fitting import Fitting
from neuron_doctor.engine.patterns import PatternSet
from neuron_doctor.engine.regexes import regex
from neuron_doctor.lint.ordinary import ordinary_text
from neuron_doctor.plugins import Stopped, tried
from neuron_doctor.scan import Engine, Scanned, scan_input

#: Of each check so many faults are told.
MOST = 3
#: A collector may take so long (seconds) for one input of the kit, none of which is larger than a few megabytes.
SLOWEST = 20.0
#: So much is handed on at once.
_PIECE = 64 * 1024
_NUMBER = regex(rb"\d+")
#: What no path of a real input hints at.
_HINT = Place(job="hinted-job", attempt=77, host="hinted-host", container="hinted-pod", rank=7777)
_STOPPED = "the collector stopped: "


class Sample(Struct, frozen=True):
    """An input of the collector's kind, whole and undamaged, and the name that its file has. With `unnamed` False the format
    tells nothing of itself, and its name is all that it is known by."""

    data: bytes
    name: str = "capture"
    unnamed: bool = True


def faults_of(
    collector: Collector,
    samples: Sequence[Sample | bytes],
    *,
    patterns: PatternSet | None = None,
    strangers: Iterable[bytes] | None = None,
) -> list[str]:
    """What the collector does that it must not, each in a sentence; empty if all is well. `patterns` are those whose hits it
    gives, if any; `strangers` are inputs of other kinds that it must refuse (ordinary logs and the like if not said)."""
    known = [sample if isinstance(sample, Sample) else Sample(sample) for sample in samples]
    if not known:
        return ["there is no sample: nothing can be said of a collector without an input of its kind"]
    bench = _Bench(collector, Fitting({p.id: p for p in patterns.patterns} if patterns else {}))
    checks = (
        _names(bench, known),
        _refusals(bench, STRANGERS if strangers is None else strangers),
        _heads(bench, known),
        *(check for sample in known for check in (_promises(bench, sample), _damage(bench, sample))),
    )
    return [fault for check in checks for fault in islice(check, MOST)]


def memory_faults(collector: Collector, sample: Sample, sizes: tuple[int, int] = (20 << 20, 60 << 20)) -> list[str]:
    """Whether memory grows with the input: the sample is repeated up to each of the two sizes (bytes), the second of which is
    several times the first. Facts are not kept. Takes seconds, up to a minute."""
    small, large = (_peak(collector, sample, size) for size in sizes)
    if large <= small * 1.5 + (8 << 20):
        return []
    told = f"{small >> 20} MB for {sizes[0] >> 20} MB of input, {large >> 20} MB for {sizes[1] >> 20} MB"
    return [f"its memory grows with the input: {told}"]


# --- what a collector is handed ------------------------------------------------------------------------------------


class _Bench(Struct):
    """A collector, and what tells whether its facts are such."""

    collector: Collector
    fitting: Fitting

    def read(self, data: bytes, name: str = "capture", place: Place = NOWHERE) -> Scanned:
        """What becomes of an input, as in a diagnosis."""
        inp = _input((data[at : at + _PIECE] for at in range(0, len(data), _PIECE)), f"folder/{name}")
        inp.place = place
        return scan_input(inp, Engine((self.collector,)))

    def claims(self, data: bytes, name: str) -> bool | str:
        """Whether the collector takes an input for its own; or what it does instead of saying yes or no."""
        try:
            said = tried(lambda: self.collector.sniff(data[:HEAD], name))
        except Stopped as error:
            return f"raised {error}"
        return said if isinstance(said, bool) else f"said {said!r}"


def _input(chunks: Iterator[bytes], path: str) -> Input:
    return streamed(path, path.rpartition("/")[2], chunks)


def _is_taken(scanned: Scanned, bench: _Bench) -> bool:
    return scanned.source.kind == bench.collector.kind


def _stopped(scanned: Scanned) -> str:
    """What left the collector that should not have; empty if nothing did."""
    return next((p.what.removeprefix(_STOPPED) for p in scanned.source.problems if p.what.startswith(_STOPPED)), "")


# --- which inputs are its own --------------------------------------------------------------------------------------


def _names(bench: _Bench, samples: Iterable[Sample]) -> Iterator[str]:
    """Samples are claimed, and by what is in them."""
    for number, sample in enumerate(samples, 1):
        said = bench.claims(sample.data, sample.name)
        if said is not True:
            yield f"sample {number} is not claimed" + (f": it {said}" if said else "")
        elif sample.unnamed and bench.claims(sample.data, "x") is not True:
            yield f"sample {number} is claimed by its name, and refused under another one"


def _refusals(bench: _Bench, strangers: Iterable[bytes]) -> Iterator[str]:
    for stranger in strangers:
        if said := bench.claims(stranger, "capture"):
            told = "is claimed" if said is True else f"is not clearly refused (it {said})"
            yield f"an input of another kind {told}: {stranger[:60]!r}"


def _heads(bench: _Bench, samples: Sequence[Sample]) -> Iterator[str]:
    """Whatever an input begins with, the answer is yes or no, and quick."""
    whole = [(piece * (HEAD // len(piece) + 1))[:HEAD] for piece in _PIECES_OF_HEADS]
    cut = [sample.data[:length] for sample in samples for length in (0, 1, 7, len(sample.data) // 2)]
    random = Random(0)  # noqa: S311 - no secret
    noise = [random.randbytes(random.randrange(2000)) for _ in range(50)]
    for head in (*whole, *cut, *noise):
        began = time.perf_counter()
        if isinstance(said := bench.claims(head, "capture"), str):
            yield f"it {said} for an input that begins with {head[:40]!r}"
        if (took := time.perf_counter() - began) > SLOWEST:
            yield f"it took {took:.0f} s for {len(head)} bytes that begin with {head[:40]!r}"


_PIECES_OF_HEADS = (
    *(
        b"[",
        b"{",
        b'{"a":',
        b"(",
        b"A=",
        b"| ",
        b"+-",
        b"a/",
        b"- ",
        b"0 ",
        b"\xff",
        b"\0",
        b"Name: ",
        b"x" * 50 + b" ",
    ),
    *(
        b"\n",
        b"\r",
        b"\t",
        b"%s",
        b"{0}",
        b"\x1b[31m",
        b"9",
        b"-",
        b"\\",
        b'"',
        b"'",
        b"\xef\xbb\xbf",
        b"\xf0\x9f\x92\xa9",
    ),
)


def _strangers() -> Iterator[bytes]:
    """Inputs that are of no kind but text, or of none."""
    text = ordinary_text().encode()
    lines = text.split(b"\n")
    yield from (b"", b"\n", b"\0" * 512, b"{}", b"[]", b"PK\x03\x04" + b"\0" * 60, b"\x1f\x8b\x08" + b"\0" * 60)
    yield from (text, *(b"\n".join(lines[at : at + 40]) for at in range(0, 400, 40)))


STRANGERS = tuple(_strangers())


# --- what it promises of its facts ---------------------------------------------------------------------------------


def _promises(bench: _Bench, sample: Sample) -> Iterator[str]:
    watch = _watch()
    watch.seen.clear()
    watch.on = True
    try:
        scanned = bench.read(sample.data, sample.name)
    finally:
        watch.on = False
    yield from (f"while it reads, {event} happens" for event in dict.fromkeys(watch.seen))
    if said := _stopped(scanned):
        yield f"it raised {said} for a whole sample"
        return
    yield from _facts(bench, scanned, sample.data)
    again = bench.read(sample.data, sample.name)
    if (again.facts, again.source) != (scanned.facts, scanned.source):
        yield "two readings of one input differ"
    if not sample.unnamed:
        return
    renamed = bench.read(sample.data, "x")
    if [_but_place(fact) for fact in renamed.facts] != [_but_place(fact) for fact in scanned.facts]:
        yield "its facts are others under another name: a name hints at a place, and at nothing else"
    hinted = bench.read(sample.data, sample.name, _HINT)
    if len(hinted.facts) != len(scanned.facts):
        yield "its facts are others where the path hints at another place"
    for fact, before in zip(hinted.facts, scanned.facts, strict=False):
        yield from _overruled(fact, before)


def _but_place(fact: Fact) -> object:
    return fact.kind, fact.data, fact.instant, fact.span.offset, fact.span.length, fact.repeats


def _overruled(fact: Fact, before: Fact) -> Iterator[str]:
    """A place is what the content says, and where that is silent what the path hints at, or nothing."""
    for name in Place.__struct_fields__:
        value, said, hint = (getattr(place, name) for place in (fact.place, before.place, _HINT))
        if value != said and (said not in (None, ()) or value != hint):
            yield f"the {name} of a {fact.kind} is {value!r} where the path hints at {hint!r}, and {said!r} without a hint"


def _facts(bench: _Bench, scanned: Scanned, data: bytes) -> Iterator[str]:
    """What is wrong with the facts of an input."""
    if not _is_taken(scanned, bench):
        return
    for fact in scanned.facts:
        span = fact.span
        if not bench.fitting.fits_wholly(fact):
            yield f"a fact is of no kind that is known, or its fields are not those of its kind: {fact.kind} {dict(fact.data)}"
        if span.path != scanned.source.path:
            yield f"the span of a {fact.kind} is in {span.path!r}, not in the input"
        if not 0 <= span.offset <= span.offset + span.length <= len(data):
            yield f"the span of a {fact.kind} lies outside of the input: {span.length} bytes at {span.offset} of {len(data)}"
            continue
        if span.sha256 and span.sha256 != hashlib.sha256(data[span.offset : span.offset + span.length]).hexdigest():
            yield f"the digest of a {fact.kind} is not that of its span"
        if span.line is not None and span.line not in _lines(data, span.offset):
            yield f"a {fact.kind} at byte {span.offset} is said to stand in line {span.line}"


def _lines(data: bytes, offset: int) -> tuple[int, int]:
    """The number of the line at an offset: lines end with LF, or with CR too."""
    before = data[:offset]
    return before.count(b"\n") + 1, before.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") + 1


# --- damage --------------------------------------------------------------------------------------------------------


def _damage(bench: _Bench, sample: Sample) -> Iterator[str]:
    """Whatever happened to an input, it gives facts that are such and lie in it, or says that it cannot be read."""
    random = Random(len(sample.data))  # noqa: S311 - no secret
    for what, data in _damaged(sample.data, random):
        began = time.perf_counter()
        scanned = bench.read(data, sample.name)
        took = time.perf_counter() - began
        if said := _stopped(scanned):
            yield f"it raised {said} for a sample {what}"
        yield from (f"{fault} (a sample {what})" for fault in _facts(bench, scanned, data))
        if took > SLOWEST:
            yield f"it took {took:.0f} s for {len(data):,} bytes (a sample {what})"


def _damaged(data: bytes, random: Random) -> Iterator[tuple[str, bytes]]:
    length = len(data)
    places = sorted({0, 1, max(length - 1, 0), *(random.randrange(length + 1) for _ in range(24))})
    yield from ((f"cut off after {at} bytes", data[:at]) for at in places)
    yield from ((f"without its first {at} bytes", data[at:]) for at in places[:8])
    for at in places:
        other = bytes(byte ^ 1 << random.randrange(8) for byte in data[at : at + 1])
        yield f"with another byte at {at}", data[:at] + other + data[at + 1 :]
    for at in places[::3]:
        end = at + random.randrange(1, 200)
        yield f"without bytes {at} to {end}", data[:at] + data[end:]
        yield f"with bytes {at} to {end} twice", data[:end] + data[at:]
        yield f"with NULs from byte {at} on", data[:at] + bytes(end - at) + data[end:]
    for digits in (b"9" * 400, b"-1", b"1e999", b"NaN", b"0x", b"18446744073709551616", b"\xd9\xa3"):
        yield f"with {digits[:8]!r} for its numbers", _NUMBER.sub(digits, data)
        yield f"with {digits[:8]!r} for its last number", _last_number(data, digits)
    for what, hostile in _HOSTILE.items():
        yield f"followed by {what}", data + hostile
        yield f"that follows {what}", hostile + data
        middle = data.find(b"\n", length // 2) + 1
        yield f"with {what} in its middle", data[:middle] + hostile + data[middle:]


def _last_number(data: bytes, digits: bytes) -> bytes:
    found = list(_NUMBER.finditer(data))
    return data[: found[-1].start()] + digits + data[found[-1].end() :] if found else data


_HOSTILE: Mapping[str, bytes] = {
    "bytes that are no text": b"\xff\xfe\xc0\x80" * 500,
    "NULs": b"\0" * 100_000,
    "a line of a megabyte": b"A" * (1 << 20) + b"\n",
    "many brackets": b"[" * 200_000,
    "deep JSON": b'{"a":' * 100_000,
    "deep parentheses": b"(" * 100_000 + b"\n",
    "a long number": b"9" * 300_000 + b"\n",
    "empty lines": b"\n" * 100_000,
    "escapes and overrides": "\x1b[31m\x1b]0;t\x07\u202e\u200b\u2028\r".encode() * 200 + b"\n",
    "a pickle that runs a command": b"cos\nsystem\n(S'true'\ntR.",
    "a YAML tag": b"!!python/object/apply:os.system ['true']\n",
    "format strings": b"%s%n{0.__class__}${jndi:x}$(true)`true`\n" * 50,
}


# --- what must not happen while it reads ---------------------------------------------------------------------------

_FORBIDDEN = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "os.remove",
    "os.rename",
    "shutil.",
)
_WRITES = "wax+"


class _Watch(Struct):
    """What happened while it was on. What Python keeps of modules that it loads does not count: it opens a file, by its name and
    then by its number, and renames it."""

    seen: list[str]
    on: bool = False
    _opened: str = ""

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open":
            self._opened = self._opened if isinstance(args[0], int) else str(args[0])
        written = event == "open" and _is_written(args)
        of_module = ".pyc" in (self._opened if event == "open" else str(args[1:2]) if event == "os.rename" else "")
        if (written or event.startswith(_FORBIDDEN)) and not of_module:
            self.seen.append(event if event != "open" else f"a file is opened for writing ({args[0]})")


def _is_written(args: tuple[Any, ...]) -> bool:
    """Whether a file is opened for writing."""
    mode = args[1]
    return isinstance(mode, str) and any(letter in mode for letter in _WRITES)


@cache
def _watch() -> _Watch:
    """A hook of the interpreter cannot be removed: there is one, which is mostly off."""
    watch = _Watch([])
    hook: Callable[[str, tuple[Any, ...]], None] = watch.hook
    sys.addaudithook(hook)
    return watch


# --- memory --------------------------------------------------------------------------------------------------------


def _peak(collector: Collector, sample: Sample, size: int) -> int:
    """The most memory (bytes) that is held at a time while the sample, repeated up to a size, is read."""
    times = -(-size // max(len(sample.data), 1))
    inp = _input((sample.data for _ in range(times)), f"folder/{sample.name}")
    inp.kind = collector.kind
    tracemalloc.start()
    try:
        for _ in collector.collect(inp):
            pass
        finish(inp)
    except UnreadableInput:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak
