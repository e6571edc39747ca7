"""A host that only a dashboard shows is one of the job where ranks are missing, and not where all are there."""

from __future__ import annotations

from pathlib import Path

from neuron_doctor import diagnose

PANEL = (
    "Time,ip-10-0-0-1 nd0,ip-10-0-0-2 nd0,ip-10-0-0-3 nd3{more}\n"
    "2026-11-07 13:41:00,0,0,0{zero}\n2026-11-07 13:41:30,0,0,1{zero}\n"
)
HANG = (
    "[rank{rank}]: 2026-Nov-07 13:42:05.292372  61{rank}0:61{rank}8  ERROR  TDRV:exec_wait (FATAL-RT-UNDEFINED-STATE)"
    " [ND 0][NC 0] missing collectives status on model /c/MODULE_1+2/model.neff. Suspected hang in collectives operation 9"
    " out of 88\n[rank{rank}]: 2026-Nov-07 13:42:05.294372  61{rank}0:61{rank}8  ERROR  NMGR:dlr Execution completed with err:"
    " 1200. mode->h_nn=1007, lnc=0\n"
)


BROKE = ("hw-sram-ue", "ip-10-0-0-3")
SACCT = "JobID|JobName|State|ExitCode|NodeList\n"


def roots(
    folder: Path, ranks: dict[str, list[int]], *, fleet: int = 0, beside: dict[str, str] | None = None
) -> list[tuple[str, str | None]]:
    more = "".join(f",ip-10-0-1-{number} nd0" for number in range(fleet))
    (folder / "sram_ecc_uncorrected-data-2026-11-07.csv").write_text(PANEL.format(more=more, zero=",0" * fleet))
    for host, own in ranks.items():
        (folder / host).mkdir()
        (folder / host / "train.log").write_text("".join(HANG.format(rank=rank) for rank in own))
    for name, text in (beside or {}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    report = diagnose([str(folder)])
    return [(one.cause, one.place.host) for one in report.findings if one.id in report.root_causes]


def test_the_host_whose_log_is_lost_is_convicted_by_its_counter(tmp_path: Path) -> None:
    assert roots(tmp_path, {"ip-10-0-0-1": [0, 1], "ip-10-0-0-2": [4, 5]}) == [("hw-sram-ue", "ip-10-0-0-3")]


def test_a_host_beside_a_job_of_which_all_ranks_are_here_is_none_of_it(tmp_path: Path) -> None:
    assert roots(tmp_path, {"ip-10-0-0-1": [0, 1], "ip-10-0-0-2": [2, 3]}) == []


def test_of_a_whole_fleet_nothing_tells_which_host_has_the_missing_ranks(tmp_path: Path) -> None:
    assert roots(tmp_path, {"ip-10-0-0-1": [0, 1], "ip-10-0-0-2": [4, 5]}, fleet=3) == []


def test_a_counter_of_a_host_of_the_job_counts_whatever_else_is_shown(tmp_path: Path) -> None:
    assert roots(tmp_path, {"ip-10-0-0-1": [0, 1], "ip-10-0-0-3": [2, 3]}, fleet=3) == [("hw-sram-ue", "ip-10-0-0-3")]


def test_a_counter_of_a_node_that_slurm_gave_to_the_job_counts_whatever_else_is_shown(tmp_path: Path) -> None:
    logs = {"ip-10-0-0-1": [0, 1], "ip-10-0-0-2": [2, 3]}
    for number, (name, text) in enumerate((
        ("sacct.txt", f"{SACCT}880|pre|FAILED|1:0|ip-10-0-0-[1-3]\n"),
        ("ip-10-0-0-1/env.log", "SLURM_JOB_NODELIST=ip-10-0-0-[1-3]\n"),
    )):  # fmt: skip
        (tmp_path / str(number)).mkdir()
        assert BROKE in roots(tmp_path / str(number), logs, fleet=3, beside={name: text})


def test_nodes_of_other_jobs_are_none_of_this_one(tmp_path: Path) -> None:
    logs = {"ip-10-0-0-1": [0, 1], "ip-10-0-0-2": [2, 3]}
    rows = f"{SACCT}880|pre|FAILED|1:0|ip-10-0-0-[1-2]\n881|b|RUNNING|0:0|ip-10-0-0-3\n"
    controller = "[2026-11-07T13:40:00.000] sched: Allocate JobId=881 NodeList=ip-10-0-0-3 #CPUs=8 Partition=trn\n"
    for number, beside in enumerate(({"sacct.txt": rows}, {"slurmctld.log": controller})):
        (tmp_path / str(number)).mkdir()
        assert BROKE not in roots(tmp_path / str(number), logs, beside=beside)


def test_where_no_rank_is_known_a_counter_counts_but_of_hosts_beside_the_nodes_of_the_job(tmp_path: Path) -> None:
    log = {"ip-10-0-0-1/train.log": "2026-11-07 13:40:06 step 1 loss 3.0\n"}
    for number, (nodes, found) in enumerate(((None, [BROKE]), ("ip-10-0-0-[1-3]", [BROKE]), ("ip-10-0-0-[1-2]", []))):
        (tmp_path / str(number)).mkdir()
        rows = {"sacct.txt": f"{SACCT}880|pre|FAILED|1:0|{nodes}\n"} if nodes else {}
        assert [one for one in roots(tmp_path / str(number), {}, beside=log | rows) if one == BROKE] == found
