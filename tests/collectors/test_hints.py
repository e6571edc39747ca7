"""Hints of paths: the shapes that say a place, and the many names with numbers that do not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.collectors import hints
from neuron_doctor.collectors.hints import bare, place_of_path
from neuron_doctor.engine.facts import NOWHERE

INSTANCE = "i-0123456789abcdef0"


@pytest.mark.parametrize(
    ("path", "host"),
    [
        ("node3/dmesg.txt", "node3"),
        ("streams/ip-10-0-3-7.ec2.internal-dataplane.tail.host", "ip-10-0-3-7.ec2.internal"),
        ("streams/ip-10-0-3-7.us-west-2.compute.internal-host.dmesg/000000", "ip-10-0-3-7.us-west-2.compute.internal"),
        ("ip-10-0-3-7.ec2.internal-dataplane.systemd.kubelet.service.log", "ip-10-0-3-7.ec2.internal"),
        ("describe-jobs-node4.json", "node4"),
        ("logs/node-03/rank0.log", "node-03"),
        ("host-a/run.log", "host-a"),
        ("nodeA/run.log", "nodeA"),
        ("host_b/run.log", "host_b"),
        ("trn-vmA/run.log", "trn-vmA"),
        ("computeB.log", "computeB"),
        ("worker-12/stderr.log", "worker-12"),
        ("trn1-07/stderr.log", "trn1-07"),
        ("trn1-07.cluster.local/stderr.log", "trn1-07.cluster.local"),
        ("head.corp.internal/stderr.log", "head.corp.internal"),
        ("ip-10-0-3-7/gpt2.small.local.log", "ip-10-0-3-7"),
        ("ip-10-0-3-7/gpt2.small.uni.de.log", "ip-10-0-3-7"),
        ("ip-10-0-3-7/lyra3.hpc.example.edu.log", "lyra3.hpc.example.edu"),
        ("ip-10-0-3-7/node4.cluster.local.log", "node4.cluster.local"),
        ("lyra3.cluster.local.log", "lyra3.cluster.local"),
        ("ip-10-0-3-7/x.log", "ip-10-0-3-7"),
        ("ml5.dc2.example.org/train.log", "ml5.dc2.example.org"),
        ("metrics/ml8.dc2.example.org.rank_timing.csv", "ml8.dc2.example.org"),
        ("ml7.dc2.example.org-slurmd.service.txt", "ml7.dc2.example.org"),
        ("dmesg-juniper4.hpc.uni.edu.txt", "juniper4.hpc.uni.edu"),
        ("spare-node-3/dmesg.txt", "spare-node-3"),
        ("trn3.cs.ox.ac.uk/x.txt", "trn3.cs.ox.ac.uk"),
        ("trn09.ml.uni-example.de.log", "trn09.ml.uni-example.de"),
        ("10.0.3.7/x.log", "10.0.3.7"),
        ("algo-1/x.log", "algo-1"),
        ("queue1-dy-compute1-4/x.log", "queue1-dy-compute1-4"),
        ("hosts/alpha/x.log", "alpha"),
        ("nodes/beta.tar.gz!var/log/dmesg", "beta"),
        ("node3.tar.gz!var/log/dmesg", "node3"),
        ("bundle.tar.gz!node3/x.log", "node3"),
        ("logs-node3/x", "node3"),
        ("node3-logs/x", "node3"),
        ("node1/node2/x.log", "node2"),
        ("dmesg_ip-10-0-3-7.txt", "ip-10-0-3-7"),
        ("dockerlogs_node3.log", "node3"),
        ("node3-containerlogs/x", "node3"),
        ("node-ip-10-0-3-7.dmesg", "ip-10-0-3-7"),
        ("ip-10-0-3-7.us-west-2.compute.internal-dmesg.txt", "ip-10-0-3-7.us-west-2.compute.internal"),
        ("neuron-monitor-node3.json", "node3"),
        ("kern.log-host-b.gz", "host-b"),
        ("train-node3-rank5-20260701.log", "node3"),
        ("algo-2-1727755200.log", "algo-2"),
        ("algo-2-1727755200123.log", "algo-2"),
        ("llama-sft-2026-04-02-15-20-11-884_algo-2-1775143495.json", "algo-2"),
        ("llama-sft-2026-04-02-15-20-11-884-algo-12-1775143495.log", "algo-12"),
        ("aws_sagemaker_TrainingJobs_llama%2Falgo-2-1775143495_events.json.gz", "algo-2"),
        ("llama$252Falgo-2-1775143495/000001.gz", "algo-2"),
        ("nccl_trace_rank_container-node02_5", "container-node02"),
        ("neuron-ls_ip-10-0-3-7_after.txt", "ip-10-0-3-7"),
        ("neuron-ls-ip-10-0-3-7-post-mortem.txt", "ip-10-0-3-7"),
        ("dmesg_10.0.3.7_second_try.txt", "10.0.3.7"),
        ("lspci_i-0123456789abcdef0_0914.txt", "i-0123456789abcdef0"),
        ("hyperpod-i-0123456789abcdef0/dmesg.txt", "hyperpod-i-0123456789abcdef0"),
        ("dmesg_hyperpod-i-0123456789abcdef0.txt", "hyperpod-i-0123456789abcdef0"),
        ("neuron-ls_node3_after.txt", "node3"),
        ("before_node3.txt", "node3"),
        ("stack-10.0.3.7.txt", "10.0.3.7"),
        ("py-spy/cn-05_pid6013.txt", "cn-05"),
        ("sosreport-trn1-b-2-2025-04-09-kxzq.tar.gz!sosreport-trn1-b-2-2025-04-09-kxzq/var/log/messages", "trn1-b-2"),
        ("sosreport-node3-2026-01-31-abcdefg-obfuscated.tar.xz!x/dmesg", "node3"),
        ("sosreport-willow-2026-11-17-4dfa4d6.tar.xz!x/dmesg", "willow"),
        ("sosreport-willow-01234567-2026-11-17-abcdefg.tar.xz!x/dmesg", "willow"),
        ("dmesg@node3.txt", "node3"),
        ("out/41990_ip-172-16-9-20.out", "ip-172-16-9-20"),
        ("slurm-41990_3_ip-10-0-0-1.err", "ip-10-0-0-1"),
        ("pre.train-41990-ip-10-0-0-1.cluster.internal.out", "ip-10-0-0-1.cluster.internal"),
        ("ssm-session-algo-3.txt", "algo-3"),
        ("sosreport-ml2node17-CASE55120-2026-09-02-qwjfkde/var/log/messages", "ml2node17"),
        ("sosreport-gpu-20240117-2026-11-17-abcdefg.tar.xz!x/dmesg", "gpu-20240117"),
        ("sosreport-node-100234-01234567-2026-11-17-abcdefg.tar.xz!x/dmesg", "node-100234"),
        ("sosreport-node-12-east-01234567-2026-11-17-abcdefg.tar.xz!x/dmesg", "node-12-east"),  # label or not
        ("sosreport-ip-10-3-7-12-hbm-2026-11-17-abcdefg.tar.xz!x/dmesg", "ip-10-3-7-12"),
        ("collected/epilog-trn1-07/dmesg.txt", "trn1-07"),
        ("launch-node-d.log", "node-d"),
        ("10.20.7.35.docker.log", "10.20.7.35"),
        ("10.20.7.35.check", "10.20.7.35"),
        ("check_node7.txt", "node7"),
        ("preflight_node7.txt", "node7"),
        ("snapshot-node-03.txt", "node-03"),
        ("proxy+prefill (ip-10-0-3-7)/x.log", "ip-10-0-3-7"),
        ("box 2 [10.0.3.7]/dmesg.txt", "10.0.3.7"),
        ("node3_scrollback.txt", "node3"),
    ],
)
def test_a_host_is_told_by_its_shape_or_its_parent(path: str, host: str) -> None:
    assert place_of_path(path).host == host


@pytest.mark.parametrize(
    "path",
    [
        "export/queue-a-st-trn2-2.i-0123456789abcdef0.system-messages",
        "export/queue-a-st-trn2-2.i-0123456789abcdef0.slurmd.log.gz",
        "logs.tar.gz!cloudwatch-logs/queue-a-st-trn2-2.i-0123456789abcdef0.cloud-init-output",
        "queue-a-st-trn2-2.i-0123456789abcdef0.computemgtd-2026-08-27.log",
        "queue-a-st-trn2-2.i-0123456789abcdef0.syslog/000000.gz",
    ],
)
def test_a_stream_of_parallelcluster_is_called_after_the_host_and_its_instance(path: str) -> None:
    place = place_of_path(path)
    assert (place.host, place.instance_id) == ("queue-a-st-trn2-2", INSTANCE)


@pytest.mark.parametrize("path", [f"job.7.{INSTANCE}.log", f"x/{INSTANCE}.system-messages", f"run..{INSTANCE}.slurmd"])
def test_what_has_an_instance_in_its_name_is_not_called_after_a_host(path: str) -> None:
    assert place_of_path(path).host in (None, INSTANCE)


@pytest.mark.parametrize(
    "path",
    [
        "logs/input/out/x.log",
        "node-logs/x.log",
        "nodes/x.log",
        "stacks/pid6013.txt",
        "hosts.txt",
        "host.log",
        "run1/x.log",
        "job-123/x.log",
        "step100/ckpt-5/x.log",
        "attempt_0/x.log",
        "trn1/x.log",
        "trn1.32xlarge/x.log",
        "inf2-8xlarge/x.log",
        "2.24.7.0/x.log",
        "v1.2.3/x.log",
        "worker-3.err",
        "readme.local",
        "gpt2.debug.local.log",
        "run7.ml.example.edu.log",
        "lyra3.train.home.log",
        "dmesg.log",
        "syslog.1",
        "vllm-server.log",
        "2026-07-01/x.log",
        "dt-20250917-194443-cid-0000000000000000/x",
        "ping_from_ip-10-0-3-7_after.txt",
        "ip-10-0-3-7-to-ip-10-0-3-8.log",
        "logs_ip-10-0-3-7_ip-10-0-3-8.txt",
        "efa_10.0.3.7_10.0.3.8_after.txt",
        "after.txt",
        "ip-10-0-3-7-replacement.log",
        "replacement of node (ip-10-0-3-7)/x.log",
        "route to (ip-10-0-3-7).txt",
        "link (ip-10-0-3-7 and ip-10-0-3-8).txt",
        "neuron-ls_ip-10-0-3-7_new.txt",
        "ip-10-0-3-7-to-fsx.txt",
        "llama_algo-2-17.log",
        "llama_algo-2-2026.log",
        "job_myalgo-2-1775143495.log",
        "job_algo-1-1775143495_algo-2-1775143495.log",
        "algo-2-1775143495-replacement.log",
        "algoA/train.log",
        "algo-b/train.log",
        "wmt14.train.en.de.log",
        "wmt14.train.de.log",
        "my-app.prod.us.log",
        "torch-2.5.1.dev.se.log",
        "neuronx-cc-2.21.com",
        "llama3.8b.local_rank_1.log",
        "llama2.dp8.cluster.log",
        "trn1.32xlarge.cluster.log",
        "vllm.engine.internal.log",
        "bert.large.cased.it.log",
        "torch.distributed.elastic.agent.server.local.log",
        "s3.us-east-1.amazonaws.com.log",
        "worker-ml10.dc2.example.org.out",
        "from-ml10.dc2.example.org-to-ml11.dc2.example.org.log",
        "headA/x.log",
        "serverB/x.log",
        "masterA.log",
        "cnA.log",
        "workerA/x.log",
        "/tmp/pytest-of-root/pytest-12/test_a_rank_on_host_a_dies0/x.log",
        "",
        "/",
        "!!",
    ],
)
def test_no_host_is_guessed(path: str) -> None:
    assert place_of_path(path).host is None


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("rank_12.log", {"rank": 12}),
        ("rank12.log", {"rank": 12}),
        ("rank-0003/stderr.log", {"rank": 3}),
        ("log.rank7.txt", {"rank": 7}),
        ("global_rank_7.txt", {"rank": 7}),
        ("nccl_trace_rank_5", {"rank": 5}),
        ("comm_lib_trace_rank_3", {"rank": 3}),
        ("_dump_5", {"rank": 5}),
        ("_dump_5.json", {"rank": 5}),
        ("_dump_5.json.gz", {"rank": 5}),
        ("trace_5.zst", {"rank": 5}),
        ("nccl_trace_rank_ip-10-0-3-7_5.gz", {"rank": 5, "host": "ip-10-0-3-7"}),
        ("nccl_trace_rank_ip-10-0-3-7_5.pkl.xz", {"rank": 5, "host": "ip-10-0-3-7"}),
        ("trace_5", {"rank": 5}),
        ("local_rank_3.log", {"local_rank": 3}),
        ("localrank3.log", {"local_rank": 3}),
        ("tp_rank_1/pp_rank_2/x.log", {}),
        ("node_rank_0.log", {}),
        ("frank3.log", {}),
        ("rank0-7.log", {}),
        ("train_rank53-1.log", {"rank": 53}),
        ("train_rank0-1.log", {}),
        ("ranks0-7.log", {}),
        ("trace_5.json", {}),
        ("input_dump_424238335", {}),
        ("slurm-1234_5.out", {"job": "1234"}),
        ("slurm-1234.out", {"job": "1234"}),
        ("run_ab12/attempt_0/3/stderr.log", {"attempt": 0, "local_rank": 3}),
        ("restart_1/node1/rank3.log", {"attempt": 1, "host": "node1", "rank": 3}),
        ("attempt_0/logs/3/stderr.log", {"attempt": 0}),
        ("logs/restart-attempt-1/x.log", {"attempt": 1}),
        ("run_attempt_2/x.log", {"attempt": 2}),
        ("last-attempt-1/x.log", {}),
        ("node1/ranks/5/stderr.log", {"host": "node1", "local_rank": 5}),
        ("node1/local_ranks/5.log", {"host": "node1"}),
        ("ranks/results/x.log", {}),
        (f"{INSTANCE}/dmesg", {"host": INSTANCE, "instance_id": INSTANCE}),
        (f"{INSTANCE}-nd3-nc1-pid-77-tid-88-lid-1", {"instance_id": INSTANCE, "pid": 77}),
        ("hi-0123456789abcdef0/x", {}),
        ("var/log/pods/ns_t-0_0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f/main/0.log", {"container": "t-0/main"}),
        (f"var/log/containers/t-0_ns_main-{'0a' * 32}.log", {"container": "t-0/main"}),
        ("saved/ns_t-0_0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f/main/0.log", {"container": "t-0/main"}),
        ("saved/ns_t-0_0a1b2c3d/main/0.log", {}),
        ("pods/t-0/main.log", {"container": "t-0/main"}),
        ("pods/t-0.log", {"container": "t-0"}),
        ("pods/train_t-0/main/0.log", {"container": "t-0/main"}),
        (f"pods/mnp-neuron_default_{'b7' * 16}", {"container": f"mnp-neuron_default_{'b7' * 16}"}),
        ("pods/train_t-0_1b2c3d/main/0.log", {"container": "t-0/main"}),
    ],
)
def test_what_else_a_path_tells(path: str, known: dict[str, object]) -> None:
    assert place_of_path(path).known() == known


names = st.one_of(
    st.builds("host-{}".format, st.sampled_from("abcdefgh")),
    st.builds("node{}".format, st.integers(0, 999)),
    st.builds("trn2-{:02}".format, st.integers(0, 999)),
    st.builds("ip-10-{}-{}-{}".format, *[st.integers(0, 255)] * 3),
)


@given(names, st.sampled_from(["{}/rank3.log", "a/{}/b/rank3.log", "dmesg_{}.rank3.log", "{}.tar.gz!x/rank3.log"]))
def test_a_host_may_have_any_name_of_a_host(name: str, path: str) -> None:
    place = place_of_path(path.format(name))
    assert place.known() == {"host": name, "rank": 3}


@given(st.text(max_size=300) | st.lists(st.sampled_from([*"/!._-", "rank", "node", "3", "pods", "hosts"])).map("".join))
def test_any_path_gives_a_place(path: str) -> None:
    assert place_of_path(path).over(NOWHERE) == place_of_path(path)


@pytest.mark.parametrize("unit", ["a-", "rank", "node3.", "log-", "-log", "a.", "1", "i-0", "a/", "!"])
def test_a_hostile_path_is_read_at_once(unit: str) -> None:
    assert place_of_path(unit * 2000 + "/x").rank is None


@pytest.mark.parametrize("name", ["barrier-where-rank-4-waits", "hang-of-rank-4", "rank-4-is-silent", "no-rank-2-log"])
def test_the_name_of_an_incident_is_no_rank(name: str) -> None:
    assert place_of_path(f"{name}/input/train.log").rank is None


@pytest.mark.parametrize("name", ["rank_4", "rank4", "global_rank_4", "trace_rank_4", "worker-rank-4"])
def test_the_directory_of_a_rank_is(name: str) -> None:
    assert place_of_path(f"{name}/train.log").rank == 4


def test_the_way_in_which_dmesg_was_called_is_no_part_of_the_host() -> None:
    assert place_of_path("ip-10-85-9-243_dmesg-x.txt").host == place_of_path("ip-10-85-9-243_dmesg-T.log").host


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("df.titan-2", "titan-2"),
        ("ulimit_titan-2.txt", "titan-2"),
        ("neuron-dev-b_neuron-ls.txt", "neuron-dev-b"),
        ("neuron-dev-b.log", "neuron-dev-b"),
        ("neuron-ls_titan-2.txt", "titan-2"),
        ("neuron-ip-10-0-3-7.log", "ip-10-0-3-7"),
    ],
)
def test_tools_are_no_part_of_a_name_and_neuron_alone_is(name: str, left: str) -> None:
    assert bare(name) == left


def test_a_host_after_dmesg_is_no_option_of_it() -> None:
    assert place_of_path("dmesg-ip-10-77-3-3.txt").host == "ip-10-77-3-3"


@pytest.mark.parametrize(
    "name",
    ["ip-10-77-3-3_nrt_746999_rank8.log", "ip-10-77-3-3_dmesg-x.copy.txt", "ip-10-77-3-3_train_rank12-1.log.gz"],
)
def test_an_address_before_anything_else_is_the_host(name: str) -> None:
    assert place_of_path(name).host == "ip-10-77-3-3"


@pytest.mark.parametrize("name", ["peers_of_ip-10-77-3-3_rank8.log", "ip-10-77-3-3x_rank8.log", "ip-10-77-3_rank8.log"])
def test_an_address_within_a_name_is_not(name: str) -> None:
    assert place_of_path(name).host is None


WORDS = (
    "10. 0 3 17 rank local node Host a \u017ferver compute algo dy trn1 INF2 worker .internal .log .tar.gz dmesg pid"
)
PARTS = st.sampled_from([*"/!._-=", *WORDS.split(), "ip-10-0-3-7", INSTANCE, "172.16.0.3", "2026-03-10"])


@given(st.lists(PARTS, max_size=9).map("".join))
def test_what_a_name_of_a_host_must_have_in_it_hides_no_host(path: str) -> None:
    place = place_of_path(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hints, "_OF_A_HOST", re.compile(""))
        hints._of_directories.cache_clear()
        assert place_of_path(path) == place
    hints._of_directories.cache_clear()
