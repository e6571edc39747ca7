"""The Markdown report: fit for a ticket, and nothing of a log becomes markup in it."""

from __future__ import annotations

from types import ModuleType

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from neuron_doctor.engine.facts import Fact, Place
from neuron_doctor.engine.grades import Role, Status
from neuron_doctor.engine.verdict import Diagnosis, Proof
from neuron_doctor.reports.markdown import render_markdown

NASTY = st.text(st.sampled_from(list("`~*_#@<>[]()!|\\&:/.-+=\"' \t\r\nabcw1\x1b\u202e")), min_size=1, max_size=60)
OURS = {"text", "code_inline", "strong_open", "strong_close", "softbreak"}


def tokens_of(markdown: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(markdown)


def inline(markdown: str) -> list[Token]:
    return [child for token in tokens_of(markdown) for child in token.children or ()]


def blocks(markdown: str) -> list[str]:
    return [token.type for token in tokens_of(markdown)]


def test_no_sample_makes_links_images_or_html(any_diagnosis: Diagnosis) -> None:
    markdown = render_markdown(any_diagnosis)
    assert {token.type for token in inline(markdown)} <= OURS
    assert "html_block" not in blocks(markdown)
    assert all(line.isprintable() for line in markdown.split("\n"))


def test_the_ticket_has_headline_place_evidence_actions_consequences_hosts_and_sources(samples: ModuleType) -> None:
    markdown = render_markdown(samples.hbm_incident())
    assert markdown.startswith("# ROOT CAUSE: uncorrectable HBM error on device 5 of `node-02` stopped all 64 ranks\n")
    for needed in (
        "## Root cause 1: Uncorrectable HBM error that is not repairable",
        "- **Where:** `node-02` (`i-0592464924bd45322`), device 5, core 2, ranks 32-33",
        "`node-02/rank32.log:4402`:\n\n```text\n2026-Nov-20 03:12:44.123456",
        "1. replace the instance: `node-02` (`i-0592464924bd45322`)\n   - only if: the node is drained\n   - note: ",
        "   ```text\n   aws ec2 stop-instances --instance-ids i-0592464924bd45322\n",
        "| 62 | Rank waits in a collective that does not complete | `collectives-hang` | cascade | 0-31,34-63 |",
        "- 2 hosts: `node-[01-02]`",
        "- 64 x job or runtime log: 2 hosts:",
        "| `node-02/dmesg.txt` |",
    ):
        assert needed in markdown


def test_versions_that_a_proof_rests_on_are_listed(samples: ModuleType) -> None:
    fact = Fact("version", {"component": "driver", "version": "2.18"}, Place(), samples.span("a", 1, "x"), "s")
    proof = Proof("all", True, children=(Proof("fact", True, (fact,)),))
    root = samples.finding("x", "driver-incompatible", Role.ROOT, proof=proof)
    assert "- `driver` `2.18`\n" in render_markdown(samples.diagnosis(Status.ROOT_CAUSE, "h", (root,)))


def test_silence_says_what_was_not_checked(samples: ModuleType) -> None:
    markdown = render_markdown(samples.healthy())
    assert "# HEALTHY AS FAR AS SEEN: no failure found in what was collected" in markdown
    assert "- kernel log (dmesg): 23 rules; get it: `sudo dmesg > HOST/dmesg.txt`" in markdown


def test_what_no_root_explains_is_told_too(samples: ModuleType) -> None:
    root, other = samples.finding("oom", "host-oom", Role.ROOT), samples.finding("x", "process-crash", Role.CASCADE)
    found = samples.diagnosis(Status.ROOT_CAUSE, "h", (root, other), unexplained=(other.id,))
    table = render_markdown(found).split("## Seen as well, and not explained")[1]
    assert "| 1 | Title of x | `process-crash` | cascade |" in table


def test_a_partial_diagnosis_says_so(samples: ModuleType) -> None:
    assert "**Partial:**" in render_markdown(samples.hostile("x"))


def test_victims_are_shown_where_there_is_no_root(samples: ModuleType) -> None:
    assert "## To look at 1: The peer closed the connection" in render_markdown(samples.victims_only())


@given(NASTY | st.text(st.characters(), min_size=1, max_size=60))
def test_any_text_of_a_log_leaves_the_structure_as_it_is(samples: ModuleType, text: str) -> None:
    harmless = blocks(render_markdown(samples.hostile("x" + "\nx" * text.count("\n"))))
    markdown = render_markdown(samples.hostile("x" + text))
    assert {token.type for token in inline(markdown)} <= OURS
    assert blocks(markdown) == harmless
    plain = " ".join(token.content for token in inline(markdown) if token.type == "text")
    assert not any(mark in plain for mark in ("@", "://", "www.", "<", "["))
