"""Twelve protections of networks against five adversaries: `UNMASK_DATA=... python verification/graph_study.py`.

The study of graph_study.toml on three networks, as its user runs it (`--results FOLDER` keeps it, or takes up one that
was begun; `--report FILE` writes its page): recall of every adversary, what each protection loses, what `choose` takes,
and what must hold of it. Then the dissertation's claim that a few separated hubs stop the attack, on its own network,
beside the attack that refutes it; and the bound by twins beside the best attack on each pair. Exit code 1 if a verdict
that must hold fails. About ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from show import Section, Verdict, run

from unmask.graphs import Climb, IdentitySeparation, Nar09, Rematch, datasets, select_seeds, split
from unmask.graphs.audit.attack_run import run_attack
from unmask.graphs.disclosure import SeparatedPair, separated_seeds
from unmask.graphs.evaluation import most_recall
from unmask.graphs.utility import LOSSES
from unmask.policy import Condition
from unmask.studies.choice import choose
from unmask.studies.results_file import Results, read_results

PLAN = Path(__file__).with_suffix(".toml")

NETWORKS = {"email-eu": (0.8, 0.8), "ca-grqc": (0.8, 0.8), "advogato": (0.8, 0.8), "epinions": (0.5, 0.75)}
"""Network -> overlap of people and edges at which bounds are held against attacks."""


def study(folder: Path) -> Section:
    """Who is recognized, and what is lost."""
    subprocess.run((sys.executable, "-m", "unmask", "study", str(PLAN), "-o", str(folder)), check=True)
    found = read_results(folder)
    reached = {(s.dataset, s.release, s.adversary): s.posterior for s in found.rows if s.measure == "recall"}
    datasets_, protections, adversaries = ([*dict.fromkeys(key[i] for key in reached)] for i in range(3))
    rows = tuple(
        (
            dataset,
            name,
            *(f"{reached[dataset, name, who]:.1%}" for who in adversaries),
            *map("{:.1%}".format, _kept(found, dataset, name)),
        )
        for dataset in datasets_
        for name in protections
    )
    head = ("network", "protection", *adversaries, "utility", *(loss.removesuffix("_lost") for loss in LOSSES))
    bare = {(dataset, who): reached[dataset, "none", who] for dataset in datasets_ for who in adversaries}
    anonymous = [reached[dataset, "10-degree anonymity", "degrees"] for dataset in datasets_]
    remains = [reached[d, "10-degree anonymity", "Rematch"] / bare[d, "Rematch"] for d in datasets_]
    grouped = [value for (_, name, _), value in reached.items() if name == "groups of ten"]
    least = {
        dataset: min(
            max(reached[dataset, name, who] for who in adversaries)
            for name in protections
            if name != "none" and _kept(found, dataset, name)[1] <= 0.5
        )
        for dataset in datasets_
    }
    useful = [dataset for dataset, recall in least.items() if recall <= 0.09]
    verdicts = (
        Verdict("every cell has a result", "-", f"{len(found.gaps)} have none", not found.gaps),
        Verdict("10-degree anonymity stops who knows degrees", "0 %", f"{max(anonymous):.1%}", max(anonymous) == 0),
        Verdict("... and nobody else: share that Rematch keeps", "-", f"{min(remains):.0%}", min(remains) > 0.8),
        Verdict("groups of ten: nobody finds more than a tenth", "10 %", f"{max(grouped):.1%}", max(grouped) <= 0.1),
        Verdict("one that keeps half of the edges meets 9 % on", "one", ", ".join(useful), len(useful) == 1),
        *_chosen(found, datasets_),
    )
    notes = ("Losses are those of graphs/utility.py, means over adversaries and seeds.",)
    return Section("Recall of five adversaries, and what is lost", head, rows, notes, verdicts)


def _kept(found: Results, dataset: str, protection: str) -> tuple[float, ...]:
    """The utility of a protection, and its losses."""
    own = [s for s in found.rows if (s.dataset, s.release) == (dataset, protection)]
    values = {name: [s.posterior for s in own if s.measure == name] for name in ("utility", *LOSSES)}
    return tuple(float(np.mean(value)) for value in values.values())


def _chosen(found: Results, names: list[str]) -> Iterator[Verdict]:
    """What `choose` takes under the limit that an agency sets."""
    verdicts = choose(found, [Condition.parse("recall <= 0.09")])
    for name in names:
        first = next(one for one in verdicts if one.dataset == name)
        yield Verdict(
            f"choose names one: {name}", "-", f"{first.protection}, {first.utility:.0%} kept", first.state == "met"
        )


def hubs() -> Section:
    """The dissertation: 2 to 4 % of the people with most contacts stop the attack (figure 5.15)."""
    rng = np.random.default_rng(0)
    pair = split(datasets.network("epinions"), 0.5, 0.75, rng, largest_component=True)
    few = IdentitySeparation(model="basic", identities=2, adopters=0.04, cooperation="degree")
    separated = few(pair.target, rng=rng, eligible=pair.truth[pair.common])
    after = SeparatedPair.of(pair, separated)
    found = {}
    for name, attack in {"Nar09": Nar09(), "Rematch": Rematch(forced=True)}.items():
        seeds = select_seeds(pair, "random.25", 1000, rng), separated_seeds(pair, separated, "random.25", 1000, rng)
        before, hidden = (
            run_attack(of, attack, known, only_rates=True)[0] for of, known in zip((pair, after), seeds, strict=True)
        )
        told = hidden.rate("disclosure") or 0.0
        found[name] = (before.rate("recall") or 0.0, hidden.rate("recall") or 0.0, told)
    rows = tuple((name, *(f"{value:.1%}" for value in values)) for name, values in found.items())
    claim = "4 % of the people, those with most contacts, under two identities, stop "
    verdicts = (
        Verdict(f"{claim}Nar09", "attack fails", rows[0][2], found["Nar09"][1] < 0.05),
        Verdict(f"{claim}any attack", "attack fails", rows[1][2], found["Rematch"][1] < 0.05, refutes=True),
    )
    head = ("attack", "recall before", "recall after", "contacts of the hubs disclosed")
    return Section("A few separated hubs: Epinions, overlap 0.5/0.75, 1,000 seeds", head, rows, verdicts=verdicts)


def bounds() -> Section:
    """What any attack could reach, beside the best of two."""
    rows, holds = [], []
    for name, overlap in NETWORKS.items():
        rng = np.random.default_rng(0)
        pair = split(datasets.network(name), *overlap, rng, largest_component=True)
        seeds = select_seeds(pair, "random", 100, rng)
        reached = max(
            run_attack(pair, attack, seeds, only_rates=True)[0].rate("recall") or 0.0
            for attack in (Rematch(forced=True), Climb())
        )
        twins = most_recall(pair, seeds) or 0.0
        rows.append((name, f"{overlap[0]}/{overlap[1]}", f"{reached:.1%}", f"{twins:.1%}"))
        holds.append(reached <= twins)
    verdict = Verdict("no attack passes the bound by twins", "-", f"{sum(holds)} of {len(holds)}", all(holds))
    head = ("network", "overlap", "best attack", "bound: twins")
    return Section("What any attack could reach", head, tuple(rows), verdicts=(verdict,))


def main() -> int:
    """Run the study, then the rest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, help="folder of the study; a temporary one when left out")
    parser.add_argument("--report", type=Path, help="write the page of the study")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = asked.results or Path(folder) / "results"
        code = run((partial(study, results), hubs, bounds))
        if asked.report is not None:
            report = (sys.executable, "-m", "unmask", "report", str(results), "-o", str(asked.report), "--force")
            subprocess.run(report, check=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
