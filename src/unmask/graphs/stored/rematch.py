"""`Rematch` on networks that an engine holds, step by step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unmask.graphs.attacks import Rematch
from unmask.graphs.attacks._likelihood import GRID, Model, fitted, witness_weights
from unmask.graphs.stored import odds
from unmask.graphs.stored.checkpoints import Progress
from unmask.graphs.stored.loading import Network


def rematch(
    auxiliary: Network, target: Network, seeds: str, adversary: Rematch, done: Progress, *, name: str
) -> Iterator[Progress]:
    """Make steps, after those that are done, until one changes nothing; each leaves its pairs as {name}_mapping."""
    engine = auxiliary.engine
    while len(done.sweeps) < adversary.steps and (not done.sweeps or done.sweeps[-1]):
        visits = _list(auxiliary, target, seeds, adversary, name)
        margin, floor = adversary.margin, adversary.floor
        engine.keep(f"{name}_next", odds.matches(name, seeds, margin=margin, floor=floor), cut=True)
        changed = int(engine.rows(odds.changed(name))["n"][0])
        engine.keep(f"{name}_mapping", f"select source, target from {name}_next", cut=True)
        done = Progress((*done.sweeps, changed), done.wedges + visits)
        yield done
    for table in ("here", "there", "degree", "image", "candidate", "silent", "listed", "next"):
        engine.drop(f"{name}_{table}")


def _list(auxiliary: Network, target: Network, seeds: str, adversary: Rematch, name: str) -> int:
    """Table {name}_listed for the mapping so far; how many pairs the images proposed, repetitions included."""
    engine, there = auxiliary.engine, target.name
    engine.keep(f"{name}_here", odds.known(name, auxiliary.name, "source"))
    engine.keep(f"{name}_there", odds.known(name, there, "target"))
    model = _model(auxiliary, target, name)
    _put_degrees(target, model, name)
    engine.keep(f"{name}_image", odds.images(name, auxiliary.name, there, seeds, reach=adversary.reach))
    low = adversary.floor - adversary.margin
    found = odds.candidates(name, there, seeds, model, n_target=target.n_nodes, low=low)
    engine.keep(f"{name}_candidate", found)
    engine.keep(f"{name}_silent", odds.silent(name, there))
    engine.keep(f"{name}_listed", odds.listed(name, width=adversary.listed + 1, low=low))
    return int(engine.rows(odds.visits(name))["visits"][0])


def _model(auxiliary: Network, target: Network, name: str) -> Model:
    """What the pairs mapped so far say; whole numbers are added up in the engine."""
    engine = auxiliary.engine
    found = {of: int(total[0]) for of, total in engine.rows(odds.sums(name)).items()}
    ratio = (found["r_there"] + 1) / (found["r"] + 1)
    return fitted(
        int(engine.rows(odds.kept_edges(name, auxiliary.name, target.name))["kept"][0]),
        (found["known"], found["known_there"]),
        ratio=ratio,
        squares=found["squares_there"] - 2 * ratio * found["products"] + ratio**2 * found["squares"],
        expected=ratio * found["r"] + found["r_there"] + found["n"],
    )


def _put_degrees(target: Network, model: Model, name: str) -> None:
    """Table {name}_degree; weights are whole multiples of 1 / GRID, so that sums of doubles are exact in any order."""
    rows = target.engine.rows(odds.degrees(target.name))
    degree = np.maximum(rows["degree"], 1)
    share = np.bincount(degree, weights=rows["n"])[degree] / target.n_nodes
    target.engine.put(
        f"{name}_degree",
        {
            "degree": rows["degree"],
            "weight": witness_weights(model, degree, 2 * target.n_edges) / GRID,
            "toll": np.log(degree),
            "rarity": -np.log(share),
        },
    )
