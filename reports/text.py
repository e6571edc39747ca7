"""The report for a person at a terminal: first screen what failed, why we think so and what to do; then the details."""

from __future__ import annotations

from neuron_doctor.engine.grades import Status
from neuron_doctor.engine.verdict import Diagnosis, Finding
from neuron_doctor.reports.collecting import collected_words, how_to_collect, need_words
from neuron_doctor.reports.escape import LONGEST_PROSE, shortened, visible
from neuron_doctor.reports.lines import BLANK, Line, Style, joined, paragraph
from neuron_doctor.reports.site import expired, expired_words, gone, gone_words, hidden
from neuron_doctor.reports.summary import collected, grouped, lacking, overlooked, roots, shown, worth_a_look
from neuron_doctor.reports.text_details import details
from neuron_doctor.reports.text_finding import group_block, heading, left_out, noted, root_cause
from neuron_doctor.reports.wording import counted, status_words

#: Outside these bounds lines are hard to read; a narrower terminal has to fold them itself.
_NARROWEST, _WIDEST = 40, 120

#: Without `--verbose` so many findings are told in full, and so many kinds of missing input.
_IN_FULL, _NEEDS = 3, 6

_STYLE = {
    Status.ROOT_CAUSE: Style.BAD,
    Status.VICTIMS_ONLY: Style.WARN,
    Status.UNKNOWN_FAILURE: Style.BAD,
    Status.NOT_EVALUABLE: Style.WARN,
    Status.BENIGN: Style.GOOD,
    Status.HEALTHY: Style.GOOD,
}


def render_text(diagnosis: Diagnosis, *, width: int, colour: bool, verbose: bool = False) -> str:
    """The report, wrapped to `width` columns (40 to 120). Longer lines are only those that must stay in one piece to
    be of use: `path:line` of evidence, and commands. `verbose` leaves nothing out; otherwise lists end with a count."""
    width = min(max(width, _NARROWEST), _WIDEST)
    found = roots(diagnosis)
    lines = [
        *_verdict(diagnosis, width),
        *(_roots(diagnosis, found, width, verbose=verbose) if found else ()),
        *_hidden(diagnosis, width, verbose=verbose),
        *(() if found else _seen(diagnosis, width, verbose=verbose)),
        *_not_checked(diagnosis, width, verbose=verbose),
        *details(diagnosis, width, verbose=verbose),
    ]
    return joined(lines, colour=colour)


def render_headline(diagnosis: Diagnosis) -> str:
    """The verdict in one line; that of a part of what was given says so."""
    partial = "" if diagnosis.verdict.complete else "PARTIAL: "
    return f"{partial}{shortened(visible(diagnosis.verdict.headline), LONGEST_PROSE)}\n"


def _verdict(diagnosis: Diagnosis, width: int) -> list[Line]:
    verdict = diagnosis.verdict
    label, meaning = status_words(diagnosis)
    lines = paragraph(verdict.headline, width, f"{label}: ", "  ", style=_STYLE[verdict.status])
    lines += paragraph(meaning, width, "  ") if meaning else []
    if not verdict.complete:
        text = "not everything that was given could be read in time; what is absent here may be there."
        lines += paragraph(text, width, "  PARTIAL: ", style=Style.WARN)
    if verdict.replaces:
        lines += paragraph(f"before all was read it was: {verdict.replaces}", width, "  REPLACES: ", style=Style.WARN)
    return lines


def _roots(diagnosis: Diagnosis, found: list[Finding], width: int, *, verbose: bool) -> list[Line]:
    lines: list[Line] = []
    shown = found if verbose else found[:_IN_FULL]
    for number, root in enumerate(shown, start=1):
        title = f"Root cause {number} of {len(found)}"
        lines += [BLANK, Line(title, Style.STRONG)] if len(found) > 1 else [BLANK]
        lines += root_cause(diagnosis, root, width, verbose=verbose)
    lines += [BLANK] if len(found) > len(shown) else []
    lines += left_out(len(found) - len(shown), "root cause", width)
    other = grouped(worth_a_look(diagnosis))
    return lines + group_block("seen as well, and not explained by it", other, width, verbose=verbose)


def _seen(diagnosis: Diagnosis, width: int, *, verbose: bool) -> list[Line]:
    """What stands in for a root cause where there is none: what to look at, what else was seen, what was read."""
    focus = worth_a_look(diagnosis) if verbose else worth_a_look(diagnosis)[:_IN_FULL]
    lines = [line for finding in focus for line in noted(finding, width, verbose=verbose)]
    told = {finding.id for finding in focus}
    rest = grouped(finding for finding in shown(diagnosis) if finding.id not in told)
    lines += group_block("what else was seen" if focus else "what was seen", rest, width, verbose=verbose)
    lines += heading("what was collected", width) if diagnosis.sources else []
    for kind in collected(diagnosis.sources):
        lines += paragraph(collected_words(kind), width, "    ", "      ")
    return lines


def _hidden(diagnosis: Diagnosis, width: int, *, verbose: bool) -> list[Line]:
    """What the site file hides, until when and why; in full only if `verbose`. Silences that have ended are told too,
    and what is left out of the file."""
    lines: list[Line] = []
    for silence, findings in hidden(diagnosis):
        title = f"hidden by the site file until {silence.until}: {silence.reason}"
        lines += group_block(title, grouped(findings), width, verbose=verbose)
        lines += [line for finding in findings if verbose for line in noted(finding, width, verbose=True)]
    ended = expired(diagnosis)
    lines += heading("silences of the site file that have ended", width) if ended else []
    for silence in ended:
        lines += paragraph(expired_words(silence), width, "    - ", style=Style.WARN)
    lines += heading("left out of the site file, because it is not there", width) if gone(diagnosis) else []
    for one in gone(diagnosis):
        lines += paragraph(gone_words(one), width, "    - ", style=Style.WARN)
    return lines


def _not_checked(diagnosis: Diagnosis, width: int, *, verbose: bool) -> list[Line]:
    """What was never collected, folded by what would have served, and how to collect it."""
    needs = lacking(diagnosis)
    brief = bool(diagnosis.root_causes) and not verbose
    missing = [*diagnosis.missing, *overlooked(diagnosis)]
    lines = heading("not checked, because it was not collected", width) if needs or missing else []
    for what in missing:
        lines += paragraph(what, width, "    - ")
    shown = needs if verbose else needs[: _IN_FULL if brief else _NEEDS]
    told = {""}
    for need, rules in shown:
        lines += paragraph(f"{need_words(need)}: {counted(rules, 'rule')} could not be checked", width, "    - ")
        how = "" if brief else how_to_collect(need)
        lines += [] if how in told else paragraph(how, width, "      get it: ")
        told.add(how)
    return lines + left_out(len(needs) - len(shown), "kind of input", width)
