"""Python tracebacks whose lines somebody joined to one: what stood below each other is put there again.

Who folds lines: rsyslog (`$EscapeControlCharactersOnReceive`, on by default) writes `#012` for a line end; loggers and
exporters that print the representation of a string write a backslash and an n; web pages and spreadsheets a blank. Format of
the traceback: `traceback` of Python 3.8 to 3.14.
"""

from __future__ import annotations

from neuron_doctor.engine.regexes import regex

#: Behind the heading or the function of a frame: the line end of a syslog daemon, or that of a string's representation.
_ESCAPED = regex(r'(?:\(most recent call last\):|, in [^\n#\\"]{1,100})(?P<end>#012|\\n) *(?:File "|\S)')
_FRAME = regex(r'(?:^|(?<=\s)) ?File "[^"\n]{1,300}", line \d{1,7}, in [\w<>.]{1,120}(?=\s)')
#: The exception behind the code of the last frame.
_RAISED = regex(r"(?<=\s)[A-Za-z_][\w.]{0,120}(?:Error|Exception|Failure)(?=: |\s*$)")


def unfolded(text: str) -> str:
    """The text with its line ends, if it is a traceback that lost them; else as it is."""
    if 'File "' not in text or "\n" in text:
        return text
    if escaped := _ESCAPED.search(text):
        return text.replace(escaped["end"], "\n")
    frames = list(_FRAME.finditer(text))
    raised = _RAISED.search(text, frames[-1].end()) if frames else None
    if raised is None:
        return text
    parts, at = [], 0
    for frame in frames:
        parts += [text[at : frame.start()].rstrip(), f"  {frame[0].strip()}"]
        at = frame.end()
    parts += [f"    {text[at : raised.start()].strip()}", text[raised.start() :]]
    return "\n".join(part for part in parts if part)
