"""One kernel message, and the forms in which kernel logs are collected: dmesg, dmesg -T, dmesg -x, journald, syslog."""

from dataclasses import dataclass
from enum import StrEnum

from neuron_doctor.corpus.simulator import clocks
from neuron_doctor.corpus.simulator.job import Host


class Level(StrEnum):
    """Levels as `dmesg -x` prints them."""

    ERR = "err"
    WARN = "warn"
    NOTICE = "notice"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Message:
    """One line of the kernel log, at a true time."""

    time: float
    text: str
    level: Level = Level.INFO
    fault: int | None = None


class Form(StrEnum):
    """How a kernel log was collected."""

    BOOT = "dmesg"  # seconds since boot
    HUMAN = "dmesg -T"  # local dates
    DECODED = "dmesg -x"
    JOURNAL = "journalctl -k"
    SYSLOG = "/var/log/kern.log"  # RFC 3164, seconds since boot kept
    ISO_SYSLOG = "/var/log/kern.log, ISO dates"

    @property
    def dated(self) -> bool:
        """Whether its lines tell the wall clock."""
        return self not in (Form.BOOT, Form.DECODED)

    @property
    def survives_reboot(self) -> bool:
        """Whether lines of earlier boots are still in it: dmesg reads a ring in memory."""
        return self in (Form.JOURNAL, Form.SYSLOG, Form.ISO_SYSLOG)


@dataclass(frozen=True, slots=True)
class Dresser:
    """Puts messages of one host into a form. `boot` is the boot in effect."""

    form: Form
    host: Host
    boot: float
    start: float
    utc_offset: int

    def dress(self, message: Message) -> str:
        """The line for a message."""
        wall = clocks.local(self.host, message.time, self.start)
        uptime = f"[{max(message.time - self.boot, 0.0):12.6f}]"
        match self.form:
            case Form.BOOT:
                return f"{uptime} {message.text}"
            case Form.HUMAN:
                return f"[{clocks.ctime(wall, utc_offset=self.utc_offset)}] {message.text}"
            case Form.DECODED:
                return f"kern  :{message.level:<7}: {uptime} {message.text}"
            case Form.JOURNAL:
                return f"{self._journal_date(wall)} {self.host.name} kernel: {message.text}"
            case Form.SYSLOG:
                return f"{clocks.syslog(wall, utc_offset=self.utc_offset)} {self.host.name} kernel: {uptime} {message.text}"
            case Form.ISO_SYSLOG:
                zone = clocks.offset_text(self.utc_offset, colon=True)
                date = clocks.iso(wall, zone=zone, utc_offset=self.utc_offset)
                return f"{date} {self.host.name} kernel: {uptime} {message.text}"

    def _journal_date(self, wall: float) -> str:
        """journalctl pads the day with a zero where syslog pads with a space."""
        date = clocks.syslog(wall, utc_offset=self.utc_offset)
        return f"{date[:4]}{date[4:6].replace(' ', '0')}{date[6:]}"
