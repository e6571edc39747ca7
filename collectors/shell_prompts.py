"""What a shell prompts, and the command behind it: the one description of it.

Shells show the name of their host before each command: Debian and Ubuntu `user@host:dir$ ` (and, as the title of the window,
`user@host: dir`), Red Hat and Amazon Linux `[user@host dir]$ `, who likes it short `host:~/dir$ `, `[host:~/dir] $ ` or, where
the name has the shape of a host's, `[host ~]$ `. A command names other hosts the same way (`scp x u@b:/tmp`), so only the
beginning of a line counts. A prompt that names no host for sure (`$ `, `sh-5.2$ `, `root@3f9d0c1a22be:/w# `, `me@laptop ~ % `) is
one nevertheless: what the command above it showed ends there.
"""

from __future__ import annotations

from msgspec import Struct

from neuron_doctor.collectors.hints import has_shape_of_host
from neuron_doctor.collectors.prefixes import cleaned
from neuron_doctor.engine.regexes import regex

_USER, _HOST, _SHORT = r"[A-Za-z_][\w.-]{0,31}@", r"(?:[A-Za-z][\w.-]{0,252}|[\da-f]{12})", r"[A-Za-z][\w.-]{1,62}"
#: With the directory that every shell has: `~`, one below it, or an absolute one.
_NAMED = (
    rf"{_USER}(?P<colon>{_HOST}):[~/][^\s$#]{{0,200}}[$#]",
    rf"\[{_USER}(?P<bracket>{_HOST}) [^\]\n]{{1,200}}\][$#]",
    rf"(?P<short>{_SHORT}):~[^\s$#]{{0,200}}[$#]",
    rf"\[(?P<first>{_SHORT}) [~/][^\]\n]{{0,200}}\] ?[$#]",
    rf"\[(?P<within>{_SHORT}):[~/][^\s\]]{{0,200}}\] ?[$#%]",
)
_UNNAMED = (
    r"\$",
    r"(?P<plain>(?:ba|da|a|k|z)?sh-\d\.\d{1,2}[$#])",
    rf"{_USER}[\w.-]{{1,252}}[: ][^\n$#%]{{0,100}}[$#%]",
    r"\[\d\d:\d\d(?::\d\d)?\] ?[$#%]",
    r"\[(?:[^\]\n]{0,60}[ @:])?[~/][^\]\n]{0,100}\] ?[$#%]",
    r"\[[\w.-]{1,63} [\w.~/-]{1,60}\] ?[$#]",
    r"[A-Za-z][\w.-]{0,62}:[~/][^\s$#]{0,200}[$#]",
    r"(?P<word>[A-Za-z][\w.-]{0,62})\$",
    r"[~/][\w./~-]{0,200}[$#]",
    r"[➜❯]",
)
_FORM = regex(rf"(?:\([\w.-]{{1,40}}\) )?(?:{'|'.join((*_NAMED, *_UNNAMED))})(?=[ \t]|$)[ \t]*(?P<command>[^\n]*)")
#: What stands where a short prompt has the host, and is none.
_USERS = frozenset(
    {"root", "ubuntu", "admin", "user", "ec2-user", "centos", "rocky", "debian", "hadoop", "jovyan", "sagemaker-user"}
)
#: What Docker calls a container that was given no name.
_CONTAINER = regex(r"[\da-f]{12}")
#: How they look in bytes, to find those that may be one among many lines; sums of money are not.
ENDS_IN_BYTES = (
    r"\$(?:[ \t]{1,8}[A-Za-z_./~!({:\"'\\]|[ \t]{0,8}[\r\n\x1b])"
    r"|[\w~/\]]#[ \t\r\n\x1b]|\] ?%[ \t\r\n\x1b]|@[^\n]{1,120}% |➜ |❯ "
)
#: No prompt is looked for in more of a line (bytes).
_LONGEST = 2048


class Prompt(Struct, frozen=True):
    """A command; the host, or the container without a name, that the prompt names, if it does; whether it is that of a shell that
    was told nothing else; and the mere word that it is, which may be a host's name."""

    command: str
    host: str = ""
    container: str = ""
    plain: bool = False
    word: str = ""


def prompt_of(text: str) -> Prompt | None:
    """The prompt with which a line without colours begins."""
    ended = "$" in text or "#" in text or "%" in text or "➜" in text or "❯" in text  # as few lines are
    if not ended or not (found := _FORM.match(text)):
        return None
    short = found["short"] or found["within"] or ""
    first = found["first"] or ""  # as often a user
    short = short or (first if has_shape_of_host(first) else "")
    host = found["colon"] or found["bracket"] or ("" if short in _USERS else short)
    named, container = ("", host) if _CONTAINER.fullmatch(host) else (host, "")
    return Prompt(found["command"], named, container, bool(found["plain"]), found["word"] or "")


def prompt_on(raw: bytes) -> Prompt | None:
    """The last prompt on a line, on which a terminal may have written several. None begins with a digit, as many lines do."""
    if raw[:1].isdigit() and b"\r" not in raw:
        return None
    texts = reversed(cleaned(raw[:_LONGEST].decode("utf-8", "replace")).split("\r"))
    return next(filter(None, map(prompt_of, texts)), None)
