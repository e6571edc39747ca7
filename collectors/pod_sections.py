"""Logs of pods below the commands that showed them: `$ kubectl -n inference logs mistral-hp5x7 -c main --previous`.

What stands below, up to the next command at a prompt alike, is of that container. Lines that begin with `+` may be those of a
script in the container itself. Of a workload (`deployment/llm`) or a label nothing is known: any of their pods may be shown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from shlex import shlex

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors.snapshot import command_of
from neuron_doctor.engine.facts import Collection, Fact, Place, pod_of
from neuron_doctor.engine.made_good import EARLIER, SHOWN
from neuron_doctor.engine.regexes import regex

_CLIENTS = frozenset({"kubectl", "oc"})
#: Options of kubectl, and of `kubectl logs`, that a value follows.
_VALUED = frozenset(
    {
        "-n",
        "--namespace",
        "-c",
        "--container",
        "--context",
        "--kubeconfig",
        "--cluster",
        "--user",
        "-s",
        "--server",
        "-l",
    }
    | {
        "--selector",
        "--since",
        "--since-time",
        "--tail",
        "--limit-bytes",
        "--max-log-requests",
        "--pod-running-timeout",
    }
    | {"--as", "--token", "--request-timeout"}
)
_OF_PODS = frozenset({"pod", "pods", "po"})
#: What prints nothing, or a line of its own, before or after a command.
_ASIDE = frozenset({"cd", "set", "export", "sleep", "true", ":", "echo", "printf", "date"})
_NESTED, _INTO_FILE, _BETWEEN = regex(r"[<>&|;]*[()][()<>&|;]*"), regex(r"[&|]*[<>][<>&|]*"), regex(r"[;&|]+")
_ASSIGNED = regex(r"[A-Za-z_]\w{0,100}=")
_NAME = regex(r"[a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?")


class Shown(Struct, frozen=True):
    """Whose log a command shows, and whether it is that of the container before its last start."""

    container: str
    earlier: bool


def shown_by(command: str) -> Shown | None:
    """What a command shows; None where it is none that shows the log of one pod, or shows more than that."""
    try:
        pipelines = list(_pipelines(command))
    except ValueError:  # a quotation mark too many
        return None
    shown = {_shown_by(words) for words in pipelines if words[0] not in _ASIDE}
    return shown.pop() if len(shown) == 1 else None


def _pipelines(line: str) -> Iterator[list[str]]:
    """The words of the first command of each pipeline on a line, without what it sends elsewhere. Raises ValueError for a line
    that is not closed, or runs commands within others."""
    tokens = shlex(line.removesuffix("\\"), posix=True, punctuation_chars=True)
    tokens.whitespace_split = True
    words: list[str] = []
    into_file = filtered = False
    for token in (*tokens, ";"):
        if into_file:
            into_file = False
        elif _NESTED.fullmatch(token):
            raise ValueError(token)
        elif _INTO_FILE.fullmatch(token):
            words = words[:-1] if words and words[-1] in ("1", "2") else words  # 2> errors
            into_file = True
        elif _BETWEEN.fullmatch(token):
            filtered = token in ("|", "|&")
            if words and not filtered:
                yield words
                words = []
        elif not filtered and (words or not (token in ("sudo", "time") or _ASSIGNED.match(token))):
            words = [*words, token]


def _shown_by(words: Sequence[str]) -> Shown | None:
    if words[0].rpartition("/")[2] not in _CLIENTS:
        return None
    plain: list[str] = []
    container, earlier, several, valued = "", False, False, ""
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if not valued and word.startswith("-") and not word.startswith("--"):
            letters = len(word) - len(word[1:].lstrip("pf")) - 1  # those of options without a value
            earlier |= "p" in word[1 : letters + 1] and value != "false"
            name, value = f"-{word[letters + 1 :][:1]}", word[letters + 2 :].removeprefix("=")
            equals = value
        if valued:
            container = word if valued in ("-c", "--container") else container
            valued = ""
        elif word.startswith("-"):
            container = value if name in ("-c", "--container") and equals else container
            earlier |= name == "--previous" and value != "false"
            several |= name == "--all-containers" and value != "false"
            valued = name if name in _VALUED and not equals else ""
            if name in ("-l", "--selector"):
                return None
        else:
            plain.append(word)
    return _shown(plain, "" if several else container, earlier=earlier)


def _shown(words: Sequence[str], container: str, *, earlier: bool) -> Shown | None:
    if len(words) not in (2, 3) or words[0] not in ("logs", "log"):  # the verb, and of what
        return None
    kind, slash, name = words[1].rpartition("/")
    if (slash and kind not in _OF_PODS) or not _NAME.fullmatch(name):
        return None
    named = container or (words[2] if len(words) > 2 else "")  # noqa: PLR2004
    return Shown(f"{name}/{named}" if _NAME.fullmatch(named) else name, earlier)


def placed_by_commands(collection: Collection) -> Collection:
    """The collection with the containers whose logs commands in the files themselves show, for what has no place."""
    headings: dict[str, list[Fact]] = defaultdict(list)
    for fact in collection.facts:
        if fact.kind == "section" and fact.data["form"] == "shell":
            headings[fact.span.path].append(fact)
    found = {path: below for path, told in headings.items() if (below := _below(told))}
    if not found:
        return collection
    alone = {path: below[0][1] for path, below in found.items() if len(below) == 1 and below[0][0] == 0}
    sources = tuple(
        replace(s, place=_in(s.place, shown)) if (shown := alone.get(s.path)) else s for s in collection.sources
    )
    facts = tuple(_placed(f, found[f.span.path]) if f.span.path in found else f for f in collection.facts)
    return Collection(sources, facts)


def _below(headings: Sequence[Fact]) -> list[tuple[int, Shown | None]]:
    """From where on a file shows whose log, as its headings tell; nothing where none of them shows a log."""
    ordered = sorted(headings, key=lambda fact: fact.span.offset)
    shown = [(fact, shown_by(command_of(fact.span.text) or "")) for fact in ordered]
    prompts = {_prompt(fact) for fact, of in shown if of}
    return [(f.span.offset, of) for f, of in shown if _prompt(f) in prompts] if prompts else []


def _prompt(heading: Fact) -> str:
    """What stands before the command: that of a script echoes (`+`), or that of a shell."""
    text = heading.span.text
    return text.removesuffix(command_of(text) or "").strip()


def _placed(fact: Fact, below: Sequence[tuple[int, Shown | None]]) -> Fact:
    at = bisect_right(below, fact.span.offset, key=lambda one: one[0]) - 1
    shown = below[at][1] if at >= 0 else None
    if shown is None:
        return fact
    if fact.span.offset == below[at][0] and fact.kind == "section":
        fact = replace(fact, data={**fact.data, "command": EARLIER if shown.earlier else SHOWN})
    return replace(fact, place=_in(fact.place, shown))


def _in(place: Place, shown: Shown) -> Place:
    """The place in the container, unless it is in another already. A host that is called after the pod is the pod."""
    if place.container is not None:
        return place
    return replace(place, container=shown.container, host=None if place.host == pod_of(shown.container) else place.host)
