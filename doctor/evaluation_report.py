"""The tables of an evaluation, for people (Markdown that reads well on a terminal) and for scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from neuron_doctor.evaluation import Outcome, Reliability, Tally, by, reliability, tally

_HEAD = ("incidents", "top-1", "exact set", "no root", "innocent blamed", "wrong drain")


def evaluation_text(outcomes: Sequence[Outcome], cases: Sequence[tuple[str, list[str]]]) -> str:
    """All tables: over all, by class of fault, by what was missing, how sure and how often right, labelled incidents."""
    parts = [
        _table("all", [("simulated", tally(outcomes))]) if outcomes else [],
        _table("fault", by(outcomes, _faults).items()) if outcomes else [],
        _table("missing", by(outcomes, _loss).items()) if outcomes else [],
        _reliability(reliability(outcomes)) if outcomes else [],
        _cases(cases) if cases else [],
    ]
    return "\n".join(line for part in parts if part for line in (*part, "")) + "\n"


def evaluation_object(outcomes: Sequence[Outcome], cases: Sequence[tuple[str, list[str]]]) -> dict[str, object]:
    """The same as a JSON object, with every incident that was not exactly right."""
    return {
        "all": asdict(tally(outcomes)),
        "by_fault": {name: asdict(row) for name, row in by(outcomes, _faults).items()},
        "by_missing": {name: asdict(row) for name, row in by(outcomes, _loss).items()},
        "reliability": [asdict(row) for row in reliability(outcomes)],
        "not_exact": [_told(outcome) for outcome in outcomes if not outcome.judgement.exact],
        "labelled": dict(cases),
    }


def told(outcome: Outcome) -> str:
    """One incident in one line."""
    cell, judged = outcome.cell, outcome.judgement
    verdict = "exact" if judged.exact else "top-1" if judged.top else "WRONG"
    words = (verdict, *("BLAMED",) * judged.blamed, *("DRAINED",) * judged.drained)
    return f"{'+'.join(outcome.faults)} {cell.loss} seed {cell.seed}: {' '.join(words)}: {judged.said}"


def _told(outcome: Outcome) -> dict[str, object]:
    return {"faults": outcome.faults, **asdict(outcome.cell), **asdict(outcome.judgement)}


def _faults(outcome: Outcome) -> Iterable[str]:
    return outcome.faults if len(outcome.faults) == 1 else ("(pair)", *outcome.faults)


def _loss(outcome: Outcome) -> Iterable[str]:
    return (outcome.cell.loss,)


def _table(name: str, rows: Iterable[tuple[str, Tally]]) -> list[str]:
    cells = [(key, str(row.incidents), *_shares(row), str(row.blamed), str(row.drained)) for key, row in rows]
    return _aligned((name, *_HEAD), cells)


def _reliability(rows: Iterable[Reliability]) -> list[str]:
    cells = [
        (f"{row.low:.2f} to {row.high:.2f}", f"{row.mean:.2f}", str(row.verdicts), _share(row.right, row.verdicts))
        for row in rows
    ]
    return _aligned(("confidence", "mean", "root causes", "right"), cells)


def _cases(cases: Sequence[tuple[str, list[str]]]) -> list[str]:
    right = sum(not found for _, found in cases)
    wrong = [f"- {name}: {'; '.join(found)}" for name, found in cases if found]
    return [f"Labelled incidents: {right} of {len(cases)} as labelled.", *wrong]


def _shares(row: Tally) -> Iterable[str]:
    return (_share(count, row.incidents) for count in (row.top, row.exact, row.silent))


def _share(count: int, of: int) -> str:
    return f"{100 * count / of:.1f} %"


def _aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[n]) for line in (head, *rows)) for n in range(len(head))]
    lines = [_row(head, widths), "|" + "|".join("-" * (width + 2) for width in widths) + "|"]
    return lines + [_row(row, widths) for row in rows]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cells[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))]
    return "| " + " | ".join(padded) + " |"
