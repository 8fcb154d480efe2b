"""Twelve protections of networks against five adversaries: `UNMASK_DATA=... python verification/graph_study.py`.

The study of graph_study.toml on three networks, as a user runs it: recall of every adversary, losses of each protection
and the choice of `choose`. Then the dissertation's claim that a few separated hubs stop the attack, on its own network,
next to the attack that refutes it; and the bound by twins next to the best attack on each pair.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from show import Section, Verdict, main, percent

from unmask.graphs import Attack, Climb, IdentitySeparation, Nar09, Rematch, datasets, select_seeds, split
from unmask.graphs.audit.attack_run import run_attack
from unmask.graphs.disclosure import SeparatedPair, separated_seeds
from unmask.graphs.evaluation import most_recall
from unmask.graphs.utility import LOSSES
from unmask.policy import Condition
from unmask.studies.choice import choose
from unmask.studies.results_file import Results, read_results

PLAN = Path(__file__).with_suffix(".toml")

NETWORKS = {"email-eu": (0.8, 0.8), "ca-grqc": (0.8, 0.8), "advogato": (0.8, 0.8), "epinions": (0.5, 0.75)}
"""Network -> overlap of people and edges at which bounds are compared with attacks."""

MAX_RECALL = 0.09
"""Limit that an agency sets."""


def verify_study() -> Section:
    """Compare recall and losses of all protections."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "results"
        subprocess.run((sys.executable, "-m", "unmask", "study", str(PLAN), "-o", str(output)), check=True)
        results = read_results(output)
    recall = {(r.dataset, r.release, r.adversary): r.posterior for r in results.rows if r.measure == "recall"}
    names, protections, adversaries = ([*dict.fromkeys(key[i] for key in recall)] for i in range(3))
    losses = {(name, protection): _average_losses(results, name, protection) for name, protection, _ in recall}
    return Section(
        "Recall of five adversaries, and losses, in percent",
        ("network", "protection", *adversaries, "utility", *(loss.removesuffix("_lost") for loss in LOSSES)),
        (
            (*key, *map(percent, (*(recall[*key, adversary] for adversary in adversaries), *values)))
            for key, values in losses.items()
        ),
        ("Losses are those of graphs/utility.py, means over adversaries and seeds.",),
        (
            Verdict("every cell has a result", "-", f"{len(results.gaps)} have none", not results.gaps),
            *_recall_verdicts(recall, names, protections, adversaries, losses),
            *_choices(results, names),
        ),
    )


def _average_losses(results: Results, dataset: str, protection: str) -> tuple[float, ...]:
    """Return the utility of a protection, and its losses."""
    rows = [row for row in results.rows if (row.dataset, row.release) == (dataset, protection)]
    measures = ("utility", *LOSSES)
    return tuple(float(np.mean([row.posterior for row in rows if row.measure == name])) for name in measures)


def _recall_verdicts(
    recall: dict[tuple[str, str, str], float],
    names: list[str],
    protections: list[str],
    adversaries: list[str],
    losses: dict[tuple[str, str], tuple[float, ...]],
) -> Iterator[Verdict]:
    anonymous = max(recall[name, "10-degree anonymity", "degrees"] for name in names)
    yield Verdict("10-degree anonymity stops an adversary who knows degrees", "0 %", f"{anonymous:.1%}", anonymous == 0)
    remains = min(recall[n, "10-degree anonymity", "Rematch"] / recall[n, "none", "Rematch"] for n in names)
    yield Verdict("... and no other: share of recall that Rematch keeps", "-", f"{remains:.0%}", remains > 0.8)
    grouped = max(value for (_, protection, _), value in recall.items() if protection == "groups of ten")
    claim = "groups of ten: no adversary finds more than a tenth"
    yield Verdict(claim, "10 %", f"{grouped:.1%}", grouped <= 0.1)
    least = {
        name: min(
            max(recall[name, protection, adversary] for adversary in adversaries)
            for protection in protections
            if protection != "none" and losses[name, protection][1] <= 0.5
        )
        for name in names
    }
    met = [name for name, value in least.items() if value <= MAX_RECALL]
    yield Verdict("a protection that keeps half of the edges meets 9 % on", "one", ", ".join(met), len(met) == 1)


def _choices(results: Results, names: list[str]) -> Iterator[Verdict]:
    choices = choose(results, [Condition.parse(f"recall <= {MAX_RECALL}")])
    for name in names:
        first = next(choice for choice in choices if choice.dataset == name)
        ours = f"{first.protection}, {first.utility:.0%} kept"
        yield Verdict(f"choose selects a protection: {name}", "-", ours, first.state == "met")


def verify_hubs() -> Section:
    """Test the dissertation: 2 to 4 % of the people with most contacts stop the attack (figure 5.15)."""
    rng = np.random.default_rng(0)
    pair = split(datasets.network("epinions"), 0.5, 0.75, rng, largest_component=True)
    protection = IdentitySeparation(model="basic", identities=2, adopters=0.04, cooperation="degree")
    separated = protection(pair.target, rng=rng, eligible=pair.truth[pair.common])
    protected = SeparatedPair.of(pair, separated)
    rates = {}
    attacks: dict[str, Attack] = {"Nar09": Nar09(), "Rematch": Rematch(forced=True)}
    for name, attack in attacks.items():
        seeds = select_seeds(pair, "random.25", 1000, rng), separated_seeds(pair, separated, "random.25", 1000, rng)
        before = run_attack(pair, attack, seeds[0], only_rates=True)[0]
        after = run_attack(protected, attack, seeds[1], only_rates=True)[0]
        rates[name] = [r or 0.0 for r in (before.rate("recall"), after.rate("recall"), after.rate("disclosure"))]
    claim = "4 % of the people, those with most contacts, under two identities, stop "
    nar09, rematch = rates["Nar09"][1], rates["Rematch"][1]
    return Section(
        "A few separated hubs: Epinions, overlap 0.5/0.75, 1,000 seeds, in percent",
        ("attack", "recall before", "recall after", "contacts of the hubs disclosed"),
        ((name, *map(percent, values)) for name, values in rates.items()),
        (),
        (
            Verdict(f"{claim}Nar09", "attack fails", f"{nar09:.1%}", nar09 < 0.05),
            Verdict(f"{claim}any attack", "attack fails", f"{rematch:.1%}", rematch < 0.05, refutes=True),
        ),
    )


def verify_bounds() -> Section:
    """Compare the bound of any attack with the better of two."""
    rows, holds = [], []
    for name, overlap in NETWORKS.items():
        rng = np.random.default_rng(0)
        pair = split(datasets.network(name), *overlap, rng, largest_component=True)
        seeds = select_seeds(pair, "random", 100, rng)
        runs = [run_attack(pair, attack, seeds, only_rates=True)[0] for attack in (Rematch(forced=True), Climb())]
        best, bound = max(run.rate("recall") or 0.0 for run in runs), most_recall(pair, seeds) or 0.0
        rows.append((name, f"{overlap[0]}/{overlap[1]}", percent(best), percent(bound)))
        holds.append(best <= bound)
    verdict = Verdict("no attack passes the bound by twins", "-", f"{sum(holds)} of {len(holds)}", all(holds))
    header = ("network", "overlap", "best attack", "bound: twins")
    return Section("Bound of any attack, in percent", header, rows, (), (verdict,))


PARTS = {"study": verify_study, "hubs": verify_hubs, "bounds": verify_bounds}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS))
