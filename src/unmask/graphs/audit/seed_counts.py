"""Success of attacks by number of seeds, and the fewest seeds from which they spread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unmask.graphs.audit.attack_run import AttackRun, mean_rate
from unmask.graphs.audit.facts import MIN_STABLE, SeedCount, find_stable_by
from unmask.measures.registry import MEASURES
from unmask.results import Row
from unmask.results.names import IDENTITY
from unmask.results.words import plural


def count_by_seeds(
    runs_by_seeds: Mapping[tuple[str, int], Sequence[AttackRun]], attacks: Sequence[str], seeds: str
) -> Iterator[SeedCount]:
    """Yield mean rates by attack, in their order, and by number of seeds; the runs have the same method of seeds."""
    for name, n_seeds in sorted(runs_by_seeds, key=lambda key: (attacks.index(key[0]), key[1])):
        runs = runs_by_seeds[name, n_seeds]
        recall, coverage = mean_rate(runs, "recall"), mean_rate(runs, "coverage")
        spread_in = sum(run.has_spread for run in runs)
        yield SeedCount(name, seeds, n_seeds, len(runs), spread_in, recall, coverage or 0.0)


def list_stable_seeds(counts: Sequence[SeedCount], *, release: str, n_people: int) -> tuple[list[Row], dict[str, str]]:
    """Return a row with the fewest seeds, by any method, from which each attack spreads in most runs.

    The second value has the attacks that never spread in most runs, with the reason.
    """
    rows: list[Row] = []
    never: dict[str, str] = {}
    for attack in dict.fromkeys(point.attack for point in counts):
        points = [point for point in counts if point.attack == attack]
        if stable := [point for point in find_stable_by(points, "seeds").values() if point is not None]:
            fewest = min(stable, key=lambda point: point.n_seeds)
            rows.append(_stable_seeds_row(fewest, release=release, n_people=n_people))
        else:
            most = max(point.n_seeds for point in points)
            never[f"stable_seeds ({attack})"] = (
                f"with up to {most:,} seeds, it spreads in fewer than {MIN_STABLE:.0%} of the runs"
            )
    return rows, never


def _stable_seeds_row(point: SeedCount, *, release: str, n_people: int) -> Row:
    """Return the row of the fewest seeds from which an attack spreads in most runs; without the release, all people."""
    quantity, n_seeds = MEASURES["stable_seeds"], float(point.n_seeds)
    note = f"spread in {point.spread_in} of {plural(point.runs, 'run')}; seeds: {point.seeds}"
    return Row.of_number(
        n_seeds, release=release, adversary=point.attack, target=IDENTITY, measure=quantity.name, unit=quantity.unit,
        direction=quantity.direction, prior=float(n_people), n=n_people, n_observations=point.runs,
        quantiles=(n_seeds,) * 5, note=note,
    )  # fmt: skip
