"""Logs of pods below the commands that showed them: `$ kubectl -n inference logs mistral-hp5x7 -c main --previous`.

What stands below, up to the next prompt, is of that container. Lines that begin with `+` may be those of a script in the
container itself, unless that is how the command above was echoed.

Of a workload (`deployment/llm`) or a label nothing is known: any of their pods may be shown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from neuron_doctor.collectors.command_lines import pipelines, tool_of
from neuron_doctor.collectors.prompts import ECHO, PROMPT
from neuron_doctor.collectors.shown_machines import ASIDE
from neuron_doctor.collectors.snapshot import command_of
from neuron_doctor.engine.facts import Collection, Fact, Place, pod_of
from neuron_doctor.engine.made_good import EARLIER, SHOWN
from neuron_doctor.engine.regexes import regex

_CLIENTS = frozenset({"kubectl", "oc", "k"})
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
    | {"-o", "--output", "--template", "--field-selector", "--sort-by"}  # of `kubectl get`
)
_OF_PODS = frozenset({"pod", "pods", "po"})
_NAME = regex(r"[a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?")


class Shown(Struct, frozen=True):
    """Whose log a command shows, and whether it is that of the container before its last start."""

    container: str
    earlier: bool


class _Asked(Struct):
    """What a client of Kubernetes was asked: words that are no options, the container, whether for that before its last start."""

    words: list[str]
    container: str = ""
    namespace: str = ""
    earlier: bool = False
    labelled: bool = False
    several: bool = False


def shown_by(command: str) -> Shown | None:
    """What a command shows; None where it is none that shows the log of one pod, or shows more than that."""
    try:
        commands = [pipeline.words for pipeline in pipelines(command)]
    except ValueError:  # a quotation mark too many
        return None
    shown = {_shown_by(words) for words in commands if words[0] not in ASIDE}
    return shown.pop() if len(shown) == 1 else None


def executed_by(words: Sequence[str]) -> tuple[str, Sequence[str]] | None:
    """The container in which `kubectl exec` runs a command, and that command; None for anything else."""
    if tool_of(words) not in _CLIENTS or "--" not in words:
        return None
    at = words.index("--")
    asked = _asked(words[:at])
    name = _pod(asked.words[1:]) if asked.words[:1] == ["exec"] and not asked.labelled else ""
    return (_in_pod(name, asked.container), words[at + 1 :]) if name else None


def asked_pods(words: Sequence[str]) -> tuple[str, str] | None:
    """The one pod that a `kubectl get` asks for, if it names one, and the namespace; None for a command that asks for no pods."""
    asked = _asked(words)
    if tool_of(words) not in _CLIENTS or asked.words[:1] != ["get"] or len(asked.words) == 1:
        return None
    kind, slash, name = asked.words[1].partition("/")
    if kind not in _OF_PODS:
        return None
    names = [name] if slash else asked.words[2:]
    alone = names[0] if len(names) == 1 and _NAME.fullmatch(names[0]) else ""
    return alone, asked.namespace


def _shown_by(words: Sequence[str]) -> Shown | None:
    if tool_of(words) not in _CLIENTS:
        return None
    asked = _asked(words)
    if asked.labelled or asked.words[:1] not in (["logs"], ["log"]):
        return None
    _, *of = asked.words
    container = "" if asked.several else asked.container or (of[1] if len(of) > 1 else "")
    name = _pod(of[:1]) if len(of) <= 2 else ""  # noqa: PLR2004 - a pod, and its container
    return Shown(_in_pod(name, container), asked.earlier) if name else None


def _asked(words: Sequence[str]) -> _Asked:
    asked, valued = _Asked([]), ""
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if not valued and word.startswith("-") and not word.startswith("--"):
            letters = len(word) - len(word[1:].lstrip("pf")) - 1  # those of options without a value
            asked.earlier |= "p" in word[1 : letters + 1] and value != "false"
            name, value = f"-{word[letters + 1 :][:1]}", word[letters + 2 :].removeprefix("=")
            equals = value
        if valued:
            asked.container = word if valued in ("-c", "--container") else asked.container
            asked.namespace = word if valued in ("-n", "--namespace") else asked.namespace
            valued = ""
        elif word.startswith("-"):
            asked.container = value if name in ("-c", "--container") and equals else asked.container
            asked.namespace = value if name in ("-n", "--namespace") and equals else asked.namespace
            asked.earlier |= name == "--previous" and value != "false"
            asked.several |= name == "--all-containers" and value != "false"
            asked.labelled |= name in ("-l", "--selector")
            valued = name if name in _VALUED and not equals else ""
        else:
            asked.words.append(word)
    return asked


def _pod(words: Sequence[str]) -> str:
    """The one pod that is named; nothing for a workload, or what a shell has yet to fill in."""
    kind, slash, name = words[0].rpartition("/") if len(words) == 1 else ("", "", "")
    return name if (not slash or kind in _OF_PODS) and _NAME.fullmatch(name) else ""


def _in_pod(name: str, container: str) -> str:
    return f"{name}/{container}" if _NAME.fullmatch(container) else name


def placed_by_commands(collection: Collection) -> Collection:
    """The collection with the containers whose logs commands in the files themselves show, for what has no place."""
    headings: dict[str, list[Fact]] = defaultdict(list)
    for fact in collection.facts:
        if fact.kind == "section" and fact.data["form"] in (PROMPT, ECHO):
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
    ends = ((f.span.offset, of) for f, of in shown if f.data["form"] == PROMPT or _prompt(f) in prompts)
    return list(ends) if prompts else []


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
