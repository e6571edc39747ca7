"""Tables of a cluster in what a terminal shows are read as if each lay in a file of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from builtin_rules import rulebook

from neuron_doctor.collectors.shown_tables import shown_tables
from neuron_doctor.pipeline import collect
from neuron_doctor.request import Request

SACCT = """[ops@head ~]$ sacct -X -o jobid,state,exitcode,nodelist%30
JobID             State ExitCode                       NodeList
------------ ---------- -------- ------------------------------
7702         CANCELLED+      0:0          compute-dy-trn1-[2-3]
7731            RUNNING      0:0          compute-dy-trn1-[7-8]
"""
PODS = """[ops@head ~]$ sudo kubectl get pods -o wide
NAME       READY   STATUS    RESTARTS   AGE   IP           NODE
sft-w-0    1/1     Running   0          6d    10.91.12.4   n-a1
sft-w-1    0/1     Error     3          6d    10.91.12.5   n-a2
"""
SQUEUE = """  JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
  66120     batch pretrain    train  R 5-22:40:11     32 c[00-31]
"""
SINFO = """PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
batch*       up   infinite     32  alloc c[00-31]
"""
OTHER = """[ops@head ~]$ ls -l /fsx
total 9412
-rw-rw-r-- 1 akira research 0 model.hlo_module.pb.gz.lock
"""


def names(text: str) -> list[str]:
    return [member.name for member in shown_tables(text.encode())]


def test_each_table_is_an_input_with_its_command() -> None:
    assert names(OTHER + SACCT + OTHER + PODS + SACCT) == ["sacct.txt", "kubectl.txt", "sacct-2.txt"]
    (member,) = shown_tables((OTHER + SACCT).encode())
    assert b"".join(member.chunks) == SACCT.encode()


@pytest.mark.parametrize(
    "text", [SACCT, PODS, OTHER, SACCT.replace("sacct -X", "mysacct"), OTHER + "the sacct says 7702 CANCELLED\n"]
)
def test_a_text_of_nothing_else_or_without_tables_has_none(text: str) -> None:
    assert names(text) == []


def test_the_text_itself_is_read_as_ever(tmp_path: Path) -> None:
    (tmp_path / "by_hand.txt").write_text(OTHER + SACCT)
    found = collect(Request((str(tmp_path),)), rulebook())
    assert {source.kind for source in found.sources} == {"log", "slurm"}
    told = [fact for fact in found.facts if fact.kind == "slurm-job"]
    assert [(fact.data["job_id"], fact.span.line) for fact in told] == [("7702", 4), ("7731", 5)]


def test_tables_that_somebody_put_into_one_file_without_their_commands_are_inputs_too() -> None:
    pods = PODS.partition("\n")[2]
    assert names(f"{SQUEUE}\n{SINFO}\n \nc32: Reason=hw_hbm_ue\n") == ["table.txt"]
    assert names(f"as of this morning:\n\n{SQUEUE}\n{pods}") == ["table.txt", "table-2.txt"]
    assert names(f"{SQUEUE}it waits\n\n{SINFO}") == []
