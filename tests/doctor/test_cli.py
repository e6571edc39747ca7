"""The command line as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "corpus" / "demo" / "input"
HBM = (
    "2026-May-01 12:00:31.067150 159612:159612 ERROR  TDRV:exec_request_process_errors   (FATAL-RT-UNDEFINED-STATE) "
    "[ND 3] Uncorrectable HBM memory error is detected. Execution results may be invalid. Please terminate this instance "
    "to prevent future impact from the hardware error.\n"
)


def run(*args: str | Path, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    """The program with an environment that has nothing but what is given: no HOME, no PATH."""
    command = [sys.executable, "-m", "neuron_doctor", *map(str, args)]
    return subprocess.run(command, input=stdin, capture_output=True, env=env, timeout=120, check=False, cwd="/")


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    (tmp_path / "ip-10-0-0-1").mkdir()
    (tmp_path / "ip-10-0-0-1" / "rank_3.log").write_text(f"step 1\n{HBM}")
    return tmp_path


def test_a_failure_exits_with_1_and_the_report_stands_on_standard_output(failed: Path) -> None:
    done = run("diagnose", failed)
    assert done.returncode == 1
    assert done.stdout.startswith(b"ROOT CAUSE: ")
    assert b"ip-10-0-0-1" in done.stdout
    assert done.stderr == b""
    assert b"\x1b" not in done.stdout


def test_the_json_report_keeps_the_contract(failed: Path) -> None:
    done = run("diagnose", failed, "--format", "json")
    report = json.loads(done.stdout)
    jsonschema.validate(report, json.loads((ROOT / "docs" / "report.schema.json").read_text()))
    assert report["schema"] == "neuron-doctor/report/1"
    assert report["verdict"]["exit_status"] == done.returncode == 1
    [root] = [finding for finding in report["findings"] if finding["id"] in report["root_causes"]]
    assert root["place"]["device"] == 3
    assert root["place"]["ranks"] == [3]
    assert root["evidence"][0]["line"] == 2
    assert str(failed.parent) not in json.dumps([root["evidence"][0]["text"]])


def test_a_labelled_path_is_enough_and_none_at_all_is_wrong_usage(failed: Path) -> None:
    done = run("diagnose", "--label", f"node-7={failed / 'ip-10-0-0-1'}")
    assert done.returncode == 1
    assert b"node-7/rank_3.log:2\n" in done.stdout
    for command in ("diagnose", "facts"):
        none = run(command)
        assert (none.returncode, none.stdout) == (2, b"")
        assert b"no PATH" in none.stderr


def test_two_runs_give_the_same_bytes(failed: Path) -> None:
    first, second = (run("diagnose", failed, "--format", "json", PYTHONHASHSEED=seed).stdout for seed in ("1", "2"))
    assert first == second


def test_a_healthy_log_exits_with_0_and_says_what_was_seen(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("step 1 loss=2.5\nstep 2 loss=2.4\n")
    done = run("diagnose", tmp_path)
    assert done.returncode == 0
    assert b"o failure found in what was collected" in done.stdout


@pytest.mark.parametrize("make", ["empty directory", "empty file", "binary"])
def test_nothing_readable_exits_with_3(tmp_path: Path, make: str) -> None:
    if make != "empty directory":
        (tmp_path / "x").write_bytes(b"" if make == "empty file" else bytes(range(256)) * 8)
    done = run("diagnose", tmp_path, "--format", "json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["verdict"]["status"] == "not-evaluable"


@pytest.mark.parametrize(
    "args",
    [
        ("diagnose", "/nowhere/at/all"),
        ("diagnose",),
        ("diagnose", "/", "--format", "xml"),
        ("diagnose", "/", "--rules", "/nowhere"),
        ("diagnose", "/", "--ranks", "seven"),
        ("diagnose", "/", "--since", "yesterday"),
        ("diagnose", "/", "--assume-timezone", "Mars/Base"),
        ("nonsense",),
    ],
)
def test_usage_errors_exit_with_2_and_print_no_report(args: tuple[str, ...]) -> None:
    done = run(*args)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr


def test_a_nagios_check_that_cannot_run_is_unknown_not_critical() -> None:
    assert run("diagnose", "/nowhere/at/all", "--nagios").returncode == 3
    assert run("diagnose", "/", "--format", "xml", "--nagios").returncode == 3


def test_two_reports_do_not_go_into_one_file(tmp_path: Path) -> None:
    assert run("diagnose", tmp_path, "-f", "text", "-f", "json", "-o", tmp_path / "x").returncode == 2


def test_a_wrong_rule_exits_with_2_and_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("id: mine\ntitel: x\n")
    done = run("diagnose", DEMO, "--rules", tmp_path)
    assert done.returncode == 2
    assert b"mine.yaml:2" in done.stderr
    assert done.stdout == b""


def test_a_damaged_file_is_named_and_the_rest_is_diagnosed(failed: Path) -> None:
    (failed / "node1.log.gz").write_bytes(b"\x1f\x8b\x08\x00garbage")
    (failed / "trace").write_bytes(b"\x80\x02}q\x00(X\x07\x00\x00\x00versionq")
    done = run("diagnose", failed, "--format", "json")
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert {s["path"].rpartition("/")[2] for s in report["sources"] if s["problems"]} == {"node1.log.gz", "trace"}


def test_standard_input_and_archives_are_inputs_too(failed: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    bundle = tmp_path_factory.mktemp("bundle") / "bundle.tar.gz"
    with tarfile.open(bundle, "w:gz") as archive:
        archive.add(failed / "ip-10-0-0-1", "ip-10-0-0-1")
    assert run("diagnose", "-", stdin=HBM.encode()).returncode == 1
    done = run("diagnose", bundle, "--format", "json")
    [root] = [f for f in json.loads(done.stdout)["findings"] if f["role"] == "root"]
    assert root["place"]["host"] == "ip-10-0-0-1"
    assert root["evidence"][0]["path"].endswith("bundle.tar.gz!ip-10-0-0-1/rank_3.log")


def test_several_formats_at_once_go_to_their_files(failed: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    out = tmp_path_factory.mktemp("out")
    done = run("diagnose", failed, "--format", "text", "--format", f"json={out}/r.json", "--format", f"md={out}/r.md")
    assert done.stdout.startswith(b"ROOT CAUSE")
    assert json.loads((out / "r.json").read_text())["root_causes"]
    assert (out / "r.md").read_text().startswith("#")


@pytest.mark.parametrize(
    ("options", "status"),
    [(["--exit-zero"], 0), (["--nagios"], 2), (["--fail-on", "critical"], 1)],
)
def test_the_exit_status_can_be_chosen(failed: Path, options: list[str], status: int) -> None:
    done = run("diagnose", failed, "--format", "json", *options)
    assert done.returncode == status
    assert json.loads(done.stdout)["verdict"]["exit_status"] == status


def test_colour_is_for_those_who_ask(failed: Path) -> None:
    assert b"\x1b[" in run("diagnose", failed, "--color", "always").stdout
    assert b"\x1b[" in run("diagnose", failed, FORCE_COLOR="1").stdout
    assert b"\x1b[" not in run("diagnose", failed, FORCE_COLOR="1", NO_COLOR="1").stdout


def test_a_filter_changes_what_is_shown_and_not_the_verdict(failed: Path) -> None:
    report = json.loads(run("diagnose", failed, "--format", "json", "--ranks", "900").stdout)
    assert report["findings"] == []
    assert report["verdict"]["status"] == "root-cause"


def test_a_label_names_the_paths(failed: Path) -> None:
    report = json.loads(run("diagnose", failed, "--format", "json", "--label", f"bundle={failed}").stdout)
    assert {s["path"].split("/")[0] for s in report["sources"]} == {"bundle"}


def test_an_assumed_zone_makes_times_absolute(failed: Path) -> None:
    report = json.loads(run("diagnose", failed, "--format", "json", "--assume-timezone", "Asia/Tokyo").stdout)
    [root] = [f for f in report["findings"] if f["role"] == "root"]
    assert root["time"]["first"].startswith("2026-05-01T03:00:31")


def test_a_reader_that_goes_away_is_no_error(failed: Path) -> None:
    command = f"{sys.executable} -m neuron_doctor facts {DEMO} | head -n 1"
    done = subprocess.run(
        ["/bin/bash", "-c", command], capture_output=True, env={"PATH": "/usr/bin:/bin"}, timeout=120, check=False
    )
    assert done.stderr == b""
    assert json.loads(done.stdout)["kind"]


def test_facts_are_one_json_object_a_line(failed: Path) -> None:
    facts = [json.loads(line) for line in run("facts", failed).stdout.splitlines()]
    assert all({"kind", "place", "time", "data", "source"} <= fact.keys() for fact in facts)
    assert any(fact["place"].get("device") == 3 for fact in facts)


def test_version_help_and_completion() -> None:
    assert run("--version").stdout.startswith(b"neuron-doctor 0.")
    assert b"Examples:" in run("--help").stdout
    for shell in ("bash", "zsh", "fish"):
        assert b"neuron-doctor" in run("completion", shell).stdout
    words = {"COMP_WORDS": "neuron-doctor dia", "COMP_CWORD": "1", "_NEURON_DOCTOR_COMPLETE": "complete_bash"}
    assert run(**words).stdout.strip() == b"diagnose"


def test_the_rule_schema_is_a_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(run("rules", "schema").stdout))


def test_inputs_are_not_changed(failed: Path) -> None:
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in failed.rglob("*") if file.is_file()}
    run("diagnose", failed)
    assert {
        file: (file.stat().st_mtime_ns, file.read_bytes()) for file in failed.rglob("*") if file.is_file()
    } == before


def test_no_connection_is_opened_and_no_command_is_run(failed: Path) -> None:
    """An audit hook ends the program at the first socket or subprocess."""
    code = (
        "import sys\n"
        "bad = ('socket.connect', 'socket.bind', 'subprocess.Popen', 'os.system', 'os.exec', 'os.posix_spawn', 'os.fork')\n"
        "sys.addaudithook(lambda event, _: sys.exit(77) if event in bad else None)\n"
        f"sys.argv = ['neuron-doctor', 'diagnose', {str(failed)!r}]\n"
        "from neuron_doctor.cli import main\nmain()\n"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, timeout=120, check=False, env=dict(os.environ)
        ).returncode
        == 1
    )


# --- what cannot be written ----------------------------------------------------------------------------------------

FULL = Path("/dev/full")


@pytest.mark.parametrize("more", [(), ("--exit-zero",), ("--nagios",)])
def test_a_report_that_cannot_be_written_is_told_in_one_line_before_anything_is_read(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    (tmp_path / "run.log").write_text("all is well\n")
    places = {tmp_path: "it is a directory", tmp_path / "no" / "r.txt": f"there is no directory {tmp_path / 'no'}"}
    for file, why in places.items():
        for option in (("-o", file), ("-f", f"json={file}", "-f", "text")):
            done = run("diagnose", tmp_path / "run.log", *option, *more)
            assert done.returncode == (3 if "--nagios" in more else 2)
            told = f"neuron-doctor: {file} cannot be written: {why}\n"
            assert (done.stdout, done.stderr.decode()) == (b"", told)


@pytest.mark.skipif(not FULL.is_char_device(), reason="there is no device that is always full")
def test_a_full_disk_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("2026-05-01 12:00:00 INFO train: step=41 loss=2.3\n")
    full = "No space left on device\n"
    for command in (("diagnose", tmp_path, "-o", FULL), ("part", tmp_path, "-o", FULL)):
        done = run(*command)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.decode() == f"neuron-doctor: /dev/full cannot be written: {full}"
    for command in (("diagnose", tmp_path), ("facts", tmp_path), ("rules", "list"), ("rules", "schema", "rule")):
        with FULL.open("w") as out:
            done = subprocess.run(
                [sys.executable, "-m", "neuron_doctor", *map(str, command)],
                stdout=out,
                stderr=subprocess.PIPE,
                check=False,
            )
        assert done.returncode == 2
        assert done.stderr.decode() == f"neuron-doctor: standard output cannot be written: {full}"
    assert FULL.is_char_device()  # it was written to, not replaced


def test_a_part_is_written_to_a_pipe_and_does_not_take_its_place(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("2026-05-01 12:00:00 INFO train: step=41 loss=2.3\n")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    assert run("part", tmp_path / "run.log", "-o", pipe).returncode == 0
    assert reader.communicate(timeout=60)[0]
    assert pipe.is_fifo()


def test_a_reader_that_goes_early_is_no_failure_that_was_found() -> None:
    """`neuron-doctor facts ... | head -1`, with more to write than a pipe holds."""
    with subprocess.Popen(
        [sys.executable, "-m", "neuron_doctor", "facts", str(DEMO)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout
        assert running.stderr
        running.stdout.readline()
        running.stdout.close()
        assert (running.wait(), running.stderr.read()) == (0, b"")
