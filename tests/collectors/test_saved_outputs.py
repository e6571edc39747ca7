"""A terminal shows of which pod or host a file is that it wrote."""

from __future__ import annotations

import io

import pytest

from neuron_doctor.collectors.base import Input
from neuron_doctor.collectors.saved_outputs import saved_outputs


def saved(text: str) -> list[tuple[object, dict[str, object]]]:
    inp = Input("w/typescript", "typescript", io.BufferedReader(io.BytesIO(text.encode())), len(text))  # type: ignore[arg-type]
    return [(fact.data["file"], dict(fact.place.known())) for fact in saved_outputs(inp, text.encode())]


@pytest.mark.parametrize(
    ("command", "file", "place"),
    [
        ("$ kubectl -n ml logs sft-worker-1 --tail=200 > w1.txt", "w1.txt", {"container": "sft-worker-1"}),
        ("$ kubectl logs pod/sft-worker-1 -c train -p >> out/w1.log", "w1.log", {"container": "sft-worker-1/train"}),
        ("$ kubectl logs sft-worker-1 >w1.txt", "w1.txt", {"container": "sft-worker-1"}),
        ("$ kubectl exec sft-worker-1 -- dmesg | tee d.txt", "d.txt", {"container": "sft-worker-1"}),
        ("me@head:~$ ssh -o BatchMode=yes ubuntu@n12 'sudo dmesg -T' > d.txt", "d.txt", {"host": "n12"}),
        ("[root@n12 /]# /opt/aws/neuron/bin/neuron-ls -j > /tmp/nls.json", "nls.json", {"host": "n12"}),
        ("[root@n12 /]# sudo dmesg > d.txt 2>&1", "d.txt", {"host": "n12"}),
        ("[root@n12 /]# timeout 9 tail -n 500 /var/log/messages > m.txt", "m.txt", {"host": "n12"}),
        ("me@head:~$ ssh -t -i key -p 22 -J jump n12 dmesg > d.txt", "d.txt", {"host": "n12"}),
        (
            "me@head:~$ kubectl exec -it sft-worker-1 -c train -- neuron-ls > n.txt",
            "n.txt",
            {"container": "sft-worker-1/train"},
        ),
    ],
)
def test_what_was_saved_is_of_whom_the_command_names(command: str, file: str, place: dict[str, object]) -> None:
    assert saved(f"{command}\n") == [(file, place)]


@pytest.mark.parametrize(
    "command",
    [
        "$ kubectl get pods -o wide > pods.txt",
        "$ kubectl logs -l app=sft > all.txt",
        "$ for p in a b; do kubectl logs $p > $p.txt; done",
        "me@head:~$ sacct -X > jobs.txt",
        "me@head:~$ cat a.log > b.log",
        "me@head:~$ sed -n 1,80p logs/node7.log > b.log",
        "me@head:~$ ssh n12 cat /fsx/logs/rank7.log > rank7.txt",
        "me@head:~$ ssh n12 ./all_logs.sh > all.txt",
        "me@head:~$ kubectl exec sft-worker-1 -- cat /fsx/logs/rank7.log > rank7.txt",
        "me@head:~$ kubectl exec deploy/sft -- dmesg > d.txt",
        "me@head:~$ kubectl exec -l app=sft -- dmesg > d.txt",
        "me@head:~$ kubectl get pod logs > p.txt",
        "me@head:~$ kubectl describe pod exec > p.txt",
        "me@head:~$ journalctl -D /fsx/journals/n7 -k > j.txt",
        "me@head:~$ ./run.sh > run.txt",
        "$ dmesg > d.txt",
        "me@head:~$ ssh n12 uptime > /dev/null",
        "me@head:~$ ssh n12 'sudo dmesg > d.txt",
        "loss > 2.0",
    ],
)
def test_other_commands_tell_nothing(command: str) -> None:
    assert saved(f"{command}\n") == []
