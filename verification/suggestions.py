"""Suggestions of a page, carried out: every announced effect is exact.

    UNMASK_DATA=... python verification/suggestions.py [--part hospital|adult|census|customers|rare]

All runs through the command line, as a steward does.

1. The hospital of examples/hospital.toml: discharges, k = 5, under two policies.
2. Adult: 30,162 people with five quasi-identifiers and their occupation, k = 10.
3. A census of 1,500 people with a rule of dominance, and k = 2.
4. Sales to 1,200 customers, drawn with skew and ties, where a column is better left out.
5. The same with a plan that five people have: every class needs three values, and no k is enough.

For each change: conditions missed and not tested, people above the limit, utility. People above the limit are counted
from the cells of the release, without unmask: rows in classes of fewer than 1 / limit, which is 0.09 or what the policy
says of the most exposed.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from show import Section, Verdict, main

from unmask import read_table, suggest
from unmask.tables import datasets

LIMIT = 0.09
"""Probability above which a person is at risk of re-identification."""


def unmask(folder: Path, *words: str) -> str:
    """Return the output of a command; a release may be not acceptable."""
    process = subprocess.run(
        [sys.executable, "-m", "unmask", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert process.returncode in (0, 3), process.stderr
    return process.stdout


def protect(folder: Path, roles: tuple[list[str], str], *options: str) -> None:
    """Write release.csv and origin.csv of people.csv."""
    quasi_identifiers, sensitive = roles
    columns = ("-q", ",".join(quasi_identifiers), "-s", sensitive)
    unmask(
        folder, "protect", "people.csv", *columns, *options, "-o", "release.csv", "--origin", "origin.csv", "--force"
    )


def audit(folder: Path, roles: tuple[list[str], str], policies: tuple[str, ...], *options: str) -> dict[str, Any]:
    """Return the tables of the audit, with unsuppressed counts of people."""
    quasi_identifiers, sensitive = roles
    columns = ("-q", ",".join(quasi_identifiers), "-s", sensitive, "--original", "people.csv", "--origin", "origin.csv")
    words = [word for policy in policies for word in ("--policy", policy)]
    output = unmask(folder, "audit", "release.csv", *columns, *words, "--smallest-shown", "1", "--json", *options)
    return json.loads(output)["tables"]


def count_people(folder: Path, quasi_identifiers: list[str], limit: float) -> int:
    """Count people in classes so small that a guess among their rows is right with more than the limit."""
    with (folder / "release.csv").open(newline="") as file:
        classes = Counter(tuple(row[name] for name in quasi_identifiers) for row in csv.DictReader(file))
    return sum(size for size in classes.values() if 1 / size > limit)


def measure_effect(
    folder: Path, roles: tuple[list[str], str], policies: tuple[str, ...], n_columns: int, limit: float
) -> dict[str, Any]:
    """Return conditions, people above the limit, and utility over all columns of the original."""
    tables = audit(folder, roles, policies)
    states = [row["state"] for row in tables["verdicts"]]
    (lost,) = (row["gcp"] for row in tables["utility"])
    return {
        "missed": states.count("missed"),
        "untested": states.count("untested"),
        "above": count_people(folder, roles[0], limit),
        "utility": (1 - lost) * len(roles[0]) / n_columns,
    }


def format_effect(change: Mapping[str, Any]) -> str:
    """Return the effect of a change on a line."""
    return f"{change['missed']}, {change['untested']}, {change['above']:,}, {change['utility']:.9f}"


def is_exact(announced: Mapping[str, Any], effect: Mapping[str, Any]) -> bool:
    """Return True if counts are equal, and utility to the digits of JSON."""
    counts = all(announced[name] == effect[name] for name in ("missed", "untested", "above"))
    return counts and abs(announced["utility"] - effect["utility"]) < 1e-12


NOTE = "Conditions missed, not tested, people above {limit:.0%}, utility."


def verify_suggestions(
    title: str,
    people: Mapping[str, Any],
    roles: tuple[list[str], str],
    k: int,
    policies: tuple[str, ...],
    limit: float = LIMIT,
) -> Section:
    """Protect, audit with a page, and do what it suggests; limit : that of the policies for the most exposed."""
    columns, sensitive = roles
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with (folder / "people.csv").open("w", newline="") as file:
            csv.writer(file).writerows([list(people), *zip(*people.values(), strict=True)])
        protect(folder, roles, "--k", str(k))
        tables = audit(folder, roles, policies, "--report", "page.html")
        present, *changes = tables["changes"]
        effects = [(present, measure_effect(folder, roles, policies, len(columns), limit))]
        for change in changes:
            names_and_secret = [name for name in columns if name != change["without"]], sensitive
            protect(
                folder, names_and_secret, "--k", str(change["k"]), *(("--l", str(change["l"])) if change["l"] else ())
            )
            effects.append((change, measure_effect(folder, names_and_secret, policies, len(columns), limit)))
        table = read_table(folder / "people.csv", quasi_identifiers=columns, sensitive=sensitive)
        repeated = [vars(change) for change in suggest(table, policies, k=tables["criteria"][-1]["k"])]
        page = (folder / "page.html").read_text()
    names = [change["name"] for change in changes]
    verdicts = [
        Verdict(f"{title}: {change['name']}", format_effect(change), format_effect(outcome), is_exact(change, outcome))
        for change, outcome in effects
    ]
    is_equal = [change["name"] for change in repeated] == names and all(map(is_exact, repeated, changes))
    verdicts += [
        Verdict(
            f"{title}: Python suggests the same",
            ", ".join(names),
            ", ".join(change["name"] for change in repeated),
            is_equal,
        ),
        Verdict(
            f"{title}: all stand on the page", "1 to 3", str(len(names)), names != [] and all(map(page.count, names))
        ),
    ]
    return Section(
        title,
        ("change", "announced", "found"),
        tuple((change["name"], format_effect(change), format_effect(outcome)) for change, outcome in effects),
        (NOTE.format(limit=limit),),
        tuple(verdicts),
    )


def verify_hospital() -> Section:
    """Test the people of the example, under policies of a hospital."""
    example = tomllib.loads((Path(__file__).parent.parent / "examples" / "hospital.toml").read_text())
    n = example["data"]["with"]["n"]
    people = datasets.synthetic_census(n, rng=np.random.default_rng(0))
    return verify_suggestions("Hospital", people, (["age", "sex", "zip"], "diagnosis"), 5, ("strict", "ema-0.09"))


def verify_adult() -> Section:
    """Test the training part of Adult."""
    with datasets.locate("adult/adult.data").open() as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row and "?" not in row]
    cells = dict(zip(datasets.ADULT_COLUMNS, zip(*rows, strict=True), strict=True))
    columns = {name: cells[name] for name in (*datasets.Q5, "occupation")}
    return verify_suggestions("Adult", columns, (list(datasets.Q5), "occupation"), 10, ("ema-0.09",))


def verify_census() -> Section:
    """Test a smaller census, under a rule of dominance."""
    people = datasets.synthetic_census(1500, rng=np.random.default_rng(7))
    return verify_suggestions(
        "Census", people, (["age", "sex", "zip"], "diagnosis"), 2, ("statistical-office",), limit=0.34
    )


def verify_customers() -> Section:
    """Test spending of people, with few towns that most live in: a column is better left out than generalized."""
    rng = np.random.default_rng(11)
    people = {
        "spent": np.round(rng.lognormal(4, 1, 1200)).astype(int).tolist(),
        "town": rng.choice([f"t{number}" for number in range(12)], 1200, p=np.arange(12, 0, -1) / 78).tolist(),
        "year": rng.integers(1940, 2005, 1200).tolist(),
        **{name: rng.integers(0, levels, 1200).tolist() for name, levels in (("a", 3), ("b", 2), ("c", 4))},
        "plan": rng.choice(["basic", "plus", "gold"], 1200, p=[0.8, 0.15, 0.05]).tolist(),
    }
    columns = [name for name in people if name != "plan"]
    return verify_suggestions("Customers", people, (columns, "plan"), 3, ("k >= 50", "l_distinct >= 2"))


def verify_rare() -> Section:
    """Test a plan of five people, the highest spenders: no k is enough for three plans in every class."""
    rng = np.random.default_rng(11)
    people = {
        "spent": np.round(rng.lognormal(4, 1, 1200)).astype(int).tolist(),
        "year": rng.integers(1940, 2005, 1200).tolist(),
    }
    gold = [spent > 700 and index % 2 for index, spent in enumerate(people["spent"])]
    plans = [
        "gold" if is_gold else "plus" if spent > 300 else "basic"
        for is_gold, spent in zip(gold, people["spent"], strict=True)
    ]
    return verify_suggestions("Rare", {**people, "plan": plans}, (["spent", "year"], "plan"), 3, ("l_distinct >= 3",))


PARTS = {
    "hospital": verify_hospital, "adult": verify_adult, "census": verify_census, "customers": verify_customers,
    "rare": verify_rare,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS))
