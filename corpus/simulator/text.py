"""Text files line by line: a builder that knows which bytes state which fault."""

from dataclasses import dataclass, field

from neuron_doctor.corpus.simulator.truth import File, Mark


@dataclass(slots=True)
class Lines:
    """A text file being written. Each line may state a fault, and its bytes (not its end) are then marked."""

    end: str = "\n"
    _data: bytearray = field(default_factory=bytearray)
    _marks: list[Mark] = field(default_factory=list)

    def line(self, text: str, fault: int | None = None) -> None:
        """Append a line (or several, in one string)."""
        self.part(text, fault)
        self._data += self.end.encode()

    def lines(self, text: str, fault: int | None = None) -> None:
        """Append each line of a text; each is marked by itself."""
        for line in text.splitlines():
            self.line(line, fault)

    def part(self, text: str, fault: int | None = None) -> None:
        """Append text without a line end."""
        data = text.encode("utf-8", "surrogateescape")
        if fault is not None:
            self._marks.append(Mark(len(self._data), len(data), fault))
        self._data += data

    def __len__(self) -> int:
        """The bytes so far."""
        return len(self._data)

    def file(self, path: str, source: str, host: int | None = None, ranks: tuple[int, ...] = ()) -> File:
        """The file as written so far."""
        return File(path, bytes(self._data), source, host, ranks, tuple(self._marks))
