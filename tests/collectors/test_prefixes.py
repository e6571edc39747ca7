"""Peeling: the message is given back, the innermost time wins, nobody's rank is guessed, nothing raises."""

import pytest

from neuron_doctor.collectors.prefixes import Channel, Line, Record, has_header, peel
from neuron_doctor.engine.facts import Clock, Instant

RUNTIME = "2024-Jun-26 00:32:47.943821 30294:32381 ERROR  TDRV:exec_wait     nd0:nc1:h_model.id1001: out of bound"
RUNTIME_TIME = Instant(1719361967_943821_000, Clock.HOST_LOCAL, 1000)


def only(raw: str) -> Record:
    (record,) = peel(raw).records
    return record


def message(line: Line, index: int = 0) -> str:
    return line.text[line.records[index].start : line.records[index].end]


def said(raw: str) -> str:
    return message(peel(raw))


# --- the runtime's own lines ---------------------------------------------------------------------------------------


def test_a_runtime_line_is_understood_whole() -> None:
    record = only(RUNTIME)
    assert said(RUNTIME) == "TDRV:exec_wait     nd0:nc1:h_model.id1001: out of bound"
    assert record.instant == RUNTIME_TIME
    assert record.place.known() == {"pid": 30294, "device": 0, "core": 1}
    assert (record.level, record.component, record.function) == ("ERROR", "TDRV", "exec_wait")
    assert (record.channel, record.outer, record.has_header) == (Channel.LOG, None, True)


@pytest.mark.parametrize(
    ("raw", "pid", "level", "component", "function"),
    [
        ("2021-Aug-11 18:38:27.0917 13713:13713 ERROR   NRT:nrt_init      Unable", 13713, "ERROR", "NRT", "nrt_init"),
        ("2021-Nov-15 15:21:28.0231 7245:7245 ERROR NRT:nrt_init Unable", 7245, "ERROR", "NRT", "nrt_init"),
        ("2022-Sep-08 17:55:23.0768    19:19    ERROR  TDRV:get_info   No", 19, "ERROR", "TDRV", "get_info"),
        ("NRT:  26638:26638 ERROR  TDRV:db_vtpb_get   Could not", 26638, "ERROR", "TDRV", "db_vtpb_get"),
        ("31597:33785 WARN   ENC:init_metaring   foo", 31597, "WARN", "ENC", "init_metaring"),
        ("ERROR  TDRV:reserve    Number of pages", None, "ERROR", "TDRV", "reserve"),
        ("2026-May-27 05:21:35.021738 ... ERROR TDRV:process_custom", None, "ERROR", "TDRV", "process_custom"),
        ("2026-May-27 05:21:35.021738 7:7 ERROR  RUST:neuron_rustime::io x", 7, "ERROR", "RUST", "neuron_rustime::io"),
        ("\x1b[91m2026-May-27 05:21:35.021738 7:7 ERROR   HAL:f x\x1b[0m", 7, "ERROR", "HAL", "f"),
    ],
)
def test_every_variant_of_the_runtime_header_is_read(
    raw: str, pid: int | None, level: str, component: str, function: str
) -> None:
    record = only(raw)
    assert record.place.pid == pid
    assert (record.level, record.component, record.function) == (level, component, function)
    assert said(raw).startswith(f"{component}:{function}")
    assert record.has_header


def test_the_compact_form_is_a_continuation_whose_component_is_told() -> None:
    record = only("\tNMGR:dlr_exec_wait Execution completed with err: 1006")
    assert (record.has_header, record.component, record.function) == (False, "NMGR", "dlr_exec_wait")
    assert said("\tNMGR:dlr_exec_wait foo") == "NMGR:dlr_exec_wait foo"


def test_a_collectives_line_has_a_local_core_and_a_file() -> None:
    raw = "2024-Feb-28 11:37:42.0289 452:647 [3] include/socket.h:541 CCOM WARN Timeout waiting for RX"
    record = only(raw)
    assert record.place.known() == {"pid": 452, "core": 3}
    assert (record.level, record.component, record.function) == ("WARN", "CCOM", "include/socket.h")
    assert record.instant == Instant(1709120262_289_000_000, Clock.HOST_LOCAL, 10**6)
    assert said(raw) == "CCOM WARN Timeout waiting for RX"


def test_a_collectives_line_may_have_a_signature_for_a_file() -> None:
    raw = "2026-Apr-13 01:46:31.0675 9:9 [2] int nccl_create(plugin_t**):219 CCOM WARN NET/OFI Failed"
    assert (only(raw).function, said(raw)) == ("int nccl_create(plugin_t**)", "CCOM WARN NET/OFI Failed")


@pytest.mark.parametrize(
    ("raw", "host"),
    [
        ("Oct 30 19:13:39 ip-172-31-93-131 nrtd[1]: [TDRV:io_queue_prepare] Unexpected", "ip-172-31-93-131"),
        ("nrtd[1]: [TDRV:io_queue_prepare] Unexpected", None),
    ],
)
def test_the_old_daemon_names_its_component_in_brackets(raw: str, host: str | None) -> None:
    record = only(raw)
    assert (record.component, record.function, record.place.pid, record.place.host) == (
        "TDRV",
        "io_queue_prepare",
        1,
        host,
    )
    assert said(raw) == "[TDRV:io_queue_prepare] Unexpected"


# --- torn lines ----------------------------------------------------------------------------------------------------


def test_two_glued_stamps_and_two_headers_are_two_records() -> None:
    line = peel(
        "2022-Mar-10 18:51:19.07392022-Mar-10 18:51:19.0740 17821:17931 ERROR  TDRV:consume  "
        "17822:18046 ERROR  TDRV:consume Unexpected number"
    )
    assert [record.place.pid for record in line.records] == [17821, 17822]
    assert [record.instant.ns % 10**9 for record in line.records if record.instant] == [739_000_000, 740_000_000]
    assert message(line, 1) == "TDRV:consume Unexpected number"


def test_a_whole_second_line_glued_to_the_first_keeps_its_own_time() -> None:
    line = peel("[rank7]: " + RUNTIME + RUNTIME.replace("47.943821 30294", "48.000001 5"))
    assert [record.place.pid for record in line.records] == [30294, 5]
    assert [record.place.rank for record in line.records] == [7, 7]
    assert [record.instant.uncertainty_ns for record in line.records if record.instant] == [1000, 1000]
    assert message(line, 0) == message(line, 1) == "TDRV:exec_wait     nd0:nc1:h_model.id1001: out of bound"


def test_a_stamp_left_over_at_the_end_is_not_part_of_the_message() -> None:
    line = peel(
        "2025-Jan-16 00:39:18.3830942025-Jan-16 00:39:18.383099 7:8 ERROR   ENC:ring   2025-Jan-16 00:39:18.383101"
    )
    assert message(line).rstrip() == "ENC:ring"
    assert line.records[0].instant == Instant(1736987958_383094_000, Clock.HOST_LOCAL, 1000)


def test_a_torn_header_without_any_stamp_has_the_time_of_the_line() -> None:
    first, second = peel(RUNTIME + " 5:6 ERROR  NRT:nrt_init gone").records
    assert (second.instant, second.place.pid, first.instant) == (RUNTIME_TIME, 5, RUNTIME_TIME)


@pytest.mark.parametrize("before", [" 50%|##   | 1/2 [00:01<00:01]", "Compiler status PASS", "x...."])
def test_a_header_after_progress_begins_a_record(before: str) -> None:
    line = peel(before + RUNTIME)
    assert (message(line, 0), message(line, 1)) == (before, said(RUNTIME))
    assert [record.has_header for record in line.records] == [False, True]
    assert has_header(before + RUNTIME)


def test_dots_of_the_compiler_before_a_stamp_are_nothing() -> None:
    raw = ".....2024-01-11 05:53:27.000203:  741529  INFO ||NEURON_CC_WRAPPER||: Call compiler"
    assert (said(raw), only(raw).component, only(raw).place.pid) == ("Call compiler", "NEURON_CC_WRAPPER", 741529)


def test_of_a_rewritten_line_the_last_part_and_the_headers_stay() -> None:
    line = peel(f"a 10%\ra 20%\r{RUNTIME}\ra 30%\ra 40%\r\n")
    assert [message(line, index) for index in range(len(line.records))] == [said(RUNTIME), "a 40%"]


# --- who wrote it --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefix", "place"),
    [
        ("[rank0]: ", {"rank": 0}),
        ("[rank12]:", {"rank": 12}),
        ("[default3]:", {"local_rank": 3}),
        ("[1,3]<stderr>:", {"rank": 3}),
        ("[prte-1@1,3]<stdout>: ", {"rank": 3}),
        ("[3]<stderr>:", {"rank": 3}),
        ("[1,mpirank:41,algo-2]<stderr>:", {"rank": 41, "host": "algo-2"}),
        ("12: ", {"rank": 12}),
        ("  3: ", {"rank": 3}),
        ("(RayTrainWorker pid=944, ip=10.67.132.117) ", {"host": "10.67.132.117", "pid": 944}),
        ("(raylet) ", {}),
        ("(EngineCore_DP0 pid=820) (Worker_TP1 pid=828) ", {"pid": 828}),
        ("[pod/train-0/main] ", {"container": "train-0/main"}),
        ("2026-07-01T10:00:00.123456789Z stderr F ", {}),
        ("Oct 16 01:07:00 host-7 train[55]: ", {"host": "host-7", "pid": 55}),
        ("2026-07-01T10:00:00.123456+00:00 host-7 train[55]: ", {"host": "host-7", "pid": 55}),
        ("Wed 2026-07-01 10:00:00 UTC host-7 train[55]: ", {"host": "host-7", "pid": 55}),
        ("[    5.000001] host-7 train[55]: ", {"host": "host-7", "pid": 55}),
        ("Oct 16 01:07:00 ** train[55]: ", {"pid": 55}),
        ("host-7:718:719 [4] ", {"host": "host-7", "pid": 718, "core": 4}),
        ("ts=2026-02-03T10:58:14.004Z level=info rank=41 host=w2 ", {"rank": 41, "host": "w2"}),
        ('time="2026-02-03T10:58:14Z" level=warn caller=fit.go:7 pid=77 local_rank=3 ', {"pid": 77, "local_rank": 3}),
        (
            "ts=2026-02-03T10:58:14Z host=ip-10-0-0-1.ec2.internal rank=2 ",
            {"host": "ip-10-0-0-1.ec2.internal", "rank": 2},
        ),
        ("ts=2026-02-03T10:58:14Z level=info host=localhost ", {}),
        ("[rank118]:[E603 17:48:01.005271823 ProcessGroupNCCL.cpp:632] [Rank 118] ", {"rank": 118}),
    ],
)
def test_a_prefix_says_who_wrote(prefix: str, place: dict[str, object]) -> None:
    text = "NCCL INFO hello" if prefix.startswith("host-7:") else "hello"
    record = only(prefix + text)
    assert record.place.known() == place
    assert (said(prefix + text), record.has_header, record.channel) == (text, True, Channel.LOG)


@pytest.mark.parametrize(
    "text",
    [
        "*** Process received signal ***",
        "Signal: Segmentation fault (11)",
        "Signal code: Address not mapped (1)",
        "Failing at address: (nil)",
        "[ 0] /lib/x86_64-linux-gnu/libc.so.6(+0x42520)[0x7f0b9a442520]",
        "*** End of error message ***",
        "*** An error occurred in MPI_Allreduce",
    ],
)
def test_open_mpi_says_on_which_host_a_rank_died(text: str) -> None:
    record = only(f"[1,82]<stderr>:[ip-10-8-2-33:20748] {text}")
    assert record.place.known() == {"host": "ip-10-8-2-33", "pid": 20748, "rank": 82}
    assert said(f"[1,82]<stderr>:[ip-10-8-2-33:20748] {text}") == text


@pytest.mark.parametrize(
    "text",
    [
        "ts=2026-02-03T10:58:14Z level=info host=example.com:8080 method=GET",  # whom a request was for
        'ts=2026-02-03T10:58:14Z level=info msg="lost" rank=3 host=w9',  # what the message is about
    ],
)
def test_of_key_and_value_only_what_stands_before_the_message_says_who_wrote(text: str) -> None:
    assert only(text).place.known() == {}
    assert only("rank=3 host=w9 lost").place.known() == {}


@pytest.mark.parametrize("text", ["[train:207] Signal sent to 4 workers", "[loader:12] *** epoch 3 ***", "[x:7] [0] a"])
def test_a_module_and_its_line_are_no_host(text: str) -> None:
    assert only(f"[1,82]<stderr>:{text}").place.known() == {"rank": 82}


@pytest.mark.parametrize(
    ("prefix", "container"), [("trainer-1  |", "trainer-1"), ("lm_trainer_12 |", "lm_trainer_12"), ("trainer |", None)]
)
def test_docker_compose_names_the_container(prefix: str, container: str | None) -> None:
    assert only(f"{prefix} 2026-07-01 10:00:00 hello").place.container == container
    assert only(f'{prefix}   File "/app/train.py", line 3, in f').place.container == container
    assert only(f"{prefix} says | hello").place.container is None


def test_an_export_of_logs_insights_names_the_stream() -> None:
    record = only('2026-10-08 22:59:20.000,w-b,"2026-Oct-08 23:00:03.000000   400:431   ERROR  TDRV:exec_wait   bad"')
    assert (record.place.container, record.place.pid, record.component) == ("w-b", 400, "TDRV")
    assert only("2026-10-08 22:59:20,100,200").place.container is None


@pytest.mark.parametrize(
    ("prefix", "container"),
    [
        ("train-0 main", "train-0/main"),
        ("train-7d9c5b8f4-x2x9z pytorch", "train-7d9c5b8f4-x2x9z/pytorch"),
        ("ml train-0 main", "train-0/main"),
        ("multi-node training", None),
        ("train-0", None),
        ("step-x2x9a main", None),
    ],
)
def test_stern_names_pod_and_container_before_what_begins_like_a_line(prefix: str, container: str | None) -> None:
    assert only(f"{prefix} 2026-07-01 10:00:00 hello").place.container == container
    assert only(f"{prefix} says hello").place.container is None


@pytest.mark.parametrize(
    ("prefix", "level", "component"),
    [
        ("INFO:Neuron:", "INFO", "Neuron"),
        ("WARNING:torch.distributed.elastic.agent.server.api:", "WARN", "torch.distributed.elastic.agent.server.api"),
        ("INFO: ", "INFO", ""),
        ("[ERROR] ", "ERROR", ""),
        ("ERROR 227874 [neuronx-cc]: ", "ERROR", "neuronx-cc"),
        ("2026-01-01 00:00:00 ERROR 227874 [neuronx-cc]: ", "ERROR", "neuronx-cc"),
        ("09/22/2021 03:01:34 AM ERROR [neuron-cc]: ", "ERROR", "neuron-cc"),
        ("2026-04-13 01:46:33.000003: 837616 [INFO]: ", "INFO", ""),
        ("2021-11-15 15:21:28.231864: F ./xla/service/neuron_runtime.h:1037] ", "FATAL", ""),
        ("W tensorflow/core/distributed_runtime/rpc/master.cc:157] ", "WARN", ""),
        ("E0106 23:01:14.131000 2929554 torch/_dynamo/x.py:12] ", "ERROR", ""),
        ("W0000 00:00:1719828000.123456 77 file.cc:12] ", "WARN", ""),
        ("ERROR 01-06 23:01:14 [multiproc_executor.py:671] ", "ERROR", ""),
        ("2026-01-06 22:31:32,204 - INFO - neuron_model_runner.py:575 - ", "INFO", ""),
        ("2024-08-12 18:34:56,116::ERROR: ", "ERROR", ""),
        ("[2025-09-02 07:46:38.169: I neuronx_distributed/trainer/x.py:628] ", "INFO", ""),
        ("[NeMo W 2023-08-17 22:53:03 optimizers:67] ", "WARN", ""),
        ("[2025-09-02 07:46:38,169] [INFO] ", "INFO", ""),
        ("2025-09-02 07:46:38.169 | WARNING  | a.b:f:12 - ", "WARN", ""),
        ("libfabric:718892:1658904526::efa:mr:efa_mr_regattr():632<warn> ", "WARN", "efa"),
    ],
)
def test_a_logger_says_the_level(prefix: str, level: str, component: str) -> None:
    record = only(prefix + "hello")
    assert (record.level, record.component, said(prefix + "hello")) == (level, component, "hello")
    assert record.has_header


def test_the_thread_that_glog_prints_is_not_taken_for_a_process() -> None:
    assert only("E0106 23:01:14.131000 77 file.cc:12] x").place.pid is None
    assert only("E0106 23:01:14.131000 77 torch/file.py:12] x").place.pid == 77


def test_a_number_after_the_programs_own_header_is_no_rank() -> None:
    assert only("2024-08-12 18:34:56,116 - INFO - 3: hello").place.rank is None
    assert only("2024-08-12 18:34:56 3: hello").place.rank is None
    assert only("2026-07-01T10:00:00Z stderr F 3: hello").place.rank == 3


def test_a_rank_within_tensor_parallelism_is_no_rank_of_the_job() -> None:
    place = only("(Worker_TP1 pid=828) hello").place
    assert (place.rank, place.local_rank) == (None, None)


# --- the kernel ----------------------------------------------------------------------------------------------------

BOOT = Instant(7638_723761_000, Clock.BOOT, 1000)
#: What a logger writes down goes on through reboots, and is by the clock of the host's other logs.
_OCT_16 = 88045620 * 10**9


@pytest.mark.parametrize(
    ("prefix", "instant", "host"),
    [
        ("[ 7638.723761] ", BOOT, None),
        ("[ 7638.723761][ T1234] ", BOOT, None),
        ("[ 7638.723761] host-7 kernel: ", BOOT, "host-7"),
        ("<3>[ 7638.723761] ", BOOT, None),
        ("kern  :err   : [ 7638.723761] ", BOOT, None),
        ("Oct 16 01:07:00 host-7 kernel: [ 7638.723761] ", Instant(_OCT_16, Clock.YEARLESS, 10**9), "host-7"),
        ("Oct 16 01:07:00 ** kernel: [ 7638.723761] ", Instant(_OCT_16, Clock.YEARLESS, 10**9), None),
        ("[Sun Jan 11 09:52:01 2026] ", Instant(1768125121 * 10**9, Clock.HOST_LOCAL, 10**9), None),
        ("[二 9月  3 05:57:48 2024] ", Instant(1725343068 * 10**9, Clock.HOST_LOCAL, 10**9), None),
        ("2026-07-01T10:00:00,123456+00:00 ", Instant(1782900000_123456_000, Clock.UTC, 1000), None),
        ("2026-07-01T12:00:00.123456+02:00 host-7 kernel: ", Instant(1782900000_123456_000, Clock.UTC, 1000), "host-7"),
        (
            "2026-07-01T10:00:00.123456+00:00 host-7 kernel: [ 7638.723761] ",
            Instant(1782900000_123456_000, Clock.UTC, 1000),
            "host-7",
        ),
        ("[  +0.000012] ", None, None),
        ("kernel: ", None, None),
    ],
)
def test_the_kernels_lines_are_told_by_their_prefix(prefix: str, instant: Instant | None, host: str | None) -> None:
    raw = prefix + "neuron:npid_detach: neuron:npid_detach: pid=90193, slot=0"
    record = only(raw)
    assert (record.channel, record.instant) == (Channel.KERNEL, instant)
    assert (record.place.host, record.place.pid) == (host, 90193)
    assert (record.component, record.function) == ("neuron", "npid_detach")
    assert said(raw).startswith("neuron:npid_detach: neuron:")


@pytest.mark.parametrize("zone", ["", "CEST ", "IST ", "+03 ", "UTC ", "-0330 "])
def test_journalctl_in_full_names_the_zone_before_the_host(zone: str) -> None:
    record = only(f"Mon 2026-03-30 21:15:02 {zone}onyx finetune[3500]: hello")
    assert record.place.known() == {"host": "onyx", "pid": 3500}
    assert record.instant is not None
    assert (record.instant.clock is Clock.UTC) == (zone in ("UTC ", "-0330 "))
    kernel = only(f"Mon 2026-03-30 21:15:02 {zone}onyx kernel: hello")
    assert (kernel.channel, kernel.place.host) == (Channel.KERNEL, "onyx")


def test_a_kernel_message_keeps_the_words_that_look_like_a_level() -> None:
    assert said("[ 12.123456] INFO: task python:12 blocked for more than 120 seconds.").startswith("INFO: task")
    assert said("Oct 16 01:07:00 h kernel: [  38951]     0 38951   386525").startswith("[  38951]")


def test_a_runtime_line_in_the_kernel_log_has_its_own_time() -> None:
    record = only("[ 1234.123456] " + RUNTIME)
    assert (record.channel, record.instant, record.place.pid) == (Channel.KERNEL, RUNTIME_TIME, 30294)


def test_a_hardware_error_names_device_core_and_instance_but_no_host() -> None:
    raw = "[ 1.000000] NEURON_HW_ERR=X instance-id=i-0592464924bd45322 hostname=ctr-1 nd-id=2 nc-id=1 action=T"
    assert only(raw).place.known() == {"instance_id": "i-0592464924bd45322", "device": 2, "core": 1}


# --- tokens of messages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("nd0:nc1:h_model.id1109: x", {"device": 0, "core": 1}),
        ("[ND 1][NC 4] execution on model", {"device": 1, "core": 4}),
        ("[MLA 0][NC 3] DMA abort", {"device": 0, "core": 3}),
        ("timeout (180000 ms) on Neuron Device 0 NC 1, waiting", {"device": 0, "core": 1}),
        ("nd0 nc0 Timestamp program stop timeout", {"device": 0, "core": 0}),
        ("DMA completion timeout on nd03 for q1", {"device": 3}),
        ("ND 0:NC 4 stuck", {"device": 0, "core": 4}),
        ("Neuron device: 5:1 ecc", {"device": 5, "core": 1}),
        ("Could not open /dev/neuron7", {"device": 7}),
        ("[nec_dev 4] ring", {"local_rank": 4}),
        ("[nec_dev 22, gid 23] MPMD detected", {"local_rank": 22, "rank": 23}),
        ("[gid: 12] ring", {"rank": 12}),
        ("2nd 3 times, second 4", {}),
        ("uid=0 gid=0", {}),
    ],
)
def test_a_message_names_its_place(text: str, place: dict[str, int]) -> None:
    assert only("TDRV:f  " + text).place.known() == place


def test_a_group_of_users_in_the_kernel_log_is_no_rank() -> None:
    assert only("[ 1.000000] cred [uid 0, gid 7] x").place.rank is None


# --- continuations -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        '  File "x.py", line 3, in <module>',
        "Traceback (most recent call last):",
        "RuntimeError: NRT failed",
        "  Logical Neuron Core(s) not available - Requested:2 Available:0",
        "nd0 nc0 Timestamp program stop timeout (1000 ms)",
        "sudo modprobe -r neuron; sudo modprobe neuron;",
        "",
        ".....",
        "(NON-FATAL, Ignoring) inference timeout (180000 ms)",
        "[nec_dev 22, gid 22] MPMD",
    ],
)
def test_a_line_without_a_header_is_a_continuation(raw: str) -> None:
    record = only(raw)
    assert (record.has_header, record.instant, said(raw)) == (False, None, raw)
    assert not has_header(raw)


def test_the_rank_in_a_process_group_does_not_replace_the_global_one() -> None:
    [grouped] = peel("[rank12]:[E1118 20:32:23.955028747 ProcessGroupNCCL.cpp:629] [Rank 4] Watchdog caught").records
    [alone] = peel("[E1118 20:32:23.955028747 ProcessGroupNCCL.cpp:629] [Rank 4] Watchdog caught").records
    assert (grouped.place.rank, alone.place.rank) == (12, 4)


@pytest.mark.parametrize("label", ["[rank7]: ", "[rank7]:", "[rank7] "])
def test_the_label_of_a_rank_is_read_with_and_without_its_colon(label: str) -> None:
    record = only(f"2026-09-14T16:09:01.140975007Z stderr F {label}{RUNTIME}")
    assert (record.place.rank, record.place.pid) == (7, 30294)


# --- parallel shells -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "host", "channel"),
    [
        ("trn1-041: [80123.551201] neuron: reset of nd5 failed", "trn1-041", Channel.KERNEL),
        ("cpu-18: [Tue Mar  3 11:47:31 2026] Out of memory: x", "cpu-18", Channel.KERNEL),
        ("10.0.3.7: [80123.551201] neuron: reset of nd5 failed", "10.0.3.7", Channel.KERNEL),
        ("ip-10-0-3-7.ec2.internal: 2026-02-11 04:10:00,120 INFO step 3", "ip-10-0-3-7.ec2.internal", Channel.LOG),
        (f"n12: {RUNTIME}", "n12", Channel.LOG),
        ("n12: [rank3]: ValueError: x", "n12", Channel.LOG),
        ("n12: KeyError: 'x'", "n12", Channel.LOG),
        ("n12:   rank      : 73 (local_rank: 9)", "n12", Channel.LOG),
        ("n12: Root Cause (first observed failure):", "n12", Channel.LOG),
        ("n12: ls: cannot access '/opt/amazon/efa': No such file or directory", "n12", Channel.LOG),
        ("n12: bash: line 1: /opt/amazon/efa/bin/fi_info: No such file or directory", "n12", Channel.LOG),
    ],
)
def test_a_parallel_shell_names_the_host_before_each_line(raw: str, host: str, channel: Channel) -> None:
    record = only(raw)
    assert record.place.host == host
    assert record.channel is channel


@pytest.mark.parametrize(
    "raw",
    [
        "rank3: 2026-02-11 04:10:00,120 INFO step 3",
        "stage2: [80123.551201] x",
        "nvme0: [80123.551201] x",
        "train: 2026-02-11 04:10:00,120 INFO step 3",
        "utf8: 2026 files",
        "e2e4: done",
        "base64: invalid input",
        "md5sum: bash: No such file or directory",
        "Node7: 2026-02-11 04:10:00,120 INFO step 3",
        "2026-03-30 21:15:02,114 WARNING train[3500]: hello",
        "2026-03-30T21:15:02Z INFO train[3500]: hello",
        "Mar 30 21:15:02 DEBUG train: hello",
    ],
)
def test_other_words_before_a_colon_or_a_process_are_no_hosts(raw: str) -> None:
    assert {record.place.host for record in peel(raw).records} == {None}


@pytest.mark.parametrize(
    ("labels", "host", "container"),
    [
        ('{app="sft", container="train", node_name="n1", pod="sft-worker-0", stream="stderr"}', "n1", "sft-worker-0"),
        ('{pod="sft-worker-0"}', None, "sft-worker-0"),
        ('{filename="/var/log/syslog", job="varlogs", node="n1"}', "n1", None),
    ],
)
def test_logcli_names_the_pod_and_its_node_by_labels(labels: str, host: str | None, container: str | None) -> None:
    [record] = peel(f"2026-09-09T20:17:50Z {labels} [rank5]: RuntimeError: lost").records
    assert (record.place.host, record.place.container, record.place.rank) == (host, container, 5)


@pytest.mark.parametrize(
    "text", ['{"pod": "sft-worker-0"} x', "{pod=sft-worker-0} x", "{'loss': 0.1, 'pod': 3}", "{} x", "{"]
)
def test_other_braces_are_no_labels(text: str) -> None:
    assert peel(text).records[0].place.container is None
