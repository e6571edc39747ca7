"""Logs that are read elsewhere: on a Dask cluster, from a store by URL. The report is the same."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

fsspec = pytest.importorskip("fsspec")
distributed = pytest.importorskip("distributed")

from neuron_doctor.cluster import scan_on_cluster  # noqa: E402 - below what may skip all of it
from neuron_doctor.collectors.urls import NoStore  # noqa: E402
from neuron_doctor.collectors.walk import find  # noqa: E402
from neuron_doctor.engine.rulebook import Rulebook  # noqa: E402
from neuron_doctor.packs import load  # noqa: E402
from neuron_doctor.pipeline import collect, diagnose_paths  # noqa: E402
from neuron_doctor.reports.json_report import render_json  # noqa: E402
from neuron_doctor.request import Packs, Request, UsageError  # noqa: E402
from neuron_doctor.scan import Scanned  # noqa: E402
from neuron_doctor.shards import Shard  # noqa: E402

DEMO = Path(__file__).parents[2] / "corpus" / "demo" / "input"


@cache
def rulebook() -> Rulebook:
    return load(Packs())


def shown(request: Request) -> str:
    return render_json(diagnose_paths(request, rulebook()), exit_status=0, version="0")


def test_a_store_gives_the_same_report_as_a_directory(tmp_path: Path) -> None:
    store = fsspec.filesystem("memory")
    store.put(str(DEMO), "/run", recursive=True)
    local = Request((str(DEMO),), {str(DEMO): "run"})
    try:
        facts = collect(Request(("memory://run",), {"memory://run": "run"}), rulebook()).facts
    finally:
        store.rm("/run", recursive=True)
    assert {(f.kind, f.span.path, f.span.offset) for f in facts} == {
        (f.kind, f.span.path, f.span.offset) for f in collect(local, rulebook()).facts
    }


def test_a_store_that_has_nothing_is_an_error() -> None:
    with pytest.raises(NoStore, match="nothing is there"):
        list(find(["memory://nowhere"]))


def test_no_scheduler_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nonsense"):
        list(scan_on_cluster({0: Shard(tuple(find([str(tmp_path)])))}, Packs(), "nonsense://there", {}))


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """A cluster of two processes on this machine."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.heavy
def test_a_cluster_gives_the_same_report(scheduler: str) -> None:
    request = Request((str(DEMO),))
    assert shown(replace(request, scheduler=scheduler)) == shown(request)


@pytest.mark.heavy
def test_a_worker_with_other_rules_is_refused(scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neuron_doctor.cluster.release_of", lambda _packs: "neuron-doctor 9 with rules 0")
    with pytest.raises(UsageError, match="a worker has"):
        collect(Request((str(DEMO),), scheduler=scheduler), rulebook())


def kill_worker_once(marker: str) -> list[Scanned]:
    """Die as a worker does that the kernel kills, the first time."""
    file = Path(marker)
    if not file.exists():
        file.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return []


@pytest.mark.heavy
def test_a_worker_that_is_killed_loses_nothing(scheduler: str, tmp_path: Path) -> None:
    with distributed.Client(scheduler) as client:
        killed = client.submit(kill_worker_once, str(tmp_path / "marker"), pure=False)
        request = Request((str(DEMO),))
        assert shown(replace(request, scheduler=scheduler)) == shown(request)
        assert killed.result() == []
    assert (tmp_path / "marker").exists()
