"""Texts about failures that are no evidence of one: this program's own reports and rules, and people's notes.

A report written into the directory that it was made from quotes every bad line of it, and a rule file quotes those of
other people's jobs. Notes (Markdown, runbooks) quote what somebody saw, somewhere, some day; they count as evidence only where
nothing else was collected, and that is for the engine to decide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from neuron_doctor.collectors.base import HEAD, Collector, Input
from neuron_doctor.engine.facts import Fact
from neuron_doctor.engine.regexes import regex

#: What stands first: in the reports in JSON, in text and Markdown, in a rule file.
_OWN = regex(
    rb"\A(?:\xef\xbb\xbf)?\s{0,8}(?:\{\s{0,8}\"schema\": ?\"neuron-doctor/"
    rb"|# yaml-language-server: \$schema=[^\n]{0,100}rule\.schema\.json)"
)
_HEADLINE = regex(
    rb"\A(?:\xef\xbb\xbf)?(?:# )?(?:\d{1,6} )?(?:ROOT CAUSES?|VICTIMS ONLY|UNKNOWN FAILURE|NOT EVALUABLE|HARMLESS AS FAR AS SEEN"
    rb"|HEALTHY AS FAR AS SEEN): "
)
#: A line that every report in words has near its headline or at its end.
_OF_A_REPORT = regex(
    rb"^(?:  (?:what |cause)       |  Only what was collected was checked|[Cc]hecked with \d{1,6} rules|## Root cause"
    rb"|(?:  h|## H)idden by the site file until )",
    re.MULTILINE,
)
_HEADING = regex(rb"\A(?:\xef\xbb\xbf)?\s{0,8}#{1,3} [^\n]{1,200}\n")
#: The head of a letter, or of a ticket that was mailed. Scripts begin so too (`From: s3://…`), but with one such line.
_LETTER = regex(
    rb"\A(?:\xef\xbb\xbf)?\s{0,8}(?:From|To|Cc|Subject): {0,4}\S[^\n]{0,400}\n(?P<more>(?:[A-Z][a-z]{1,20}-?){1,3}: )?"
)
#: The title of an alert as Alertmanager, Grafana, PagerDuty, Opsgenie and CloudWatch tell people of it.
_ALERT = regex(
    rb"\A(?:\xef\xbb\xbf)?\s{0,8}(?:"
    rb"\[(?:(?:FIRING|RESOLVED)(?::\d{1,5})?(?:, ?RESOLVED:\d{1,5})?|Alerting)\] "
    rb"|(?:TRIGGERED|ACKNOWLEDGED|RESOLVED) Incident #\d|Opsgenie alert: |ALARM: \"[^\"\n]{1,250}\" in "
    rb"|You are receiving this email because your Amazon CloudWatch Alarm )"
)
#: What a runbook says before it quotes a message. Programs give such hints too, but their output has other marks.
_ADVICE = regex(rb"^[-*\d. \t]{0,8}(?:If|When|Whenever|In case) (?:you|we) (?:see|find|get) ", re.MULTILINE)
#: What people call a file that they write into, or copy a talk to.
_CALLED_NOTES = regex(
    r"(?<![a-z])(?:notes?|e?-?mails?|slack|chat|ticket|change|incident|pager(?:duty)?|on-?call|jira|handover|handoff|postmortem|memo)(?![a-z])",
    re.IGNORECASE,
)
#: What programs write into is called so, after a model (`llama-2-7b-chat.log`) or an incident.
_CALLED_OUTPUT = regex(r"\.(?:log|out|err|stdout|stderr)(?![a-z])", re.IGNORECASE)
#: What is quoted between fences, and a word of a sentence, with marks around it.
_QUOTATION = regex(r"^```.*?(?:^```|\Z)", re.MULTILINE | re.DOTALL)
_WORD = regex(r"[^\w\s=/]*[^\W\d_]+(?:['’-][^\W\d_]+)*[^\w\s=/]*")
#: What a script heads an output with: the command that printed it, known by its name, its options or what it hands on.
_COMMAND = regex(
    r"[^\n]*(?:\s-{1,2}[A-Za-z]|\s\|\s|\s/\w)|(?:sudo )?(?:kubectl|systemctl|sinfo|squeue|scontrol|sacct|dmesg|journalctl"
    r"|neuron-\w{2,9}|lspci|lsmod|modinfo|dpkg|rpm|pip3?|df|free|ps|uptime|uname|ulimit|env|cat|ls|grep|docker|aws|nccom-test|ip"
    r"|ethtool|fi_info)\s"
)
#: So many words make a sentence, if at least half of all in the line are words; so many signs do that no spaces part.
_SENTENCE = 3
_UNPARTED = regex(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{4}")
#: A traceback, perhaps behind the label of a rank or process.
_TRACEBACK = rb"^(?:[\[(]?[\w.=-]{1,64}[\])]?(?:: ?| ?\| ?| ))?Traceback "
#: How a program begins a line, or the message in it.
_LINE_OF_A_PROGRAM = regex(
    rb"^[^\n]{0,40}?(?:\d{4}-(?:\d\d|[A-Z][a-z]{2})-\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
    rb"|\[ {0,11}\d{1,9}\.\d{6}\])|" + _TRACEBACK + rb"|\b(?:ERROR|WARN|INFO)",
    re.MULTILINE,
)
_OF_A_PROGRAM = regex(rb"\d\d:\d\d|^\[ {0,11}\d{1,9}\.\d{6}\]|" + _TRACEBACK + rb"|\b(?:ERROR|WARN|INFO)", re.MULTILINE)
#: A line that begins with a time, perhaps behind a label of who speaks.
_TIMED = regex(
    r"(?:[\w.:-]{1,64}[|:\]] {1,4}|\[[^\]\n]{1,64}\]:? ?)?(?:[A-Z]?\d{4}(?:-|\d\d:?)|\d\d:\d\d:|\[ {0,11}\d{1,9}\.\d{6}\])"
)
_MOSTLY = 0.8
_OUTPUT = regex(rb"^(?:\d{4}-(?:\d\d|[A-Z][a-z]{2})-\d\d[T ]\d\d:|\[ {0,11}\d{1,9}\.\d{6}\]|Traceback )", re.MULTILINE)
_FENCE_OR_HEADING = regex(rb"^(?:```|#{2,4} \S)", re.MULTILINE)
#: Headings of a script, each with the stack of a process right below (py-spy; Python's faulthandler).
_FENCE_OR_ANY_HEADING = regex(rb"^(?:```|#{1,4} \S[^\n]{0,300}\n)", re.MULTILINE)
_STACK = regex(rb"\s{0,8}(?:Process \d{1,9}: [^\n]{1,400}\n|(?:Current t|T)hread 0x[\da-f]{4,16})")


def is_paper(head: bytes, _name: str) -> bool:
    """Whether this program wrote it, or it is one of its rules."""
    return bool(_OWN.match(head) or (_HEADLINE.match(head) and _OF_A_REPORT.search(head)))


def is_notes(head: bytes, name: str = "") -> bool:
    """Whether it is a letter or tells of an alert; Markdown: a heading, then further ones or a quotation between fences; or
    advice, or prose in what is called notes, and no output."""
    letter = _LETTER.match(head)
    if letter is not None:
        return letter["more"] is not None or _OUTPUT.search(head) is None
    if _ALERT.match(head) is not None:
        return _OUTPUT.search(head) is None
    if _HEADING.match(head) is not None and _FENCE_OR_HEADING.search(head, 1) is not None:
        return not (_shows_stacks(head) or _is_output(head))
    # in this order: of nearly every log the first line is a program's
    if _OF_A_PROGRAM.search(head) is None and _ADVICE.search(head) is not None:
        return True
    called = _CALLED_NOTES.search(name) is not None and _CALLED_OUTPUT.search(name) is None
    return called and _LINE_OF_A_PROGRAM.search(head) is None and _is_prose(head.decode("utf-8", "replace"))


def _is_prose(text: str) -> bool:
    """Whether half of it are sentences, quotations aside: programs say the same again, and no person does."""
    lines = [line.split() for line in _QUOTATION.sub("", text).split("\n") if line.strip()]
    said = [_words(line) for line in lines]
    often = Counter(said)
    sentences = (
        len(line) for line, words in zip(lines, said, strict=True) if often[words] == 1 and _is_sentence(line, words)
    )
    return sum(sentences) * 2 >= sum(map(len, lines))


def _words(line: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for word in line if _WORD.fullmatch(word))


def _is_sentence(line: Sequence[str], words: Sequence[str]) -> bool:
    return (len(words) >= _SENTENCE and len(words) * 2 >= len(line)) or any(map(_UNPARTED.search, line))


def _is_output(head: bytes) -> bool:
    """Whether a script wrote the headings, between what its programs printed: no fence, and nearly nothing without a time, or
    neither a heading nor half of the rest in sentences."""
    lines = [line for line in head.decode("utf-8", "replace").split("\n") if line.strip()]
    titles = [line.lstrip("# ") for line in lines if line.startswith("#")]
    headings = [title.split() for title in titles if not _COMMAND.match(title)]
    printed = [line for line in lines if not line.startswith("#")]
    timed = sum(1 for line in printed if _TIMED.match(line))
    told = any(_is_sentence(heading, _words(heading)) for heading in headings) or _is_prose("\n".join(printed))
    return b"```" not in head and (timed > _MOSTLY * len(printed) or not told)


def _shows_stacks(head: bytes) -> bool:
    """Whether there is a stack below each heading, but the last one where the head ends in it, and nothing is quoted."""
    marks = list(_FENCE_OR_ANY_HEADING.finditer(head))
    whole = marks[:-1] if len(head) >= HEAD else marks
    return bool(whole) and all(_STACK.match(head, mark.end()) for mark in whole)


def _collect(_inp: Input) -> Iterable[Fact]:
    return ()


COLLECTOR = Collector("paper", "reports and rules of this program, which quote other evidence", is_paper, _collect)
