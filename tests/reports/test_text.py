"""The text report: what must stand on the first screen, and what must never stand in it."""

from __future__ import annotations

import re
from types import ModuleType

import pytest
from builtin_rules import engine
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from neuron_doctor.collectors.papers import is_paper
from neuron_doctor.engine.facts import Place, Problem
from neuron_doctor.engine.grades import ActionKind, Role, Severity, Status
from neuron_doctor.engine.kinds import KINDS
from neuron_doctor.engine.verdict import Action, Diagnosis, NotEvaluable
from neuron_doctor.reports.collecting import need_words
from neuron_doctor.reports.lines import cells
from neuron_doctor.reports.markdown import render_markdown
from neuron_doctor.reports.summary import worth_a_look
from neuron_doctor.reports.text import render_headline, render_text
from neuron_doctor.reports.wording import action_words, counted, place_words, steps_words

SGR = re.compile(r"\x1b\[[0-9;]+m")
#: Lines that stay in one piece: where evidence stands, and commands.
UNBREAKABLE = re.compile(r"    (\S.*(:\d+|\(byte [\d,]+\))|   \$ .*)\Z")


def shown(diagnosis: Diagnosis, width: int = 80, *, verbose: bool = False) -> str:
    return render_text(diagnosis, width=width, colour=False, verbose=verbose)


def first_screen(text: str) -> list[str]:
    return text.split("\n")[:30]


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("width", [40, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(any_diagnosis: Diagnosis, width: int, verbose: bool) -> None:
    lines = shown(any_diagnosis, width, verbose=verbose).splitlines()
    assert [line for line in lines if cells(line) > width and not UNBREAKABLE.match(line)] == []


@pytest.mark.parametrize("verbose", [False, True])
def test_nothing_unprintable_reaches_the_terminal(any_diagnosis: Diagnosis, verbose: bool) -> None:
    assert all(line.isprintable() for line in shown(any_diagnosis, verbose=verbose).split("\n"))


def test_colour_adds_nothing_but_colour(any_diagnosis: Diagnosis) -> None:
    painted = render_text(any_diagnosis, width=80, colour=True)
    assert SGR.sub("", painted) == shown(any_diagnosis)
    assert SGR.search(painted)


def test_a_report_that_lies_in_the_directory_is_not_taken_for_evidence(any_diagnosis: Diagnosis) -> None:
    headline = any_diagnosis.verdict.headline or "one is always there"
    found = replace(any_diagnosis, verdict=replace(any_diagnosis.verdict, headline=headline))
    assert is_paper(render_markdown(found).encode(), "report.md")
    text = shown(found)
    beginning = (
        text[: text.index("\nchecked with ")] if found.findings else text
    )  # a long one ends beyond what is looked at
    assert is_paper(beginning.encode(), "report")


def test_the_first_screen_says_what_where_when_how_sure_why_and_what_to_do(samples: ModuleType) -> None:
    top = "\n".join(first_screen(shown(samples.hbm_incident())))
    assert top.startswith("ROOT CAUSE: uncorrectable HBM error on device 5 of node-02 stopped all 64 ranks\n")
    for needed in (
        "hw-hbm-ue (critical), nearly certain (0.97)",
        "node-02 (i-0592464924bd45322), device 5, core 2, ranks 32-33",
        "2026-11-20 03:12:44.123 UTC, last 03:14:07.523",
        "    node-02/rank32.log:4402\n",
        "Uncorrectable HBM memory error is detected.",
        "    node-02/dmesg.txt:8812\n",
        "confirmed by: Uncorrected ECC events of device 5 rose by 1",
        "1. replace the instance: node-02 (i-0592464924bd45322)",
        "$ aws ec2 stop-instances --instance-ids i-0592464924bd45322",
    ):
        assert needed in top


def test_cause_place_action_and_the_first_evidence_stand_in_the_first_ten_lines(samples: ModuleType) -> None:
    top = "\n".join(first_screen(shown(samples.hbm_incident()))[:10])
    for needed in ("hw-hbm-ue", "node-02 (i-0592464924bd45322)", "replace the instance", "    node-02/rank32.log:4402"):
        assert needed in top


def test_the_rest_says_consequences_alternatives_and_what_is_missing(samples: ModuleType) -> None:
    text = " ".join(shown(samples.hbm_incident()).split())
    for needed in (
        "destroys: everything on its instance store",
        "it explains 130 other records",
        "62 x Rank waits in a collective that does not complete [collectives-hang]: ranks 0-31,34-63 on node-[01-02]",
        "hw-hbm-ue-repairable, a guess (0.05), node-02, device 5 tell apart by: mem_ecc_repairable_uncorrected",
        "flight-recorder dump: 14 rules could not be checked",
        "kernel log of 1 of 2 hosts",
        "not UTF-8 (44 times, first at line 17)",
        "torchrun-kill-0123456789 was killed by collective-hang-0123456789",
    ):
        assert needed in text


def test_two_thousand_ranks_are_as_short_as_sixty_four(samples: ModuleType) -> None:
    large, small = (shown(samples.hbm_incident(ranks)).count("\n") for ranks in (2048, 64))
    assert large <= small + 6
    assert large < 120


def test_every_role_is_told_in_the_details(samples: ModuleType) -> None:
    details = shown(samples.hbm_incident()).split("-" * 80)[1]
    for title in ("Root causes (1)", "Confirmations", "Cascades", "Teardown", "Benign"):
        assert f"\n{title}" in details


def test_several_roots_stand_in_turn_best_first(samples: ModuleType) -> None:
    text = shown(samples.two_roots())
    assert text.startswith("2 ROOT CAUSES: ")
    first, second = text.index("Root cause 1 of 2"), text.index("Root cause 2 of 2")
    assert first < text.index("Kernel killed the rank") < second < text.index("On-chip memory error")


def test_a_root_tells_only_its_own_consequences(samples: ModuleType) -> None:
    assert shown(samples.two_roots()).count("it explains 3 other records") == 2


def test_what_no_root_explains_is_told_after_the_roots(samples: ModuleType) -> None:
    root = samples.finding("oom", "host-oom", Role.ROOT)
    risk = samples.finding("ecc", "hw-ecc-corrected-rising", Role.CONTEXT, severity=Severity.WARNING)
    other = samples.finding("crash", "process-crash", Role.CASCADE)
    found = samples.diagnosis(Status.ROOT_CAUSE, "h", (root, risk, other), unexplained=(other.id,))
    first = shown(found).split("-" * 80)[0]
    assert "seen as well, and not explained by it\n" in first
    assert "1 x Title of crash" in first
    assert "1 x Title of ecc" in first


def test_many_roots_are_told_in_full_only_when_verbose(samples: ModuleType) -> None:
    roots = tuple(samples.finding(f"rule-{n}", "host-oom", Role.ROOT) for n in range(20))
    diagnosis = samples.diagnosis(Status.ROOT_CAUSE, "twenty hosts out of memory", roots)
    assert "Root cause 4 of 20" not in shown(diagnosis)
    assert "and 17 more root causes with --verbose" in shown(diagnosis)
    assert "Root cause 20 of 20" in shown(diagnosis, verbose=True)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("healthy", "HEALTHY AS FAR AS SEEN: no failure found in what was collected"),
        ("benign", "HARMLESS AS FAR AS SEEN: "),
        ("victims_only", "VICTIMS ONLY: "),
        ("unknown_failure", "UNKNOWN FAILURE: "),
        ("not_evaluable", "NOT EVALUABLE: "),
    ],
)
def test_without_a_root_the_report_says_so_and_what_was_collected(samples: ModuleType, name: str, label: str) -> None:
    text = shown(getattr(samples, name)())
    assert text.startswith(label)
    assert "\n  what was collected\n" in text


def test_silence_is_qualified_by_what_was_not_collected_and_how_to_get_it(samples: ModuleType) -> None:
    text = shown(samples.healthy())
    assert "kernel log (dmesg): 23 rules could not be checked" in text
    assert "get it: sudo dmesg > HOST/dmesg.txt" in text


def test_how_to_get_an_input_is_said_once(samples: ModuleType) -> None:
    lacking = tuple(
        NotEvaluable(f"r{n}", needs) for n, needs in enumerate([("kernel",), ("kernel", "log"), ("lspci",)])
    )
    text = shown(samples.diagnosis(Status.HEALTHY, "h", not_evaluable=lacking))
    assert text.count("could not be checked") == 3
    assert text.count("get it: sudo dmesg") == text.count("get it: lspci") == 1


def test_victims_are_defended(samples: ModuleType) -> None:
    text = " ".join(shown(samples.victims_only()).split())
    assert "Do not drain, reset or replace these hosts" in text
    assert "Connection closed by remote peer 10.0.3.7<41234>" in text
    assert "logs of ranks 0-31" in text


def test_a_risk_without_a_failure_is_told_with_its_evidence(samples: ModuleType) -> None:
    risk = samples.finding(
        "ecc-rise",
        "hw-ecc-corrected-rising",
        Role.CONTEXT,
        severity=Severity.WARNING,
        evidence=(samples.span("node-01/monitor.jsonl", 7, "mem_ecc_corrected"),),
    )
    text = shown(samples.diagnosis(Status.HEALTHY, "no failure found in what was collected; a risk", (risk,)))
    assert "\n  risk        Title of ecc-rise\n" in text
    assert "\n    node-01/monitor.jsonl:7\n" in text


def test_a_partial_diagnosis_says_so_at_the_top(samples: ModuleType) -> None:
    assert "PARTIAL: " in shown(samples.hostile("x"))
    assert "PARTIAL: " not in shown(samples.healthy())


def test_the_headline_alone_says_that_it_is_partial_and_holds_nothing_unprintable(samples: ModuleType) -> None:
    found = samples.hbm_incident()
    assert render_headline(found) == f"{found.verdict.headline}\n"
    part = replace(found, verdict=replace(found.verdict, complete=False, headline="on host \x1b[31ma\nb"))
    assert render_headline(part) == "PARTIAL: on host \\x1b[31ma\\nb\n"


def test_the_lines_of_a_headline_are_filled_whatever_its_label(samples: ModuleType) -> None:
    found = samples.hbm_incident()
    first, second = shown(replace(found, verdict=replace(found.verdict, headline="word " * 30))).splitlines()[:2]
    assert first.startswith("ROOT CAUSE: word")
    assert 75 <= len(first) <= 80
    assert 75 <= len(second) <= 80


def test_the_job_and_a_step_are_named_once() -> None:
    elsewhere = Action(ActionKind.RESTART_ELSEWHERE, "the job, without host a")
    assert action_words(elsewhere) == "restart the job on other hosts: without host a"
    assert action_words(Action(ActionKind.RESTART, "the job")) == "restart the job"
    assert action_words(Action(ActionKind.FIX_CONFIG, "the job")) == "fix the configuration: the job"
    twice = [Action(ActionKind.FIX_CONFIG, "a"), Action(ActionKind.RESTART), Action(ActionKind.FIX_CONFIG, "b")]
    assert steps_words(twice) == "fix the configuration, then restart the job"


def test_every_kind_of_source_has_a_name_in_plain_words() -> None:
    kinds = {collector.kind for collector in engine().collectors} | {
        kind for one in KINDS.values() for kind in one.sources
    }
    assert kinds > {"log", "kernel"}
    assert [kind for kind in sorted(kinds) if kind == need_words((kind,))] == []


def test_an_error_that_the_job_outlived_is_said_to_be(samples: ModuleType) -> None:
    outlived = samples.finding("x", "application-exception", Role.SURVIVED, title="It raised")
    text = shown(samples.diagnosis(Status.HEALTHY, "h", (outlived,)))
    assert "1 x It raised [application-exception], after which the job went on" in text


def test_what_stands_beside_the_root_is_told_with_what_it_says(samples: ModuleType) -> None:
    root = samples.finding("x", "hw-hbm-ue", Role.ROOT)
    disagree = samples.finding(
        "w",
        "collectives-hang",
        Role.CONTEXT,
        severity=Severity.WARNING,
        observed=("a convicts rank 1; b convicts rank 6", "b convicts rank 6; a convicts rank 1"),
    )
    found = samples.diagnosis(Status.ROOT_CAUSE, "h", (root, disagree))
    assert "1 x Title of w [collectives-hang]\n             a convicts rank 1; b convicts rank 6\n" in shown(found)
    assert "Title of w: a convicts rank 1" in render_markdown(found)


def test_a_container_that_stands_for_its_host_is_named_once() -> None:
    assert place_words(Place(container="pod-1"), ("pod-1",)) == "pod-1"
    assert place_words(Place(container="pod-1/train"), ("pod-1",)) == "pod-1, container pod-1/train"


def test_only_the_noun_itself_takes_an_s() -> None:
    assert [counted(1, "kind of input"), counted(2, "kind of input")] == ["1 kind of input", "2 kinds of input"]


def test_long_paths_of_evidence_stay_whole_and_are_followed_by_a_break(samples: ModuleType) -> None:
    path = "a-very-long-folder-name/" * 6 + "rank0.log"
    root = samples.finding("x", "host-oom", Role.ROOT, evidence=(samples.span(path, 12, "Out of memory"),))
    text = shown(samples.diagnosis(Status.ROOT_CAUSE, "h", (root,)))
    assert f"\n    {path}:12\n      | Out of memory\n" in text


def test_long_paths_of_damaged_sources_are_shortened_in_the_middle(samples: ModuleType) -> None:
    path = "a-very-long-folder-name/" * 6 + "rank0.log"
    source = samples.log_source("n", 1, path=path, problems=(Problem("cut off"),))
    text = shown(samples.diagnosis(Status.HEALTHY, "h", sources=(source,)))
    assert path not in text
    assert "/rank0.log\n    cut off\n" in text


def test_evidence_that_differs_only_in_numbers_is_quoted_once(samples: ModuleType) -> None:
    spans = tuple(samples.span(f"rank{n}.log", n + 1, f"rank {n} died") for n in range(9))
    root = samples.finding("x", "host-oom", Role.ROOT, evidence=spans)
    text = shown(samples.diagnosis(Status.ROOT_CAUSE, "h", (root,)))
    assert text.count("| rank ") == 1
    assert "evidence (8 more with --verbose)" in text


def test_verbose_leaves_no_list_cut(samples: ModuleType) -> None:
    text = shown(samples.hbm_incident(2048), verbose=True)
    assert "--verbose" not in text
    assert text.count("rank2047.log") == 1


@given(st.text(st.characters(), min_size=1, max_size=80), st.integers(40, 200), st.booleans())
def test_any_text_of_a_log_is_printed_harmless_and_in_the_width(
    samples: ModuleType, text: str, width: int, verbose: bool
) -> None:
    lines = shown(samples.hostile(text), width, verbose=verbose).split("\n")
    assert all(line.isprintable() for line in lines)
    assert [line for line in lines if cells(line) > width and not UNBREAKABLE.match(line)] == []


def test_a_path_that_begins_with_a_blank_is_not_taken_for_indented(samples: ModuleType) -> None:
    root = samples.finding("x", "host-oom", Role.ROOT, evidence=(samples.span("  a/rank0.log", 12, "Out of memory"),))
    assert "    \\x20 a/rank0.log:12\n" in shown(samples.diagnosis(Status.ROOT_CAUSE, "h", (root,)))


def test_of_victims_the_one_that_nothing_explains_is_told_first(samples: ModuleType) -> None:
    diagnosis = samples.victims_only()
    waited_for = samples.finding("launcher-sigkill", "process-crash", Role.CASCADE, confidence=0.1)
    diagnosis = replace(diagnosis, findings=(*diagnosis.findings, waited_for), unexplained=(waited_for.id,))
    assert worth_a_look(diagnosis)[0] == waited_for


def test_the_report_says_what_the_verdict_rests_on(samples: ModuleType) -> None:
    text = " ".join(render_text(samples.hbm_incident(), width=80, colour=False).split())
    assert "without any job or runtime log (2 files) it would be VICTIMS ONLY: only consequences\\x1b[31m" in text
    assert "the same verdict without node" in text


def test_verbose_says_how_far_clocks_are_apart_and_which_contradict_themselves(samples: ModuleType) -> None:
    text = " ".join(render_text(samples.hbm_incident(64), width=80, colour=False, verbose=True).split())
    assert "host-local, known to 2.004 s by attach, same line" in text
    assert "node-02 utc: its witnesses contradict each other (collectives); no order rests on it" in text


def test_a_finding_that_sums_up_others_says_how_many_and_which(samples: ModuleType) -> None:
    names = tuple(f"other-{number}" for number in range(6))
    told = samples.finding("shared-place", "shared-place", Role.CONTEXT, sums_up=names)
    text = " ".join(shown(samples.diagnosis(Status.HEALTHY, "nothing", (told,))).split())
    assert "sums up 6 findings: other-0, other-1, other-2, other-3 and 2 more" in text
