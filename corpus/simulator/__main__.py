"""Writes one simulated incident: `python -m neuron_doctor.corpus.simulator --seed N --out DIR`."""

import argparse
from pathlib import Path

from neuron_doctor.corpus.simulator import loss
from neuron_doctor.corpus.simulator.incident import simulate, write
from neuron_doctor.corpus.simulator.scenario import CAUSES, HEALTHY, PAIRABLE, draw
from neuron_doctor.corpus.simulator.style import Recorder


def main(arguments: list[str] | None = None) -> None:
    """Draw a scenario, simulate it, write DIR/input and DIR/truth.json."""
    parser = argparse.ArgumentParser(prog="python -m neuron_doctor.corpus.simulator", description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--fault", choices=(*CAUSES, HEALTHY))
    parser.add_argument("--pair", nargs=2, choices=PAIRABLE)
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--recorder", choices=tuple(Recorder), type=Recorder)
    parser.add_argument("--loss", choices=tuple(cell.cell for cell in loss.CELLS))
    given = parser.parse_args(arguments)
    pair = tuple(given.pair) if given.pair else None
    write(
        simulate(
            draw(given.seed, fault=given.fault, pair=pair, ranks=given.ranks, recorder=given.recorder, loss=given.loss)
        ),
        given.out,
    )


if __name__ == "__main__":
    main()
