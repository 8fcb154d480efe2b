"""Numbers on request, scored links and least leakage: `python verification/requested.py [--part numbers|random]`.

1: acceptance numbers, through the command line. 2: each number next to a literal program (sets, enumeration or the
formula) on 100 random inputs. RLdata500 needs UNMASK_DATA, or it is skipped. Exit code 1 if a verdict fails; less than
a minute.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import exp, log2
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from numpy.typing import NDArray
from show import Number, Section, Verdict, main

import unmask
from unmask.channels import Channel
from unmask.channels.design import least_leakage
from unmask.cli import main as unmask_command
from unmask.core.partition import Partition, View
from unmask.data.columns import read_columns
from unmask.measures.clustering import Contingency, evaluate
from unmask.measures.requested import parse_measures

Floats = NDArray[np.float64]
Labels = list[int]

INPUTS = 100
"""Random inputs of each comparison."""

TRUTH = "AAAAABB"
GUESSES = ("0000111", "0001102", "0001233")
"""Introduction of Pashalidis and Schiffner: Alice has five items and Bob two."""

LEFT = ((0, 0, 1, 3), (0, 0, 1, 2), (1, 4, 0, 1), (3, 1, 1, 0), (2, 0, 0, 0), (0, 1, 3, 0))
RIGHT = ((0, 1, 4, 3), (0, 4, 2, 1), (6, 1, 0, 2))
"""Section 4 of the same paper: items of each shape (the last are stars) in each cluster."""

FIELDS = ("fname_c1", "lname_c1", "by", "bm", "bd")
"""Fields of RLdata500 that are compared."""


# --- acceptance numbers ---------------------------------------------------------------------------------------------


def run(command: str, files: dict[str, str]) -> dict[str, object]:
    """Return the JSON of a command; files are written before, and FILE in a word is their folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, name).write_text(content)
        words = [word.replace("FOLDER", folder) for word in command.split()]
        result = CliRunner().invoke(unmask_command, [*words, "--json"])
    assert result.exit_code == 0, result.stderr
    document: dict[str, object] = json.loads(result.stdout)
    return document


def row_of(document: dict[str, object], measure: str, target: str = "") -> float:
    """Return the value of a measure."""
    rows = document["results"]
    assert isinstance(rows, list)
    return float(next(r["posterior"] for r in rows if r["measure"] == measure and target in ("", r["target"])))


def design(measure: str, options: str, files: dict[str, str]) -> float:
    """Return a number of a design."""
    (facts,) = run(f"design {options} -o FOLDER/m.csv", files)["results"]  # type: ignore[misc]
    return float(facts[measure])  # type: ignore[has-type]


FAIR = {"prior.csv": "secret,probability\n0,0.5\n1,0.5\n"}
FLIPPED = {"joint.csv": ",0,1\n0,0.4,0.1\n1,0.1,0.4\n"}
COIN = {"flip.csv": ",0,1\n0,0.9,0.1\n1,0.1,0.9\n"}


def gauss() -> float:
    """Return the squared error of a normal secret with normal noise, on a grid."""
    places = np.arange(-6, 6.01, 0.25)
    prior = np.array([exp(-(x**2) / 2) for x in places])
    shown = np.arange(-12, 12.01, 0.25)
    table = np.exp(-((shown[None] - places[:, None]) ** 2) / (2 * 1.5**2))
    table /= table.sum(axis=1, keepdims=True)
    prior /= prior.sum()
    rows = "".join(f"{x},{','.join(map(repr, row))}\n" for x, row in zip(places, table.tolist(), strict=True))
    files = {
        "m.csv": f",{','.join(f'y{y}' for y in shown)}\n{rows}",
        "prior.csv": "secret,probability\n"
        + "".join(f"{x},{p!r}\n" for x, p in zip(places, prior.tolist(), strict=True)),
    }
    command = "audit channel FOLDER/m.csv --prior FOLDER/prior.csv --loss squared --no-limit"
    return row_of(run(command, files), "estimation_error")


def classes(measure: str) -> float:
    """Return a number of a table with two classes, 3:1 and 1:3."""
    values = "ssst" + "sttt"
    rows = "".join(f"{'a' if k < 4 else 'b'},{value}\n" for k, value in enumerate(values))
    document = run("audit FOLDER/t.csv -q group -s value --smallest-shown 1", {"t.csv": f"group,value\n{rows}"})
    if measure == "success_probability":
        return row_of(document, measure, "value")
    return float(find_number(document["tables"], measure))


def find_number(tables: object, name: str) -> float:
    """Return the first number of this name anywhere in tables."""
    found = list(_walk(tables, name))
    return found[0]


def _walk(node: object, name: str) -> Iterator[float]:
    if isinstance(node, dict):
        for key, value in node.items():
            if str(key).startswith(name) and isinstance(value, int | float):
                yield float(value)
            yield from _walk(value, name)
    elif isinstance(node, list):
        for value in node:
            yield from _walk(value, name)


def linkage(truth: Sequence[object], guess: Sequence[object], options: str) -> dict[str, object]:
    """Return the result of an audit of linkage with an item in each line."""
    files = {
        "truth.csv": "item,subject\n" + "".join(f"i{k},{label}\n" for k, label in enumerate(truth)),
        "guess.csv": "item,cluster\n" + "".join(f"i{k},{label}\n" for k, label in enumerate(guess)),
    }
    return run(f"audit linkage --truth FOLDER/truth.csv --guess FOLDER/guess.csv --min-size 1 {options}", files)


def introduction(guess: str) -> float:
    """Return e* of a guess of the introduction at alpha 1/2."""
    return row_of(linkage(TRUTH, guess, "--measure normalized_error"), "normalized_error")


def star(table: Sequence[Sequence[int]], beta: float) -> float:
    """Return the slope of the stars: those of the worst subject if only they are counted by their own threshold."""
    items = [
        (shape, cluster) for cluster, counts in enumerate(table) for shape in range(4) for _ in range(counts[shape])
    ]
    met = Contingency.of(Partition([s for s, _ in items]), Partition([c for _, c in items]))
    return float(evaluate(met, alpha=0.5, beta=beta).risk_slope[3])


def links(threshold: float, line: str) -> float:
    """Return the share of subjects of RLdata500 on a line of the chart at a threshold."""
    source = Path(os.environ["UNMASK_DATA"]) / "partitions/RLdata500.csv.gz"
    columns = read_columns(source, [*FIELDS, "truth"])
    cells = np.column_stack([columns[name].astype(str) for name in FIELDS])
    first, second = np.triu_indices(len(cells), 1)
    score = (cells[first] == cells[second]).mean(axis=1)
    pairs = [f"{a},{b},{s}\n" for a, b, s in zip(first, second, score, strict=True) if s > 0]
    files = {
        "truth.csv": "item,subject\n" + "".join(f"{k},{owner}\n" for k, owner in enumerate(columns["truth"])),
        "links.csv": "item_l,item_r,score\n" + "".join(pairs),
    }
    command = "audit linkage --truth FOLDER/truth.csv --guess FOLDER/links.csv --shuffles 1 --threshold"
    rows = run(f"{command} {threshold}", files)["tables"]["linkage_links"]  # type: ignore[index]
    return float(next(row["share"] for row in rows if row["subjects"] == line))


def person_with(contacts: int, other: int = 0) -> dict[str, str]:
    """Return a network in which person 0 has so many contacts, three of whom know each other; another has `other`."""
    own = [f"0 {i}" for i in range(1, contacts + 1)]
    rest = [f"other p{i}" for i in range(other)]
    return {"network.txt": "\n".join([*own, "1 2", "1 3", "2 3", *rest]) + "\n"}


def advise(options: str, files: dict[str, str]) -> dict[str, object]:
    """Return the advice for person 0."""
    (advice,) = run(f"advise identity --graph FOLDER/network.txt --node 0 {options}", files)["results"]  # type: ignore[misc]
    return advice  # type: ignore[no-any-return]


def escape(name: str, options: str, files: dict[str, str]) -> float:
    """Return the probability that seeding misses person 0."""
    (found,) = advise(options, files)["escapes"]  # type: ignore[misc]
    return float(found[name])  # type: ignore[has-type]


def intact_cliques() -> float:
    """Return the expected share of intact cliques if one in five people has two identities."""
    pairs = "\n".join(f"{a} {b}" for a in range(12) for b in range(a))
    command = "protect graph FOLDER/network.txt -o FOLDER/out.txt --with IdentitySeparation:adopters=1.0:identities="
    (row,) = run(f"{command}[0.8,0.2]", {"network.txt": pairs})["results"]  # type: ignore[misc]
    return 1 - float(row["cliques_lost_expected"])  # type: ignore[has-type]


def weak(key: str) -> float:
    """Return the loss, or the identity, against an adversary who finds two identities with 0.3 and 0.1."""
    placing = advise("--discovery 0.3,0.1", person_with(9))["weak"]
    loss, assignment = placing["loss"], placing["assignment"]  # type: ignore[index]
    return float(loss if key == "loss" else assignment.index(1) + 1)


NUMBERS = (
    Number("flip 0.1: error", "IV-D", 0.1,
           lambda: row_of(run("audit channel FOLDER/flip.csv", COIN), "estimation_error")),
    Number("design of error, budget 0.1: distortion", "IV-D", 0.1,
           lambda: design("distortion", "--prior FOLDER/prior.csv --budget 0.1", FAIR)),
    Number("design of error, budget 0.1: error", "IV-D", 0.1,
           lambda: design("privacy", "--prior FOLDER/prior.csv --budget 0.1", FAIR)),
    Number("normal secret, noise 1.5, grid 0.25: squared error", "s^2 / (1 + s^2)", 0.692308, gauss, 0.002),
    Number("binary, distortion 0.1: least leakage, bits", "1 - h(0.1)", 0.531004,
           lambda: design("leakage_bits", "--minimize leakage --prior FOLDER/prior.csv --budget 0.1", FAIR)),
    Number("data flipped with 0.2, distortion 0.1: bits", "1 - h(0.26)", 0.173254,
           lambda: design("leakage_bits", "--minimize leakage --joint FOLDER/joint.csv --budget 0.1", FLIPPED)),
    Number("classes 3:1 and 1:3: success", "Figure 7", 0.75, lambda: classes("success_probability")),
    Number("classes 3:1 and 1:3: t in nats", "Figure 7", 0.130812, lambda: classes("t_kl")),
    *(
        Number(f"introduction, {guess}: normalized error", "section 3.1", expected,
               lambda guess=guess: introduction(guess))
        for guess, expected in zip(GUESSES, (1 / 12, 1 / 6, 1 / 12), strict=True)
    ),
    Number("stars, left, beta 0.9: slope", "section 4", 0.2320, lambda: star(LEFT, 0.9), 5e-5),
    Number("stars, right, beta 0.7: slope", "section 4", 0.3503, lambda: star(RIGHT, 0.7), 5e-5),
    *(
        Number(f"100 contacts, shares {shares}: clique seeding fails", "Figure 5.3, (5.11)", failure,
               lambda shares=shares: escape("cliques", f"--shares {shares}", person_with(100)))
        for shares, failure in (("0.1,0.9", 0.949772), ("0.2,0.8", 0.999984), ("0.05,0.95", 0.448723))
    ),
    Number("300 contacts, even shares, border 165: top seeding fails", "(5.15)", 0.906096,
           lambda: escape("best_known", "--shares 0.5,0.5 --top 2", person_with(300, other=165))),
    Number("P(Y = 2) = 0.2, even shares: intact 4-cliques", "(5.4)", 0.85**4, intact_cliques),
    Number("discovery 0.3 and 0.1: loss", "(A.5)", 0.085, lambda: weak("loss")),
    Number("discovery 0.3 and 0.1: identity", "theorem 2", 2, lambda: weak("identity")),
    *(
        Number(f"{m} of {y} identities with the secret: loss", "section 6.4.3", m / y,
               lambda m=m, y=y: float(
                   advise(f"--identities {y} --equal-secrets {m}", person_with(9))["equal_loss"]  # type: ignore[arg-type]
               ))
        for m, y in ((2, 3), (2, 5), (4, 5))
    ),
)  # fmt: skip

LINKS = {1.0: (0.0, 0.0), 0.8: (0.92, 0.92), 0.6: (1.0, 0.96), 0.4: (1.0, 0.04)}
"""Threshold -> shares of subjects of RLdata500 that are breached, and cleanly."""


def verify_numbers() -> Section:
    """Compare acceptance numbers."""
    numbers = [*NUMBERS]
    if "UNMASK_DATA" in os.environ:
        for threshold, shares in LINKS.items():
            for line, share in zip(("breached", "breached, no items of others"), shares, strict=True):
                claim = f"RLdata500, links >= {threshold:g}: {line}"
                numbers.append(Number(claim, "own", share, lambda t=threshold, n=line: links(t, n)))
    return Section("Acceptance numbers", verdicts=(number.verify() for number in numbers))


# --- random inputs --------------------------------------------------------------------------------------------------


def clusters(labels: Labels) -> list[set[int]]:
    """Return the sets of items with equal labels."""
    return [{i for i, label in enumerate(labels) if label == name} for name in sorted(set(labels))]


def distance(first: Labels, second: Labels) -> float:
    """Return the variation of information in bits, from intersections of sets."""
    n, total = len(first), 0.0
    for c in clusters(first):
        for d in clusters(second):
            if shared := len(c & d):
                total -= shared / n * (log2(shared / len(c)) + log2(shared / len(d)))
    return total


def score_literally(truth: Labels, view: list[tuple[float, Labels]], alpha: float) -> dict[str, float]:
    """Return the numbers of linkage from sets."""
    n, guess = len(truth), view[0][1]
    errors = [
        min(alpha * len(c - d) + (1 - alpha) * len(d - c) for d in clusters(guess) if c & d) for c in clusters(truth)
    ]
    pairs = list(combinations(range(n), 2))
    alike = sum((truth[a] == truth[b]) == (guess[a] == guess[b]) for a, b in pairs)
    law: dict[tuple[int, ...], float] = {}
    for p, labels in view:
        key = tuple(labels.index(label) for label in labels)
        law[key] = law.get(key, 0.0) + p
    spread = -sum(p * log2(p) for p in law.values())
    apart = sum(p * q * distance(a, b) for p, a in view for q, b in view)
    return {
        "combined_error": sum(errors) / len(errors),
        "normalized_error": sum(errors) / len(errors) / (n - 1),
        "rand_index": alike / len(pairs),
        "variation_of_information": distance(truth, guess),
        "certainty": 1 - spread / log2(len(law)) if len(law) > 1 else 1.0,
        "consistency": 1 - apart / log2(n),
        "expected_distance": sum(p * distance(truth, labels) for p, labels in view),
    }


def verify_linkage() -> Section:
    """Compare numbers of linkage with sets."""
    rng, worst = np.random.default_rng(21), dict[str, float]()
    for _ in range(INPUTS):
        n, alpha = int(rng.integers(2, 11)), float(rng.choice([0, 1 / 3, 0.5, 1]))
        truth = rng.integers(0, 4, n).tolist()
        weight = rng.integers(1, 5, 3)
        view = [(float(w / weight.sum()), rng.integers(0, 4, n).tolist()) for w in weight]
        partitions = [Partition(labels) for _, labels in view]
        options = {"alpha": alpha, "min_size": 1, "shuffles": 1}
        names = ["combined_error", "normalized_error", "rand_index", "variation_of_information"]
        single = unmask.audit(partitions[0], Partition(truth), measures=names, **options).results
        several = unmask.audit(View(partitions, [p for p, _ in view]), Partition(truth), **options).results
        ours = {row["measure"]: row["posterior"] for row in several} | {
            row["measure"]: row["posterior"] for row in single if row["measure"] in names
        }
        for name, value in score_literally(truth, view, alpha).items():
            worst[name] = max(worst.get(name, 0.0), abs(ours[name] - value))
    return Section(f"Linkage on {INPUTS} random inputs, against sets", verdicts=_compare(worst))


def verify_channels() -> Section:
    """Compare measures of channels with their formulas."""
    rng, worst = np.random.default_rng(22), dict[str, float]()
    names = (
        "sibson_leakage_bits:2", "min_entropy_leakage_bits", "maximal_leakage_bits", "diaz_degree", "local_anonymity",
        "renyi_entropy_bits:3", "confidence_set_size:0.8",
    )  # fmt: skip
    measures = dict(zip(names, parse_measures(names), strict=True))
    for _ in range(INPUTS):
        n_secrets, n_outputs = rng.integers(2, 6, 2)
        table = rng.integers(0, 5, (n_secrets, n_outputs)).astype(float)
        table[:, 0] += 1
        table /= table.sum(axis=1, keepdims=True)
        prior = rng.integers(1, 5, n_secrets).astype(float)
        prior /= prior.sum()
        belief = Channel(table, prior).posterior()
        for name, value in measure_literally(prior, table).items():
            worst[name] = max(worst.get(name, 0.0), abs(measures[name](belief) - value))
    return Section(f"Channels on {INPUTS} random inputs, against formulas", verdicts=_compare(worst))


def measure_literally(prior: Floats, table: Floats) -> dict[str, float]:
    """Return the numbers of a channel by their definitions."""
    joint = prior[:, None] * table
    seen = [(column.sum(), column / column.sum()) for column in joint.T if column.sum() > 0]
    second = sum((sum(prior * table[:, y] ** 2)) ** 0.5 for y in range(table.shape[1]))
    entropy = sum(p * -sum(q * log2(q) for q in row if q > 0) for p, row in seen)
    return {
        "sibson_leakage_bits:2": 2 * log2(second),
        "min_entropy_leakage_bits": log2(joint.max(axis=0).sum() / prior.max()),
        "maximal_leakage_bits": log2(table.max(axis=0).sum()),
        "diaz_degree": entropy / log2(len(prior)),
        "local_anonymity": max(row.max() for _, row in seen),
        "renyi_entropy_bits:3": sum(p * -log2(sum(q**3 for q in row)) / 2 for p, row in seen),
        "confidence_set_size:0.8": sum(p * count_likeliest(row, 0.8) for p, row in seen),
    }


def count_likeliest(row: Floats, level: float) -> int:
    """Return how many of the likeliest together reach a probability."""
    total = 0.0
    for k, chance in enumerate(sorted(row.tolist(), reverse=True), 1):
        total += chance
        if total >= level - 1e-9:
            return k
    return len(row)


def verify_designs() -> Section:
    """Compare announced and realized leakage, and designs with random mechanisms within the budget."""
    rng, worst, beaten = np.random.default_rng(23), {"leakage_bits": 0.0, "distortion": 0.0}, 0
    for _ in range(INPUTS):
        n_secrets, n_data = rng.integers(2, 4, 2)
        joint = rng.integers(1, 9, (n_secrets, n_data)).astype(float)
        joint /= joint.sum()
        cost = 1 - np.eye(n_data)
        budget = 0.05 + 0.2 * float(rng.random())
        design = least_leakage(joint, cost, budget)
        rule = design.channel.dense()
        worst["leakage_bits"] = max(worst["leakage_bits"], abs(design.leakage_bits - leak(joint, rule)))
        spent = joint.sum(axis=0) @ (rule * cost).sum(axis=1)
        worst["distortion"] = max(worst["distortion"], abs(design.distortion - spent), spent - budget)
        for _ in range(50):
            other = rng.dirichlet(np.ones(n_data), n_data)
            share = min(1.0, budget / float(joint.sum(axis=0) @ (other * cost).sum(axis=1)))
            mixed = share * other + (1 - share) * np.eye(n_data)
            beaten += leak(joint, mixed) < design.leakage_bits - design.gap_bits - 1e-9
    verdicts = [*_compare(worst), Verdict("no random mechanism within the budget leaks less", 0, beaten, not beaten)]
    return Section(f"Least leakage on {INPUTS} random inputs", verdicts=verdicts)


def leak(joint: Floats, rule: Floats) -> float:
    """Return I(X; Y) in bits, term by term."""
    shown, total = joint @ rule, 0.0
    for x, row in enumerate(shown):
        for y, p in enumerate(row):
            if p > 0:
                total += p * log2(p / (joint[x].sum() * shown[:, y].sum()))
    return total


def _compare(worst: dict[str, float]) -> list[Verdict]:
    return [Verdict(f"{name}: largest difference", "1e-6", f"{gap:.1e}", gap <= 1e-6) for name, gap in worst.items()]


PARTS = {"numbers": verify_numbers, "random": (verify_linkage, verify_channels, verify_designs)}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS))
