"""Paths of files by site, source, host and rank."""

from collections.abc import Callable

import pytest

from neuron_doctor.corpus.simulator.history import History
from neuron_doctor.corpus.simulator.layout import path_for
from neuron_doctor.corpus.simulator.style import Site, Style

SOURCES = ("runtime-log", "framework-log", "launcher-log", "dmesg", "flight-recorder", "monitor", "ndet")
OF_HOSTS = tuple(source for source in SOURCES if source != "flight-recorder")


def test_each_site_lays_a_ranks_log_with_its_host(hand_made: Callable[..., History]) -> None:
    job = hand_made(pods=True).job
    paths = {site: path_for(Style(site=site), job, source="runtime-log", rank=2) for site in Site}
    assert paths == {
        Site.PER_HOST: "ip-10-1-2-4/neuron_rt_rank2.log",
        Site.FLAT: "ip-10-1-2-4_neuron_rt_rank2.log",
        Site.KUBERNETES: "pods/llama-worker-1/neuron_rt_rank2.log",
    }


def test_on_kubernetes_what_the_node_wrote_is_not_in_a_pods_directory(hand_made: Callable[..., History]) -> None:
    style = Style(site=Site.KUBERNETES)
    assert path_for(style, hand_made(pods=True).job, source="dmesg", host=0) == "nodes/ip-10-1-2-3/dmesg.txt"


def test_a_dump_keeps_the_rank_at_its_end(hand_made: Callable[..., History]) -> None:
    for site in Site:
        assert path_for(Style(site=site), hand_made().job, source="flight-recorder", rank=3).endswith("rank_3")


@pytest.mark.parametrize("site", Site)
def test_no_two_files_of_a_job_share_a_path(hand_made: Callable[..., History], site: Site) -> None:
    job, style = hand_made(pods=True).job, Style(site=site)
    by_rank = [path_for(style, job, source=source, rank=rank) for source in SOURCES for rank in range(4)]
    by_host = [path_for(style, job, source=source, host=host) for source in OF_HOSTS for host in range(2)]
    assert len({*by_rank, *by_host}) == len(by_rank) + len(by_host)
