"""Transfers that were sent to a rank which knows nothing of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import SEND


def sent_to_strangers(groups: Iterable[ProcessGroup]) -> dict[int, set[int]]:
    """By rank that sent once to one that has no end of any transfer between the two, and more often to others: to whom. Where a
    message is small, it is gone before anybody receives it."""
    found: dict[int, set[int]] = defaultdict(set)
    for group in groups:
        for rank, member in group.members.items():
            sent = [pair for pair in (member.record.pairs if member.record else ()) if pair.kind == SEND]
            habit = any(pair.times > 1 for pair in sent)
            for pair in sent if habit else ():
                peer = group.global_rank(pair.target) if pair.times == 1 else None
                if peer is not None and _knows_nothing(group, rank, peer):
                    found[rank].add(peer)
    return dict(found)


def _knows_nothing(group: ProcessGroup, rank: int, peer: int) -> bool:
    """Whether a rank whose dump tells all that it exchanged has no end of a transfer with another."""
    other = group.members.get(peer)
    if other is None or not other.dump.whole:
        return False
    ends = {group.global_rank(end) for pair in (other.record.pairs if other.record else ()) for end in pair[1:3]}
    return rank not in ends
