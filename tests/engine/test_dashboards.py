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


def roots(folder: Path, ranks: dict[str, list[int]], *, fleet: int = 0) -> list[tuple[str, str | None]]:
    more = "".join(f",ip-10-0-1-{number} nd0" for number in range(fleet))
    (folder / "sram_ecc_uncorrected-data-2026-11-07.csv").write_text(PANEL.format(more=more, zero=",0" * fleet))
    for host, own in ranks.items():
        (folder / host).mkdir()
        (folder / host / "train.log").write_text("".join(HANG.format(rank=rank) for rank in own))
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
