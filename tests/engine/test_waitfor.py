"""The components of a wait-for graph, with networkx as the oracle."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from neuron_doctor.engine.waitfor import bottoms, components, reversed_edges, upstream


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    size = draw(st.integers(1, 12))
    return draw(st.lists(st.lists(st.integers(0, size - 1), max_size=4, unique=True), min_size=size, max_size=size))


def as_networkx(successors: list[list[int]]) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(successors)))
    graph.add_edges_from((node, after) for node, following in enumerate(successors) for after in following)
    return graph


@given(graphs())
def test_components_are_those_of_networkx_and_come_after_what_they_wait_for(successors: list[list[int]]) -> None:
    found = components(successors)
    graph = as_networkx(successors)
    assert {frozenset(one) for one in found} == {frozenset(one) for one in nx.strongly_connected_components(graph)}
    place = {node: number for number, one in enumerate(found) for node in one}
    assert all(place[after] <= place[node] for node, after in graph.edges)


@given(graphs())
def test_bottoms_are_the_components_without_a_way_out(successors: list[list[int]]) -> None:
    expected = {frozenset(one) for one in nx.attracting_components(as_networkx(successors))}
    assert {frozenset(one) for one in bottoms(successors)} == expected


@given(graphs(), st.data())
def test_upstream_is_all_that_can_reach_the_target(successors: list[list[int]], data: st.DataObject) -> None:
    target = data.draw(st.integers(0, len(successors) - 1))
    expected = nx.ancestors(as_networkx(successors), target) | {target}
    assert upstream(reversed_edges(successors), [target]) == expected


def test_a_chain_of_a_hundred_thousand_needs_no_recursion() -> None:
    size = 100_000
    assert len(components([[node + 1] for node in range(size - 1)] + [[]])) == size
    assert bottoms([[node + 1] for node in range(size - 1)] + [[]]) == [[size - 1]]
