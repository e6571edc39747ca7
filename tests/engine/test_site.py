"""The site file in the engine: what it tunes, what it hides and never acquits, and each mistake told at its place."""

from __future__ import annotations

import re

import pytest
from builders import CAUSES, hit, source
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_doctor.engine.diagnosis import diagnose
from neuron_doctor.engine.errors import RulebookError, RuleError
from neuron_doctor.engine.facts import Collection
from neuron_doctor.engine.packfiles import PackFile
from neuron_doctor.engine.rule_loader import compile_rulebook
from neuron_doctor.engine.rulebook import Rulebook
from neuron_doctor.engine.site import Silence, Site
from neuron_doctor.engine.verdict import Diagnosis, Finding
from neuron_doctor.engine.yamlfaults import LINE_END

TERMS = "parameters:\n  most: {type: int, default: 3, at_most: 50, description: so many are usual}\n"
RULE = """
id: {id}
title: {id}
cause: {cause}
severity: error
trust: [F]
at: host
parameters:
  least: {{type: int, default: 0, description: a number}}
  spare: {{type: list, default: [x], description: hosts}}
  pause: {{type: duration, default: 1h, description: a time}}
patterns:
  {id}-text: {{regex: '{id} (?P<n>\\d+)', fields: {{n: int}}}}
when: {id}-text where n > $least and n <= $most and not host in $spare
explains: [{{causes: [stuck], relation: job, within: $pause}}]
actions: [{{action: reboot, target: "host {{host}}"}}]
explanation: It is {id}.
references: [https://wiki.example]
"""
SITE = """\
name: west
parameters:
  most: 40
  broken.least: 2
  broken.spare: [a, b]
  broken.pause: 2h
silences:
  - rules: [broken]
    hosts: ["h*"]
    devices: [5]
    until: '2027-01-31'
    reason: OPS-1
  - causes: [stuck]
    until: '2026-12-31'
    reason: known
actions:
  - rules: [broken]
    action: open-ticket
    target: queue of {host}
    first: true
  - causes: [bug, stuck]
    action: wait
"""
FILES = [
    PackFile("p/causes.yaml", CAUSES.encode()),
    PackFile("p/terms.yaml", TERMS.encode()),
    *(
        PackFile(f"p/{name}.yaml", RULE.format(id=name, cause=cause).encode())
        for name, cause in (("broken", "bug"), ("waits", "stuck"), ("burnt", "broken-device"))
    ),
]


def loaded(site: str) -> Rulebook:
    return compile_rulebook(FILES, site=PackFile("/etc/site.yaml", site.encode(), base="/etc/site.yaml"))


def mistakes(site: str) -> list[RuleError]:
    with pytest.raises(RulebookError) as raised:
        loaded(site)
    return list(raised.value.errors)


def found(rulebook: Rulebook, *said: tuple[str, int, str]) -> Diagnosis:
    facts = [
        hit(f"{rule}-text", at=number, offset=100 * number, source=host, data={"n": n}, host=host)
        for number, (rule, n, host) in enumerate(said)
    ]
    return diagnose(rulebook, Collection(tuple(source(host) for host in {host for _, _, host in said}), tuple(facts)))


def by_rule(diagnosis: Diagnosis) -> dict[str, Finding]:
    return {finding.rule: finding for finding in diagnosis.findings}


def test_a_site_sets_parameters_of_a_rule_and_shared_ones_and_says_which() -> None:
    usual, tuned = compile_rulebook(FILES), loaded(SITE)
    for n, host, before, after in ((1, "z", 1, 0), (3, "z", 1, 1), (40, "z", 0, 1), (41, "z", 0, 0), (3, "b", 1, 0)):
        assert len(found(usual, ("broken", n, host)).findings) == before
        assert len(found(tuned, ("broken", n, host)).findings) == after
    assert tuned.site is not None
    assert {one.name: one.value for one in tuned.site.tuned} == {
        "most": 40,
        "broken.least": 2,
        "broken.spare": ["a", "b"],
        "broken.pause": "2h",
    }
    assert tuned.rules[0].explains[0].within_ns == 7200 * 10**9
    assert {one.name for one in tuned.parameters if not one.tuned} == {
        f"{rule}.{name}" for rule in ("waits", "burnt") for name in ("least", "spare", "pause")
    }


def test_a_site_adds_actions_before_and_behind_those_of_the_rules() -> None:
    diagnosis = found(
        loaded(SITE.partition("silences")[0] + "actions" + SITE.partition("actions")[2]), ("broken", 5, "z")
    )
    [finding] = diagnosis.findings
    told = [(action.action.value, action.target, action.by_site) for action in finding.actions]
    assert told == [("open-ticket", "queue of z", True), ("reboot", "host z", False), ("wait", "", True)]


def test_a_hidden_root_stays_the_root_and_its_headline_says_so() -> None:
    site = "name: west\nsilences: [{rules: [broken], until: '2027-01-31', reason: OPS-1}]\n"
    usual, silent = (found(compile_rulebook(FILES), *WAITING), found(loaded(site), *WAITING))
    assert silent.verdict.status == usual.verdict.status == "root-cause"
    assert silent.root_causes == usual.root_causes
    assert silent.edges == usual.edges
    hidden = by_rule(silent)["broken"]
    assert hidden.silenced
    assert (hidden.role, hidden.actions) == ("root", ())
    assert silent.verdict.headline == f"{usual.verdict.headline}; hidden by the site file until 2027-01-31: OPS-1"
    assert not by_rule(silent)["waits"].silenced


WAITING = [("broken", 1, "x1"), ("waits", 2, "x2"), ("waits", 2, "x3")]


def test_a_root_that_is_not_hidden_comes_before_those_that_are() -> None:
    site = "name: west\nsilences: [{rules: [burnt], hosts: [x1], until: '2027-01-31', reason: OPS-1}]\n"
    diagnosis = found(loaded(site), ("burnt", 1, "x1"), ("burnt", 1, "x2"))
    assert [bool(finding.silenced) for finding in diagnosis.findings] == [False, True]
    assert diagnosis.verdict.headline == "burnt: host x2; 1 more is hidden by the site file"


def test_one_finding_over_several_hosts_is_hidden_only_if_all_are_meant() -> None:
    site = "name: west\nsilences: [{rules: [broken], hosts: [x1], until: '2027-01-31', reason: OPS-1}]\n"
    [finding] = found(loaded(site), ("broken", 1, "x1"), ("broken", 1, "x2")).findings
    assert (finding.hosts, finding.silenced) == (("x1", "x2"), None)


def test_where_all_that_is_left_are_hidden_victims_that_is_said() -> None:
    site = "name: west\nsilences: [{causes: [stuck], until: '2027-01-31', reason: OPS-1}]\n"
    verdict = found(loaded(site), ("waits", 1, "x1")).verdict
    assert verdict.status == "victims-only"
    assert verdict.headline.endswith("; hidden by the site file until 2027-01-31: OPS-1")


names = st.lists(st.sampled_from(["broken", "waits"]), max_size=2, unique=True).map(tuple)
silences = st.builds(
    Silence,
    names,
    st.lists(st.sampled_from(["bug", "stuck"]), max_size=2, unique=True).map(tuple),
    st.lists(st.sampled_from(["x1", "x*", "?2", "*"]), max_size=2, unique=True).map(tuple),
    st.lists(st.integers(0, 1), max_size=1).map(tuple),
    st.just("2027-01-31"),
    st.just("r"),
)
records = st.tuples(st.sampled_from(["broken", "waits"]), st.integers(1, 3), st.sampled_from(["x1", "x2", "y"]))


@settings(max_examples=60, deadline=None)
@given(st.lists(silences, max_size=3).map(tuple), st.lists(records, min_size=1, max_size=6))
def test_no_silence_changes_the_story(some: tuple[Silence, ...], said: list[tuple[str, int, str]]) -> None:
    from msgspec.structs import replace  # noqa: PLC0415

    rulebook = compile_rulebook(FILES)
    usual = found(rulebook, *said)
    silent = found(replace(rulebook, site=Site("west", "0", silences=some)), *said)
    assert (silent.verdict.status, silent.edges, silent.unexplained) == (
        usual.verdict.status,
        usual.edges,
        usual.unexplained,
    )
    assert sorted(silent.root_causes) == sorted(usual.root_causes)
    told = {finding.id: (finding.role, finding.place, finding.count) for finding in usual.findings}
    assert {finding.id: (finding.role, finding.place, finding.count) for finding in silent.findings} == told
    assert all(bool(finding.actions) is not bool(finding.silenced) for finding in silent.findings)
    roots = [finding for finding in silent.findings if finding.id in silent.root_causes]
    if roots and all(root.silenced for root in roots):
        assert "hidden by the site file" in silent.verdict.headline


# --- what a silence covers, and when -------------------------------------------------------------------------------


def silence(*, hosts: tuple[str, ...] = (), devices: tuple[int, ...] = ()) -> Silence:
    return Silence(("r",), ("c",), hosts, devices, "2027-01-31", "known")


@pytest.mark.parametrize(
    ("one", "names", "device", "covered"),
    [
        (silence(), [], None, True),
        (silence(hosts=("login-*",)), [["login-1"]], None, True),
        (silence(hosts=("login-*",)), [["login-1"], ["trn-1"]], None, False),
        (silence(hosts=("login-*", "trn-1")), [["login-1"], ["trn-1"]], None, True),
        (silence(hosts=("login-*",)), [], None, False),
        (silence(hosts=("i-0a1",)), [["trn-1", "i-0a1"]], None, True),
        (silence(devices=(5,)), [["trn-1"]], 5, True),
        (silence(devices=(5,)), [["trn-1"]], 4, False),
        (silence(devices=(5,)), [["trn-1"]], None, False),
    ],
)
def test_a_silence_covers_only_what_is_wholly_meant(
    one: Silence, names: list[list[str]], device: int | None, covered: bool
) -> None:
    assert one.covers("r", "other", names, device) is covered
    assert one.covers("other", "c", names, device) is covered
    assert not one.covers("other", "other", names, device)


@pytest.mark.parametrize(
    ("day", "lasting"), [("2026-12-31", 2), ("2027-01-01", 1), ("2027-01-31", 1), ("2027-02-01", 0)]
)
def test_a_silence_ends_with_its_day_and_can_begin_anew(day: str, lasting: int) -> None:
    site = loaded(SITE).site
    assert site is not None
    assert (len(site.as_of(day).silences), len(site.as_of(day).expired)) == (lasting, 2 - lasting)
    assert site.as_of("2099-01-01").as_of(day) == site.as_of(day)


# --- mistakes ------------------------------------------------------------------------------------------------------


def test_the_site_file_is_right_before_anything_is_done_to_it() -> None:
    assert loaded(SITE).site is not None


@pytest.mark.parametrize(
    ("right", "wrong", "where", "message", "hint"),
    [
        ("name: west\n", "", (1, 1), "the key is missing: 'name'", "add it"),
        ("name: west", "name: The West", (1, 7), "'The West' is not a name of small letters, digits and hyphens", ""),
        ("most: 40", "mots: 40", (3, 3), "there is no parameter 'mots'", "did you mean 'most'?"),
        ("broken.least", "broke.least", (4, 3), "no parameter 'broke.least'", "did you mean 'broken.least'?"),
        ("broken.pause", "pause", (6, 3), "there is no parameter 'pause'", "did you mean 'broken.pause' or 'burnt.pause' or"),
        ("broken.least", "Broken.least", (4, 3), "'Broken.least' is not `RULE.NAME`, or the `NAME` of one", ""),
        ("most: 40", "most: 51", (3, 9), "most: 51 is more than 50", ""),
        ("most: 40", "most: lots", (3, 9), "most: 'lots' is not a whole number", ""),
        ("most: 40", "most:", (3, 3), "most: nothing stands behind this key", "write a value"),
        ("[a, b]", "[1, 2]", (5, 3), "broken.spare: [1, 2] is not a list of texts", ""),
        ("[a, b]", "a", (5, 17), "broken.spare: 'a' is not a list of texts, or of numbers", ""),
        ("2h", "120", (6, 17), "broken.pause: 120 is not a number with its unit, such as 30s", ""),
        ("- rules: [broken]\n    hosts", "- rules: [broke]\n    hosts", (8, 13), "no rule 'broke'", "mean 'broken'?"),
        ("causes: [stuck]", "causes: [stcuk]", (13, 14), "there is no cause 'stcuk'", "did you mean 'stuck'?"),
        ("  - causes: [stuck]\n    until", "  - until", (13, 5), "neither rules nor causes", "add rules: [ID]"),
        ("'2027-01-31'", "2027-01-31", (11, 12), "'2027-01-31' reads as a timestamp", "put it in quotes"),
        ("'2027-01-31'", "soon", (11, 12), "until: 'soon' is not a day in quotes", ""),
        ("'2027-01-31'", "'2027-02-30'", (11, 12), "until: 2027-02-30 is no day", ""),
        ("    reason: known\n", "", (13, 5), "the key is missing: 'reason'", "add it"),
        ("reason: known", "reason: ''", (15, 13), "reason may not be empty", ""),
        ("[5]", "[-1]", (10, 15), "wants a whole number >= 0", ""),
        ("silences:", "silence:", (7, 1), "there is no key 'silence' here", "did you mean 'silences'?"),
        ("action: wait", "action: drain", (22, 13), "action: there is no 'drain'", "one of: none"),
        ("first: true", "first: yes please", (20, 12), "first wants true or false, not text", ""),
        ("target:", "targt:", (19, 5), "there is no key 'targt' here", "did you mean 'target'?"),
        ("  - rules: [broken]\n    action", "  - action", (17, 5), "neither rules nor causes", "add rules: [ID]"),
        ("silences:", "\tsilences:", (7, 1), "a tab stands before the text", "spaces"),
    ],
)  # fmt: skip
def test_a_mistake_has_one_message_that_says_where_and_what_to_do(
    right: str, wrong: str, where: tuple[int, int], message: str, hint: str
) -> None:
    assert SITE.count(right) == 1
    [error] = mistakes(SITE.replace(right, wrong))
    assert (error.location.path, error.location.line, error.location.column) == ("/etc/site.yaml", *where)
    assert message in error.message
    assert hint in error.hint


MANIFEST = "name: acme\nversion: '1'\nminimum_engine: '0.1'\n"
PIECES = [
    "\t",
    ": ",
    "[",
    "{",
    "'",
    '"',
    "- ",
    "#",
    "*",
    "&a",
    "!x",
    "?",
    "\n",
    "\x00",
    "\ud800",
    ".nan",
    "9" * 400,
    "null",
    "~",
]


@settings(max_examples=150, deadline=None)
@given(st.booleans(), st.integers(0, 500), st.integers(0, 12), st.text(max_size=4) | st.sampled_from(PIECES))
def test_no_text_at_all_makes_a_site_file_or_a_manifest_crash(of_site: bool, start: int, length: int, by: str) -> None:
    right = SITE if of_site else MANIFEST
    text = right[:start] + by + right[start + length :]
    name = "/etc/site.yaml" if of_site else "p/pack.yaml"
    file = PackFile(name, text.encode("utf-8", "surrogatepass"))
    try:
        if of_site:
            compile_rulebook(FILES, site=file)
        else:
            compile_rulebook([*FILES, file], "0.1.0")
    except RulebookError as error:
        lines = LINE_END.split(text)
        for one in error.errors:
            assert one.location.path == name
            assert 0 <= one.location.line <= len(lines)
            assert one.message


@pytest.mark.parametrize("text", ["", "- a\n", "west\n"])
def test_a_file_that_is_no_site_file_is_told_how_one_begins(text: str) -> None:
    [error] = mistakes(text)
    assert "the file begins with keys such as `name:` and `parameters:`, without a dash" in error.hint


def test_what_cannot_be_read_is_told() -> None:
    with pytest.raises(RulebookError, match=re.escape("/etc/site.yaml: cannot be read: Permission denied")):
        compile_rulebook(FILES, site=PackFile("/etc/site.yaml", b"", fault="cannot be read: Permission denied"))


def test_a_value_that_a_rule_cannot_use_is_told_where_it_stands() -> None:
    rule = RULE.format(id="broken", cause="bug").replace("default: 0", "default: 1")
    rule = rule.replace("when: broken-text", "when: {count: {of: broken-text, at_least: $least}}\n# broken-text")
    site = b"name: west\nparameters: {broken.least: 0}\n"
    with pytest.raises(RulebookError) as raised:
        compile_rulebook([*FILES[:2], PackFile("p/broken.yaml", rule.encode())], site=PackFile("/etc/site.yaml", site))
    assert str(raised.value) == "/etc/site.yaml:2:28: $least is 0, and at_least wants 1 or more"


def test_names_of_a_pack_that_is_wrong_are_not_told_as_missing() -> None:
    rule = RULE.format(id="broken", cause="bug").replace("severity: error", "severity: bad")
    files = [*FILES[:2], FILES[3], PackFile("p/broken.yaml", rule.encode())]
    with pytest.raises(RulebookError) as raised:
        compile_rulebook(files, site=PackFile("/etc/site.yaml", SITE.encode()))
    assert [error.location.path for error in raised.value.errors] == ["p/broken.yaml"]
