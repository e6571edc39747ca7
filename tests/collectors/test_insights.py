"""Exports of CloudWatch Logs Insights: each stream is a member with its records in order, whatever the order of the document."""

from __future__ import annotations

import json
from io import BufferedReader, BytesIO

import pytest

from neuron_doctor.collectors.discover import is_packed
from neuron_doctor.collectors.export_rows import has_rows
from neuron_doctor.collectors.hints import place_of_path
from neuron_doctor.collectors.insights import members_of_export
from neuron_doctor.collectors.streams import Damaged

T0 = "2026-04-15T16:00:00.200Z"


def streams(text: str) -> dict[str, str]:
    assert has_rows(text.encode())
    assert is_packed(text.encode())
    found = members_of_export(BufferedReader(BytesIO(text.encode())))
    return {member.name: b"".join(member.chunks).decode() for member in found}


def row(second: int, message: str, field: str = "@message", **more: str) -> list[dict[str, str]]:
    told = {"@timestamp": f"2026-04-15 16:00:0{second}.200", **more, field: message, "@ptr": "Cm"}
    return [{"field": name, "value": value} for name, value in told.items()]


def results(*rows: object, indent: int | None = None) -> str:
    return json.dumps({"queryLanguage": "CWLI", "results": rows, "status": "Complete"}, indent=indent)


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_the_rows_of_a_query_are_lines_of_their_pods(indent: int | None) -> None:
    of = {"kubernetes.pod_name": "w-0", "kubernetes.host": "n1"}
    text = results(
        row(0, "one", "log", **of), row(1, "two", "log", **{**of, "kubernetes.pod_name": "w-1"}), indent=indent
    )
    assert streams(text) == {
        "nodes/n1/pods/w-0.log": f"{T0} one\n",
        "nodes/n1/pods/w-1.log": "2026-04-15T16:00:01.200Z two\n",
    }
    assert place_of_path("x.json!nodes/n1/pods/w-0.log").known() == {"host": "n1", "container": "w-0"}


def test_the_newest_may_stand_first() -> None:
    rows = [row(2, "d"), row(1, "c"), row(1, "b\r\nb2\n"), row(0, "a")]
    assert list(streams(results(*rows)).values()) == [
        f"{T0} a\n2026-04-15T16:00:01.200Z b\nb2\n2026-04-15T16:00:01.200Z c\n2026-04-15T16:00:02.200Z d\n"
    ]


@pytest.mark.parametrize(
    ("stream", "name", "place"),
    [
        ("job-1/algo-2-1786430100", "streams/job-1/algo-2-1786430100", {"host": "algo-2"}),
        (
            "AllTraffic/i-04b7c0ffee5d2a01e",
            "streams/AllTraffic/i-04b7c0ffee5d2a01e",
            {"instance_id": "i-04b7c0ffee5d2a01e"},
        ),
        ("main/default/0a1b", "pods/main_default_0a1b", {"container": "main_default_0a1b"}),
        ("w-a", "pods/w-a", {"container": "w-a"}),
        ("a/../b!c", "pods/a_.._b_c", {"container": "a_.._b_c"}),
        (
            f"ip-10-0-0-1.ec2.internal-application.var.log.containers.w-0_ns_torch-{'0' * 64}.log",
            f"nodes/ip-10-0-0-1.ec2.internal/w-0_ns_torch-{'0' * 64}.log",
            {"host": "ip-10-0-0-1.ec2.internal", "container": "w-0/torch"},
        ),
    ],
)
def test_the_name_of_a_stream_says_where_its_records_are_from(stream: str, name: str, place: dict[str, str]) -> None:
    found = streams(results(row(0, "one", **{"@logStream": stream})))
    assert found == {name: f"{T0} one\n"}
    known = place_of_path(f"results.json!{name}").known()
    assert {key: known[key] for key in place} == place


def test_what_the_console_exports_is_read_too() -> None:
    rows = [{"@timestamp": "2026-04-15 16:00:00.200", "@logStream": "w-a", "@message": {"no": 1}, "message": "x"}]
    assert streams(json.dumps(rows)) == {"pods/w-a": f"{T0} x\n"}
    table = '@timestamp,@logStream,@message\n2026-04-15 16:00:00.200,w-a,"Traceback:\n  File ""x"", line 1"\n'
    assert streams(table) == {"pods/w-a": f'{T0} Traceback:\n  File "x", line 1\n'}
    assert streams(table.replace("\n", "\r\n").replace("w-a", "w-b")).keys() == {"pods/w-b"}


def test_what_is_cut_off_gives_what_was_whole() -> None:
    text = results(row(0, "one"), row(1, "two"))
    reader = BufferedReader(BytesIO(text[: text.index("two")].encode()))
    found = members_of_export(reader)
    assert b"".join(next(found).chunks).decode() == f"{T0} one\n"
    with pytest.raises(Damaged):
        next(found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"results": [[1, 2]]}',
        '{"results": [[{"field": "@timestamp", "value": "x"}, {"field": "count(*)", "value": "3"}]]}',
        '{"events": [{"name": "x"}]}',
        '{"message": "x", "timestamp": 3, "ingestionTime": 4}',
        '[{"@timestamp": "x", "count": 3}]',
        '[{"@timestamp": "x", "log": {"level": "info"}, "count": 3}]',
        '{"hits": {"hits": [{"_index": "m", "_source": {"@timestamp": "x", "values": [1, 2]}}]}}',
        "@timestamp,count\n1,2\n",
        "timestamp,message\n1,2\n",
        "step,loss\n1,2\n",
        '{"schemaVersion": 1, "traceEvents": []}',
    ],
)
def test_other_documents_are_no_export(text: str) -> None:
    assert not has_rows(text.encode())


def test_an_export_of_kibana_is_put_in_order_by_the_hosts_that_it_names() -> None:
    text = (
        "@timestamp,host.name,log.file.path,message\n"
        '"Sep 30, 2026 @ 21:18:28.052",n-02,/var/log/t.log,last\n'
        '"Sep 30, 2026 @ 21:18:27.985",n-05,/var/log/t.log,"other, host"\n'
        '"Sep 30, 2026 @ 21:18:27.938",n-02,/var/log/t.log,first\n'
    )
    assert streams(text) == {  # no zone: the browser showed its own
        "nodes/n-02/var/log/t.log": "2026-09-30T21:18:27.938 first\n2026-09-30T21:18:28.052 last\n",
        "nodes/n-05/var/log/t.log": "2026-09-30T21:18:27.985 other, host\n",
    }
    assert place_of_path("x.csv!nodes/n-02/var/log/t.log").host == "n-02"


def answer(*sources: object, before: str = "", more: str = "", indent: int | None = None) -> str:
    """What Elasticsearch answers to a search."""
    hits = [{"_index": "logs-1", "_id": "7", "_score": None, "_source": source} for source in sources]
    found = json.dumps({"total": {"value": 9, "relation": "eq"}, "max_score": None, "hits": hits}, indent=indent)
    return f'{before}{{{more}"took": 41, "timed_out": false, "_shards": {{"total": 6}}, "hits": {found}}}'


def ecs(second: int, message: str, pod: str = "w-0", **more: object) -> dict[str, object]:
    where = {"pod": {"name": pod}, "node": {"name": "n1"}, "container": {"name": "torch"}}
    return {"@timestamp": f"2026-04-15T16:00:0{second}.200Z", "message": message, "kubernetes": where, **more}


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_the_hits_of_a_search_are_lines_of_their_pods_in_order(indent: int | None) -> None:
    hits = (ecs(1, "two"), ecs(0, "of another", "w-1"), ecs(0, "one"))
    expected = {
        "nodes/n1/pods/w-0/torch.log": f"{T0} one\n2026-04-15T16:00:01.200Z two\n",
        "nodes/n1/pods/w-1/torch.log": f"{T0} of another\n",
    }
    assert streams(answer(*hits, indent=indent)) == expected
    assert streams(answer(*hits, more='"_scroll_id": "DXF1ZXJ5=", ')) == expected
    assert streams(answer(*hits, before="# GET logs-k8s-*/_search 200 OK\n")) == expected
    assert streams(f'{{"isPartial": false, "rawResponse": {answer(*hits)}}}') == expected
    several = ", ".join((answer(hits[0]), answer(), answer(*hits[1:])))
    assert streams(f'{{"took": 3, "responses": [{several}]}}') == expected


def test_hits_that_somebody_took_out_of_the_answer_are_read_too() -> None:
    hits = [{"_index": "logs-1", "_source": ecs(1, "two")}, {"_index": "logs-1", "_source": ecs(0, "one")}]
    expected = {"nodes/n1/pods/w-0/torch.log": f"{T0} one\n2026-04-15T16:00:01.200Z two\n"}
    assert streams(json.dumps(hits)) == streams("\n".join(map(json.dumps, hits)) + "\n") == expected
    fields = {"@timestamp": ["2026-04-15T16:00:00.200Z"], "message": ["one"], "host.name": ["n1"]}
    by_fields = answer().replace('"hits": []', f'"hits": [{json.dumps({"_index": "x", "fields": fields})}]')
    assert streams(by_fields) == {"nodes/n1/events": f"{T0} one\n"}


def test_of_one_moment_the_place_in_the_file_is_the_order() -> None:
    lines = [
        ecs(0, "first", log={"offset": 90}),
        ecs(0, "last", log={"offset": 700}),
        ecs(0, "second", log={"offset": 110}),
    ]
    [text] = streams(answer(*lines)).values()
    assert [line.split()[1] for line in text.splitlines()] == ["first", "second", "last"]


def test_a_shipper_of_files_says_host_and_path() -> None:
    source = {"@timestamp": "2026-04-15T16:00:00.200Z", "message": "x", "host": {"name": "n7"}}
    log = {"log": {"file": {"path": "/fsx/logs/rank_3.log"}, "offset": 3}}
    [name] = streams(answer({**source, **log}))
    assert name == "nodes/n7/fsx/logs/rank_3.log"
    known = place_of_path(f"x.json!{name}").known()
    assert (known["host"], known["rank"]) == ("n7", 3)


def test_what_the_kernel_says_is_told_as_its_words() -> None:
    kernel = {"@timestamp": "2026-04-15T16:00:00.200Z", "host": {"name": "n7"}, "process": {"name": "kernel"}}
    assert list(streams(answer({**kernel, "message": "Out of memory"})).values()) == [
        f"{T0} n7 kernel: Out of memory\n"
    ]
    whole = "Apr 15 16:00:00 n7 kernel: Out of memory"
    assert list(streams(answer({**kernel, "message": whole})).values()) == [f"{T0} {whole}\n"]


def test_the_streams_of_loki_have_their_labels() -> None:
    labels = {"pod": "w-0", "container": "torch", "node_name": "n1", "namespace": "train"}
    values = [["1776268801200000000", "two"], ["1776268800200000000", "one"]]
    result = [
        {"stream": labels, "values": values},
        {"stream": {"filename": "/var/log/x"}, "values": [["1776268800200000000", "x"]]},
    ]
    text = json.dumps({"status": "success", "data": {"resultType": "streams", "result": result, "stats": {}}})
    found = streams(text)
    assert found["nodes/n1/pods/w-0/torch.log"] == f"{T0} one\n2026-04-15T16:00:01.200Z two\n"
    assert len(found) == 2


@pytest.mark.parametrize(
    "labels",
    [
        {"job": "journal", "unit": "kernel"},
        {"transport": "kernel"},
        {"syslog_identifier": "kernel"},
        {"service_name": "kernel"},
        {"facility": "kern", "appname": "vector"},
    ],
)
def test_what_is_labelled_as_of_the_kernel_is_told_as_its_words(labels: dict[str, str]) -> None:
    result = [{"stream": {**labels, "host": "n7"}, "values": [["1776268800200000000", "nvme nvme1: reset controller"]]}]
    text = json.dumps({"status": "success", "data": {"resultType": "streams", "result": result, "stats": {}}})
    assert list(streams(text).values()) == [f"{T0} n7 kernel: nvme nvme1: reset controller\n"]
    other = text.replace('"kernel"', '"kubelet"').replace('"kern"', '"daemon"')
    assert list(streams(other).values()) == [f"{T0} nvme nvme1: reset controller\n"]


def otlp(host: str, *said: tuple[int, str], **more: str) -> str:
    def attributes(**told: str) -> list[object]:
        return [{"key": name.replace("_", "."), "value": {"stringValue": value}} for name, value in told.items()]

    records = [
        {
            "timeUnixNano": f"{1_776_268_800 + second}200000000",
            "body": {"stringValue": text},
            "attributes": attributes(**more),
        }
        for second, text in said
    ]
    resource = {"attributes": attributes(host_name=host, service_name="trainer")}
    return json.dumps({"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": {}, "logRecords": records}]}]})


def test_documents_of_opentelemetry_are_lines_of_their_hosts_and_pods() -> None:
    lines = [otlp("n1", (1, "two"), (0, "one")), otlp("n2", (0, "one"), k8s_pod_name="w-1"), otlp("n1", (2, "three"))]
    assert streams("".join(f"{line}\n" for line in lines)) == {
        "nodes/n1/events": f"{T0} one\n2026-04-15T16:00:01.200Z two\n2026-04-15T16:00:02.200Z three\n",
        "nodes/n2/pods/w-1.log": f"{T0} one\n",
    }
    damaged = (
        '{"resourceLogs": [{"resource": 3, "scopeLogs": {}}, 7, {"scopeLogs": [{"logRecords": [{"body": []}, null]}]}]}'
    )
    assert streams(damaged) == {}


def test_splunk_writes_a_result_a_line_or_a_list_of_them() -> None:
    of = {"_time": "2026-04-15T18:00:00.200+02:00", "host": "n1", "source": "/var/log/train/rank_3.log"}
    one_a_line = "".join(
        json.dumps({"preview": False, "offset": n, "result": {**of, "_raw": f"line {n}"}}) + "\n" for n in (0, 1)
    )
    listed = json.dumps(
        {
            "preview": False,
            "init_offset": 0,
            "messages": [],
            "fields": [{"name": "_raw"}],
            "results": [{**of, "_raw": "line 0"}, {**of, "_raw": "line 1"}],
        }
    )
    for text in (one_a_line, listed):
        assert streams(text) == {"nodes/n1/var/log/train/rank_3.log": f"{T0} line 0\n{T0} line 1\n"}


@pytest.mark.parametrize(
    "text",
    [
        '{"took": 3, "hits": {"total": {"value": 0}, "hits": []}}',
        '{"took": 3, "hits": {"hits": [{"_index": "metrics", "_source": {"cpu": 3}}]}}',
        '{"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {"pod": "x"}, "values": [[1, "2"]]}]}}',
        '{"results": [{"name": "x", "value": 3}]}',
    ],
)
def test_answers_without_log_records_are_no_export(text: str) -> None:
    assert not has_rows(text.encode())


def test_tables_of_splunk_and_datadog_are_lines_of_their_pods_and_hosts() -> None:
    splunk = (
        "_time,host,sourcetype,pod,_raw\n"
        f'{T0.replace("Z", "+0000")},n1,kube:container:trainer,w-0,"one, two"\n'
        "2026-04-15T16:00:01.200+0000,n1,linux:journald,,kernel: NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR nd-id=7\n"
    )
    assert streams(splunk) == {
        "nodes/n1/events": "2026-04-15T16:00:01.200Z kernel: NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR nd-id=7\n",
        "nodes/n1/pods/w-0.log": f"{T0} one, two\n",
    }
    datadog = f'"Date","Host","Service","Pod Name","Status","Content"\n"{T0}","n1","tgi","w-0","error","one\ntwo"\n'
    assert streams(datadog) == {"nodes/n1/pods/w-0.log": f"{T0} one\ntwo\n"}


@pytest.mark.parametrize(
    "titles",
    [
        "Date,Host,Service,Status",
        "Date,Service,Status,Message",
        "_time,host,count",
        "date,host,status,ms",
        "_time,source,_raw",
    ],
)
def test_tables_without_messages_or_hosts_are_no_export(titles: str) -> None:
    assert not has_rows(f"{titles}\n2026-04-15T16:00:00Z,a,b,c,d\n".encode())
