"""What a hang is blamed on: one fault, with the ranks that are at fault and those that wait because of it."""

from __future__ import annotations

from msgspec import Struct

from neuron_doctor.engine.gatherings import Gathering
from neuron_doctor.engine.process_groups import ProcessGroup
from neuron_doctor.engine.recorder import named_ranks


class Blame(Struct, frozen=True):
    """One fault: its class, the ranks at fault, the ranks that wait because of it, and at what.

    `told` says it in words; where it is `about_ranks`, it is what the ranks at fault (else the members) do. The `suspects` left a
    dump, which does not tell whether they came to it: they may wait in what they issued before. What is `momentary` looks the
    same for a moment in any job that moves.
    """

    verdict: str
    told: str
    culprits: tuple[int, ...] = ()
    waiting: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    members: tuple[int, ...] = ()
    suspects: tuple[int, ...] = ()
    difference: str = ""
    gathering: Gathering | None = None
    group: ProcessGroup | None = None
    about_ranks: bool = False
    momentary: bool = False

    @property
    def description(self) -> str:
        """One sentence."""
        ranks = self.culprits or self.members
        return f"{named_ranks(ranks)} {self.told}" if self.about_ranks and ranks else self.told
