"""The site file as a user meets it: where it is found, what reports say of it, exit statuses, and the lint."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from pack_builders import run, write_pack

from neuron_doctor import found
from neuron_doctor.keep import Keep
from neuron_doctor.packs import load, site_file
from neuron_doctor.request import Packs

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())
HBM = (
    "2026-May-01 12:00:31.067150 159612:159612 ERROR  TDRV:exec_request_process_errors   (FATAL-RT-UNDEFINED-STATE) "
    "[ND 3] Uncorrectable HBM memory error is detected. Execution results may be invalid. Please terminate this instance "
    "to prevent future impact from the hardware error.\n"
)
MEMORY = (
    '{{"neuron_runtime_data":[],"system_data":{{"memory_info":{{"period":5.0,"memory_total_bytes":1000000000,'
    '"memory_used_bytes":{used}0000000,"swap_total_bytes":0,"swap_used_bytes":0,"error":""}}}},"instance_info":{{"error":""}},'
    '"neuron_hardware_info":{{"error":""}}}}\n'
)
HIDING = """\
name: west
silences:
  - causes: [hw-hbm-ue, host-memory-high]
    until: "{until}"
    reason: OPS-1234 is open
"""
ACTIONS = """\
name: west
actions:
  - {causes: [hw-hbm-ue], first: true, action: open-ticket, target: queue, command: "ticket --host {host}"}
"""


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    incident = tmp_path / "incident"
    (incident / "ip-10-0-0-1").mkdir(parents=True)
    (incident / "ip-10-0-0-1" / "rank_3.log").write_text(f"step 1\n{HBM}")
    return incident


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "site.yaml"
    file.write_text(text)
    return file


def report(*args: str | Path) -> dict[str, object]:
    done = run("diagnose", *args, "--format", "json")
    found_report: dict[str, object] = json.loads(done.stdout)
    jsonschema.validate(found_report, SCHEMA)
    assert found_report["verdict"]["exit_status"] == done.returncode  # type: ignore[index]
    return found_report


def test_a_hidden_root_is_stated_and_the_exit_status_is_that_of_a_failure(failed: Path, tmp_path: Path) -> None:
    site = written(tmp_path, HIDING.format(until="2099-01-31"))
    plain = run("diagnose", failed)
    done = run("diagnose", failed, "--site", site)
    assert plain.returncode == done.returncode == 1
    words = " ".join(done.stdout.split())
    assert words.startswith("ROOT CAUSE: Uncorrectable HBM error: host ip-10-0-0-1, device 3")
    assert "hidden by the site file until 2099-01-31: OPS-1234 is open" in words
    assert "replace the instance" in plain.stdout
    assert "replace the instance" not in done.stdout
    quiet = run("diagnose", failed, "--site", site, "--quiet").stdout
    assert quiet.endswith("; hidden by the site file until 2099-01-31: OPS-1234 is open\n")
    assert run("diagnose", failed, "--site", site, "--nagios").returncode == 2
    assert "## Hidden by the site file until 2099-01-31" in run("diagnose", failed, "--site", site, "-f", "md").stdout


def test_the_json_report_says_what_was_hidden_and_by_what(failed: Path, tmp_path: Path) -> None:
    found_report = report(failed, "--site", written(tmp_path, HIDING.format(until="2099-01-31")))
    [root] = [one for one in found_report["findings"] if one["id"] in found_report["root_causes"]]  # type: ignore[union-attr,operator,attr-defined]
    assert (root["role"], root["actions"]) == ("root", [])  # type: ignore[index]
    assert root["silenced"]["reason"] == "OPS-1234 is open"  # type: ignore[index]
    site = found_report["site"]
    assert site["silences"][0]["findings"] == [root["id"]]  # type: ignore[index]
    assert str(tmp_path) not in json.dumps(site)


def test_a_silence_that_has_ended_is_told_and_hides_nothing(failed: Path, tmp_path: Path) -> None:
    site = written(tmp_path, HIDING.format(until="2020-01-31"))
    done = run("diagnose", failed, "--site", site)
    assert "replace the instance" in done.stdout
    assert "silences of the site file that have ended" in done.stdout
    assert "ended with 2020-01-31: OPS-1234 is open" in " ".join(done.stdout.split())
    found_report = report(failed, "--site", site)
    assert found_report["site"]["silences"] == []  # type: ignore[index]
    assert found_report["site"]["expired"][0]["until"] == "2020-01-31"  # type: ignore[index]
    linted = run("rules", "lint", "--site", site)
    assert linted.returncode == 1
    assert f"{site}:4:12: error: this silence ended with 2020-01-31" in linted.stdout


def test_a_hidden_risk_no_longer_makes_nagios_warn_and_is_told(tmp_path: Path) -> None:
    stream = tmp_path / "node-1" / "neuron-monitor.jsonl"
    stream.parent.mkdir()
    stream.write_text(MEMORY.format(used=50) + MEMORY.format(used=97))
    site = written(tmp_path, HIDING.format(until="2099-01-31"))
    assert run("diagnose", stream, "--nagios").returncode == 1
    done = run("diagnose", stream, "--nagios", "--site", site)
    assert done.returncode == 0
    quiet = run("diagnose", stream, "--quiet", "--site", site).stdout
    risk = "a risk: Host memory is nearly full: host node-1; hidden by the site file until 2099-01-31: OPS-1234 is open"
    assert quiet == f"No failure found in what was collected; {risk}\n"


def test_a_threshold_of_the_catalogue_is_tuned_and_the_report_says_so(tmp_path: Path) -> None:
    stream = tmp_path / "neuron-monitor.jsonl"
    stream.write_text(MEMORY.format(used=50) + MEMORY.format(used=97))
    site = written(tmp_path, "name: west\nparameters: {host_memory_full_percent: 98}\n")
    assert "Host memory is nearly full" in run("diagnose", stream).stdout
    tuned = run("diagnose", stream, "--site", site)
    assert "Host memory is nearly full" not in tuned.stdout
    assert "site file west: host_memory_full_percent is 98 (95 by default)" in " ".join(tuned.stdout.split())
    assert report(stream, "--site", site)["site"]["parameters"] == [  # type: ignore[index]
        {"name": "host_memory_full_percent", "value": 98, "default": 95}
    ]
    assert "| `98` (by the site file) |" in run("rules", "show", "host-memory-high", "--site", site).stdout
    assert run("rules", "test", "host-memory-high", home=home_with(tmp_path, site)).returncode == 0


def home_with(tmp_path: Path, site: Path) -> Path:
    folder = tmp_path / "home" / "config" / "neuron-doctor"
    folder.mkdir(parents=True)
    (folder / "site.yaml").write_text(site.read_text())
    return tmp_path / "home"


def test_a_site_adds_actions_of_its_own(failed: Path, tmp_path: Path) -> None:
    site = written(tmp_path, ACTIONS)
    text = run("diagnose", failed, "--site", site).stdout
    assert "    1. open a support ticket: queue (by the site file)\n       $ ticket --host ip-10-0-0-1\n" in text
    found_report = report(failed, "--site", site)
    [root] = [one for one in found_report["findings"] if one["id"] in found_report["root_causes"]]  # type: ignore[union-attr,operator,attr-defined]
    assert [action.get("by") for action in root["actions"]][:2] == ["site", None]  # type: ignore[index]


def test_a_slot_that_a_rule_cannot_fill_is_told_by_the_lint(tmp_path: Path) -> None:
    done = run("rules", "lint", "--site", written(tmp_path, ACTIONS.replace("{host}", "{hosts}")))
    assert done.returncode == 1
    assert "has nothing to fill the slot {hosts} with [unknown-slot]" in done.stdout
    assert "did you mean 'host'?" in done.stdout


def test_a_wrong_site_file_ends_the_run_with_its_place(failed: Path, tmp_path: Path) -> None:
    site = written(tmp_path, HIDING.format(until="2099-02-31"))
    for command in (("diagnose", failed), ("rules", "why", "hw-hbm-ue", failed), ("rules", "lint")):
        done = run(*command, "--site", site)
        assert done.returncode == 2
        assert f"{site}:4:12: " in done.stdout + done.stderr
    assert run("diagnose", failed, "--site", tmp_path / "none.yaml").returncode == 2


def test_what_only_collects_does_not_mind_a_wrong_site_file(failed: Path, tmp_path: Path) -> None:
    home = home_with(tmp_path, written(tmp_path, "nonsense"))
    assert run("facts", failed, home=home).returncode == 0
    assert run("part", failed, "-o", tmp_path / "a.part", home=home).returncode == 0
    assert run("diagnose", failed, home=home).returncode == 2
    assert run("diagnose", failed, "--isolated", home=home).returncode == 1


# --- where it is found ---------------------------------------------------------------------------------------------


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The folders in which a user's and the machine's site file stand."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(found.found_site, "__defaults__", (tmp_path / "etc",))
    own = tmp_path / "config" / "neuron-doctor"
    for folder in (own, tmp_path / "etc"):
        folder.mkdir(parents=True)
    return own, tmp_path / "etc"


def name_of(packs: Packs) -> str | None:
    site = load(packs, Keep(None)).site
    return site.name if site else None


def test_the_named_file_counts_else_the_users_else_the_machines_and_only_one(
    places: tuple[Path, Path], tmp_path: Path
) -> None:
    own, machine = places
    assert name_of(Packs()) is None
    (machine / "site.yaml").write_text("name: machine\n")
    assert name_of(Packs()) == "machine"
    (own / "site.yaml").write_text("name: own\n")
    assert name_of(Packs()) == "own"
    named = written(tmp_path, "name: named\n")
    assert name_of(Packs(site=named)) == "named"
    assert name_of(Packs(site=named, isolated=True)) == "named"
    assert name_of(Packs(isolated=True)) is None
    assert name_of(Packs(sited=False)) is None
    given = write_pack(tmp_path / "given", "giv")
    assert name_of(Packs((given,), builtin=False)) is None


def test_a_file_that_everybody_can_write_to_is_not_used_but_told(places: tuple[Path, Path]) -> None:
    file = places[0] / "site.yaml"
    file.write_text("name: own\n")
    file.chmod(0o666)
    site = site_file(Packs())
    assert site is not None
    assert (site.content, site.fault) == (b"", "everybody can write to it, so it is not used (chmod o-w)")


def test_a_changed_site_file_counts_at_once(places: tuple[Path, Path], tmp_path: Path) -> None:
    keep = Keep(str(tmp_path / "cache"))
    for value in (96, 97):
        (places[0] / "site.yaml").write_text(f"name: own\nparameters: {{host_memory_full_percent: {value}}}\n")
        rulebook = load(Packs(), keep)
        assert [one.value for one in rulebook.parameters if one.tuned] == [value]
        assert load(Packs(), keep) == rulebook


GONE = """\
name: west
parameters:
  hw-gone.rise: 3
silences:
  - {causes: [hw-hbm-ue], rules: [hw-was-renamed], until: "2099-01-31", reason: OPS-1234 is open}
  - {rules: [hw-hbm-uee], until: "2099-01-31", reason: all of it is gone}
actions:
  - {causes: [hw-hbm-gone], action: open-ticket, target: the hardware queue}
"""


def test_a_name_that_an_upgrade_took_away_costs_nobody_the_diagnosis(failed: Path, tmp_path: Path) -> None:
    site = written(tmp_path, GONE)
    done = run("diagnose", failed, "--site", site)
    assert (done.returncode, done.stderr) == (1, "")
    words = " ".join(done.stdout.split())
    assert "hidden by the site file until 2099-01-31: OPS-1234 is open" in words  # what is there of it holds
    assert words.count("left out of the site file") == 1
    assert "- line 5: there is no rule 'hw-was-renamed'" in words
    assert "line 3: there is no parameter 'hw-gone.rise'" in words
    told = report(failed, "--site", site)["site"]["left_out"]  # type: ignore[index]
    assert [one["line"] for one in told] == [3, 5, 6, 8]
    assert told[3] == {"line": 8, "message": "there is no cause 'hw-hbm-gone'", "hint": "did you mean 'hw-hbm-ue'?"}
    assert "## Left out of the site file" in run("diagnose", failed, "--site", site, "-f", "md").stdout
    assert run("diagnose", failed, "--site", site).stdout == done.stdout  # from what is kept too


@pytest.mark.parametrize(
    "command", [("show", "hw-hbm-ue"), ("why", "hw-hbm-ue", "FAILED"), ("list",), ("packs",), ("test", "hw-hbm-ue")]
)
def test_nor_does_it_stop_who_asks_about_rules(failed: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    arguments = [str(failed) if word == "FAILED" else word for word in command]
    expected = run("rules", *arguments)
    done = run("rules", *arguments, home=home_with(tmp_path, written(tmp_path, GONE)))
    assert (done.returncode, expected.returncode) == (0, 0)
    if command[0] in ("list", "test"):  # which have no use for a site file
        assert done.stderr == expected.stderr
    else:
        (told,) = done.stderr.splitlines()
        assert told.startswith(
            "neuron-doctor: left out of the site file west: line 3: there is no parameter 'hw-gone.rise'"
        )
        assert "; line 8: there is no cause 'hw-hbm-gone' (did you mean 'hw-hbm-ue'?)" in told


def test_for_the_lint_it_stays_an_error(tmp_path: Path) -> None:
    linted = run("rules", "lint", "--site", written(tmp_path, GONE))
    assert linted.returncode == 2
    assert [
        line.split(": ")[0].rpartition("site.yaml:")[2] for line in linted.stdout.splitlines() if "[name]" in line
    ] == [
        "3:3",
        "5:35",
        "6:14",
        "8:15",
    ]


def test_what_is_wrong_in_another_way_still_ends_a_diagnosis(failed: Path, tmp_path: Path) -> None:
    done = run("diagnose", failed, "--site", written(tmp_path, GONE.replace("2099-01-31", "2099-02-31", 1)))
    assert done.returncode == 2
    assert [line for line in done.stderr.splitlines() if "is no day" in line]
