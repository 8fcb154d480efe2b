"""Seeds and truth as tables of an engine, what an attack got right, and its pairs as a file."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.data.resources import check_output
from unmask.graphs.evaluation import DEGREE_CLASSES, DegreeClass, Outcome, Rates
from unmask.graphs.evaluation.outcomes import degree_classes
from unmask.graphs.seeds import rows_left_out
from unmask.graphs.stored.attacks import Mapped
from unmask.graphs.stored.loading import Network, check_rows, pair_columns, refuse_ids_for_names

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Found:
    """What an attack got right: over all people, and by their degree in the auxiliary network.

    guess : mean number of target nodes that are right, over the people who can be found
    """

    rates: Rates
    guess: float
    by_degree: tuple[DegreeClass, ...]


def read_seeds(auxiliary: Network, target: Network, source: str, *, name: str = "seeds") -> int:
    """Table `name` (source, target) of the people the adversary has found, from a source of two columns of ids.

    Ids are compared as texts: auxiliary id, then id in the target. A row that names somebody who is not in its network
    is left out, and how many are is logged. Returns the number of seeds that are left, at least one. Refused is a node
    in two rows.
    """
    engine = auxiliary.engine
    n = _take_in(auxiliary, target, source, name)
    engine.keep(name, f"select source, target from {name}_named where source is not null and target is not null")
    engine.drop(f"{name}_named")
    found = engine.rows(
        f"select count(*) as n, count(distinct source) as source, count(distinct target) as target from {name}"
    )
    kept = int(found["n"][0])
    if not kept:
        raise UnmaskError(f"none of {n} seeds names a source node and a target node; check the labels")
    for side in ("source", "target"):
        if (distinct := int(found[side][0])) < kept:
            raise UnmaskError(f"{kept} seeds name {distinct} {side} nodes, expected each node at most once")
    if kept < n:
        _log.warning("%s: %s", Path(source.rpartition("::")[2]).name, rows_left_out(n - kept, n))
    return kept


def read_truth(auxiliary: Network, target: Network, source: str, *, name: str = "truth") -> int:
    """Table `name` (source, target) of who is who, from a source of two columns of ids; how many are in both networks.

    Ids are compared as texts. A row that names somebody who is not in the network is left out, and so are repetitions;
    a person may be in several rows: any of these target nodes is right. Source nodes in rows of one target node, one of
    which is in several rows, are one person, too: what is right for one of them is right for all (`Pair.from_labels`).
    Refused is a source of which no row is left.
    """
    engine = auxiliary.engine
    n = _take_in(auxiliary, target, source, name)
    pairs = f"select distinct source, target from {name}_named where source is not null and target is not null"
    before, n_pairs = -1, engine.keep(name, pairs, cut=True)
    while n_pairs != before:
        before, n_pairs = n_pairs, engine.keep(name, _joined_people(name), cut=True)
    engine.drop(f"{name}_named")
    common = int(engine.rows(f"select count(distinct source) as n from {name}")["n"][0])
    if not common:
        raise UnmaskError(f"none of {n} rows names a source node and a target node; check the labels")
    return common


def evaluate(auxiliary: Network, mapped: Mapped, *, seeds: str = "seeds", truth: str = "truth") -> Found:
    """`rates` and `by_degree` of the pairs, counted in the engine; seeds and truth are tables (source, target)."""
    counts = np.zeros((len(DEGREE_CLASSES) + 1, len(Outcome)), dtype=np.int64)
    rows = auxiliary.engine.rows(_outcomes(auxiliary.name, mapped.table, seeds, truth))
    counts[rows["degree_class"], rows["outcome"]] = rows["n"]
    hits, misses, unmapped, false_positives, absent, _ = counts.sum(axis=0).tolist()
    present, right = int(rows["present"].sum()), int(rows["seeds_right"].sum())
    rates = Rates(hits, misses, unmapped, false_positives, absent, seeds_present=present, seeds_right=right)
    free = f"select count(*) as n from {truth} w left join {seeds} s on s.source = w.source where s.source is null"
    guess = int(auxiliary.engine.rows(free)["n"][0]) / max(rates.findable, 1)
    return Found(rates, guess, degree_classes((0, *DEGREE_CLASSES), counts))


def write_pairs(auxiliary: Network, target: Network, mapped: Mapped, path: Path, *, force: bool = False) -> None:
    """Write who was named as whom as Parquet, by ids, sorted: columns `auxiliary` and `release`; seeds included."""
    check_output(path, force=force)
    named = (
        f"select a.label as u, t.label as v from {mapped.table} m join {auxiliary.name}_node a on a.node = m.source "
        f"join {target.name}_node t on t.node = m.target"
    )
    auxiliary.engine.write_parquet(named, path, {"u": "auxiliary", "v": "release"}, order=["u"])


def _take_in(auxiliary: Network, target: Network, source: str, name: str) -> int:
    """Table {name}_named (source, target) of the rows, NULL for a node that is not there; the number of rows."""
    engine = auxiliary.engine
    first, second, *_ = pair_columns(engine, source)
    refuse_ids_for_names(source, (first, second), (auxiliary, target))
    engine.table(f"{name}_source", source, {"u": first, "v": second})
    n = check_rows(engine, f"{name}_source", source)
    engine.keep(
        f"{name}_named",
        f"select a.node as source, t.node as target from {name}_source s "
        f"left join {auxiliary.name}_node a on cast(a.label as string) = cast(s.u as string) "
        f"left join {target.name}_node t on cast(t.label as string) = cast(s.v as string)",
    )
    return n


def _joined_people(truth: str) -> str:
    """The truth, and what is right for a source node of several rows, right for those that share a target node with it.

    Repeated until it adds nothing, it makes every row of a connected component of such rows.
    """
    several = f"select source from {truth} group by source having count(*) > 1"
    return (
        f"select source, target from {truth} union select a.source as source, c.target as target from {truth} a "
        f"join {truth} b on b.target = a.target and b.source <> a.source join ({several}) s on s.source = b.source "
        f"join {truth} c on c.source = b.source"
    )


def _outcomes(auxiliary: str, mapping: str, seeds: str, truth: str) -> str:
    """Nodes n by degree class and `Outcome`; of the seeds those in the target (present) and those that are right."""
    outcome = (
        f"case when s.source is not null then {Outcome.SEED:d} "
        f"when w.source is null and m.target is null then {Outcome.ABSENT:d} "
        f"when w.source is null then {Outcome.FALSE_POSITIVE:d} when m.target is null then {Outcome.UNMAPPED:d} "
        f"when r.source is not null then {Outcome.HIT:d} else {Outcome.MISS:d} end"
    )
    steps = " + ".join(f"case when a.degree >= {low} then 1 else 0 end" for low in DEGREE_CLASSES)
    seed = "case when s.source is not null and {}.source is not null then 1 else 0 end"
    return (
        "select degree_class, outcome, count(*) as n, cast(sum(present) as bigint) as present, "
        "cast(sum(seed_right) as bigint) as seeds_right from ("
        f"select {steps} as degree_class, {outcome} as outcome, {seed.format('w')} as present, "
        f"{seed.format('r')} as seed_right from {auxiliary}_node a left join {seeds} s on s.source = a.node "
        f"left join {mapping} m on m.source = a.node left join (select distinct source from {truth}) w "
        f"on w.source = a.node left join {truth} r on r.source = a.node and r.target = m.target"
        ") judged group by degree_class, outcome"
    )
