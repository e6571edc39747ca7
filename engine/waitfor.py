"""Who waits for whom, as a graph of numbered nodes: its strongly connected components, and those that wait for nobody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Successors = Sequence[Sequence[int]]


def components(successors: Successors) -> list[list[int]]:
    """The strongly connected components, each sorted, every one after all that it waits for (Tarjan, without recursion)."""
    count = len(successors)
    order, low, on_stack = [-1] * count, [0] * count, [False] * count
    found: list[list[int]] = []
    stack: list[int] = []
    clock = 0
    for root in range(count):
        if order[root] >= 0:
            continue
        path: list[tuple[int, int]] = [(root, 0)]
        while path:
            node, at = path.pop()
            if at == 0:
                order[node] = low[node] = clock
                clock += 1
                stack.append(node)
                on_stack[node] = True
            following = successors[node]
            while at < len(following):
                after = following[at]
                at += 1
                if order[after] < 0:
                    path += [(node, at), (after, 0)]
                    break
                if on_stack[after]:
                    low[node] = min(low[node], order[after])
            else:
                if low[node] == order[node]:
                    found.append(_popped(stack, node, on_stack))
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
    return found


def _popped(stack: list[int], root: int, on_stack: list[bool]) -> list[int]:
    component = []
    while True:
        node = stack.pop()
        on_stack[node] = False
        component.append(node)
        if node == root:
            return sorted(component)


def bottoms(successors: Successors) -> list[list[int]]:
    """The components that wait for nobody outside: single nodes, or cycles."""
    home = [0] * len(successors)
    found = components(successors)
    for number, component in enumerate(found):
        for node in component:
            home[node] = number
    return [
        component
        for number, component in enumerate(found)
        if all(home[after] == number for node in component for after in successors[node])
    ]


def reversed_edges(successors: Successors) -> list[list[int]]:
    """For each node those that wait for it."""
    predecessors: list[list[int]] = [[] for _ in successors]
    for node, following in enumerate(successors):
        for after in following:
            predecessors[after].append(node)
    return predecessors


def upstream(predecessors: Successors, targets: Iterable[int]) -> set[int]:
    """All nodes that wait for one of `targets`, directly or through others; and `targets` themselves."""
    seen = set(targets)
    todo = list(seen)
    while todo:
        for before in predecessors[todo.pop()]:
            if before not in seen:
                seen.add(before)
                todo.append(before)
    return seen
