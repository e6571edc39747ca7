"""Makes text from logs harmless: for a terminal, for one line of JSON, for Markdown."""

from __future__ import annotations

from neuron_doctor.engine.regexes import regex

#: Prose is cut here: a title or a reason that is longer was made by a hostile or broken input.
LONGEST_PROSE = 800

#: A word with what a sentence puts before and after it.
_WORD = regex(r"([(\"']?)(.*?)([)\"'.,;:!?]*)\Z")
#: A word, a number, a date or a range in which no Markdown dialect sees markup, a mention, a reference or a link.
_PLAIN = regex(r"(?:[A-Za-z]+(?:[-'/][A-Za-z]+)*|[0-9]+(?:[-.,:][0-9]+)*%?)?\Z")
_BACKTICKS = regex("`+")


def visible(text: str) -> str:
    """`text` as one printable line: control characters, ANSI escapes, line ends, direction overrides, zero-width and
    undecodable characters are written out as in Python (`\\x1b`, `\\n`, `\\u202e`). Idempotent."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shortened(text: str, limit: int) -> str:
    """`text` cut after `limit` characters, the last three of which then are dots."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def code_span(text: str) -> str:
    """`text` as inline code of Markdown, in which nothing is markup."""
    line = visible(text).strip()
    if not line:
        return ""
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def prose(text: str) -> str:
    """`text` as a sentence of Markdown: each word that could mean something to a renderer becomes inline code, because
    that is the one place where forges look neither for markup nor for mentions and links."""
    return " ".join(_harmless(word) for word in shortened(visible(text), LONGEST_PROSE).split())


def _harmless(word: str) -> str:
    match = _WORD.match(word)
    if not match:
        return code_span(word)
    before, core, after = match.groups()
    return before + (core if _PLAIN.match(core) else code_span(core)) + after


def table_cell(markdown: str) -> str:
    """`markdown` so that it stays in one cell of a table: there a bar ends the cell even in inline code."""
    return markdown.replace("|", "\\|")


def code_block(lines: list[str]) -> list[str]:
    """`lines` as a fenced code block, with a fence that is longer than any run of backticks in them."""
    printable = [visible(line) for line in lines]
    fence = "`" * max(3, 1 + max(map(_longest_run, printable), default=0))
    return [fence + "text", *printable, fence]


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
