"""What the clocks of a host read at a true time, and the common forms in which programs print it."""

from datetime import UTC, datetime, timedelta

from neuron_doctor.corpus.simulator.job import Host

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def local(host: Host, t: float, start: float) -> float:
    """The host's wall clock at the true time `t`, in seconds since the epoch; `start` is the job's start."""
    return t + host.clock.offset + host.clock.drift * (t - start)


def since_boot(host: Host, t: float) -> float:
    """The host's monotonic clock at the true time `t`: what dmesg counts. Steps of the wall clock do not touch it."""
    return t - host.boot


def iso(seconds: float, *, digits: int = 6, zone: str = "", utc_offset: int = 0, separator: str = "T") -> str:
    """2024-03-05T12:34:56.123456 and its variants. `zone` is printed as it is: "Z", "+00:00" or nothing."""
    day, fraction = _split(seconds, digits, utc_offset)
    return f"{day:%Y-%m-%d}{separator}{day:%H:%M:%S}{fraction}{zone}"


def runtime(seconds: float, *, utc_offset: int = 0) -> str:
    """2024-Mar-05 12:34:56.123456: the form of the Neuron runtime and of CCOM."""
    day, fraction = _split(seconds, 6, utc_offset)
    return f"{day.year:04d}-{_MONTHS[day.month - 1]}-{day:%d %H:%M:%S}{fraction}"


def python_logging(seconds: float, *, utc_offset: int = 0) -> str:
    """2024-03-05 12:34:56,123: asctime of Python's logging."""
    day, fraction = _split(seconds, 3, utc_offset)
    return f"{day:%Y-%m-%d %H:%M:%S},{fraction[1:]}"


def glog(seconds: float, *, digits: int = 6, utc_offset: int = 0) -> str:
    """0305 12:34:56.123456: what follows the level letter in c10 and glog lines (torchelastic: `digits` = 3 and so on)."""
    day, fraction = _split(seconds, digits, utc_offset)
    return f"{day:%m%d %H:%M:%S}{fraction}"


def syslog(seconds: float, *, utc_offset: int = 0) -> str:
    """Mar  5 12:34:56: RFC 3164, without a year."""
    day, _ = _split(seconds, 0, utc_offset)
    return f"{_MONTHS[day.month - 1]} {day.day:2d} {day:%H:%M:%S}"


def ctime(seconds: float, *, utc_offset: int = 0) -> str:
    """Tue Mar  5 12:34:56 2024: C's ctime, as `dmesg -T` prints it."""
    day, _ = _split(seconds, 0, utc_offset)
    return f"{_DAYS[day.weekday()]} {syslog(seconds, utc_offset=utc_offset)} {day.year}"


def rfc1123(seconds: float, *, utc_offset: int = 0) -> str:
    """Tue, 05 Mar 2024 12:34:56 +0000: kubectl describe."""
    day, _ = _split(seconds, 0, utc_offset)
    month, hours = _MONTHS[day.month - 1], offset_text(utc_offset)
    return f"{_DAYS[day.weekday()]}, {day:%d} {month} {day.year} {day:%H:%M:%S} {hours}"


def offset_text(utc_offset: int, *, colon: bool = False) -> str:
    """+0530 or, with `colon`, +05:30."""
    minutes = abs(utc_offset) // 60
    sign = "-" if utc_offset < 0 else "+"
    return f"{sign}{minutes // 60:02d}{':' if colon else ''}{minutes % 60:02d}"


def _split(seconds: float, digits: int, utc_offset: int) -> tuple[datetime, str]:
    """The day and time to the whole second, and the fraction's text with its point ("" for no digits)."""
    scaled = int(seconds * 10**6)  # floats of today hold microseconds, no more
    whole, micros = divmod(scaled, 10**6)
    fraction = "" if digits == 0 else f".{micros:06d}".ljust(digits + 1, "0")[: digits + 1]
    return _EPOCH + timedelta(seconds=whole + utc_offset), fraction
