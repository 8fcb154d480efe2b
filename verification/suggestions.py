"""Suggestions of a page, carried out: every announced effect is exact.

`UNMASK_DATA=... python verification/suggestions.py [--part 1|2|3|4|5]`, all through the command line as a steward does.

1. The hospital of examples/hospital.toml: discharges, k = 5, under two policies.
2. Adult: 30,162 people with five quasi-identifiers and their occupation, k = 10.
3. A census of 1,500 people with a rule of dominance, and k = 2.
4. Sales to 1,200 customers, drawn with skew and ties, where a column is better left out.
5. The same with a plan that five people have: every class needs three values, and no k is enough.

For each change: conditions missed and not tested, people above the limit, utility. People above the limit are counted
from the cells of the release, without unmask: rows in classes of fewer than 1 / limit, which is 0.09 or what the policy
says of the worst-off.
"""

from __future__ import annotations

import argparse
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
from show import Section, Verdict, run

from unmask import read_table, suggest
from unmask.tables import datasets

LIMIT = 0.09
"""Probability above which a person is at risk of re-identification."""


def unmask(folder: Path, *words: str) -> str:
    """What a command prints; it may find a release not acceptable."""
    done = subprocess.run(
        [sys.executable, "-m", "unmask", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 3), done.stderr
    return done.stdout


def protected(folder: Path, roles: tuple[list[str], str], *asked: str) -> None:
    """release.csv and origin.csv of people.csv."""
    quasi_identifiers, sensitive = roles
    columns = ("-q", ",".join(quasi_identifiers), "-s", sensitive)
    unmask(folder, "protect", "people.csv", *columns, *asked, "-o", "release.csv", "--origin", "origin.csv", "--force")


def audited(folder: Path, roles: tuple[list[str], str], policies: tuple[str, ...], *more: str) -> dict[str, Any]:
    """The tables of the audit, with counts of people as they are."""
    quasi_identifiers, sensitive = roles
    columns = ("-q", ",".join(quasi_identifiers), "-s", sensitive, "--original", "people.csv", "--origin", "origin.csv")
    asked = [word for one in policies for word in ("--policy", one)]
    found = unmask(folder, "audit", "release.csv", *columns, *asked, "--smallest-shown", "1", "--json", *more)
    return json.loads(found)["tables"]


def enumerated(folder: Path, quasi_identifiers: list[str], limit: float) -> int:
    """People in classes so small that a guess among their rows is right with more than the limit."""
    with (folder / "release.csv").open(newline="") as file:
        classes = Counter(tuple(row[name] for name in quasi_identifiers) for row in csv.DictReader(file))
    return sum(size for size in classes.values() if 1 / size > limit)


def effect(
    folder: Path, roles: tuple[list[str], str], policies: tuple[str, ...], n_columns: int, limit: float
) -> dict[str, Any]:
    """What came out: conditions, people above the limit, and what is left of all columns that there were."""
    tables = audited(folder, roles, policies)
    states = [one["state"] for one in tables["verdicts"]]
    (lost,) = (one["gcp"] for one in tables["utility"])
    return {
        "missed": states.count("missed"),
        "untested": states.count("untested"),
        "above": enumerated(folder, roles[0], limit),
        "utility": (1 - lost) * len(roles[0]) / n_columns,
    }


def told(change: Mapping[str, Any]) -> str:
    """The effect of a change on a line."""
    return f"{change['missed']}, {change['untested']}, {change['above']:,}, {change['utility']:.9f}"


def same(announced: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Counts to the last person, utility to the digits that JSON has."""
    counts = all(announced[name] == found[name] for name in ("missed", "untested", "above"))
    return counts and abs(announced["utility"] - found["utility"]) < 1e-12


NOTE = "Conditions missed, not tested, people above {limit:.0%}, utility."


def done(
    title: str,
    people: Mapping[str, Any],
    roles: tuple[list[str], str],
    k: int,
    policies: tuple[str, ...],
    limit: float = LIMIT,
) -> Section:
    """Protect, audit with a page, and do what it suggests; limit : that of the policies for the worst-off."""
    columns, sensitive = roles
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with (folder / "people.csv").open("w", newline="") as file:
            csv.writer(file).writerows([list(people), *zip(*people.values(), strict=True)])
        protected(folder, roles, "--k", str(k))
        tables = audited(folder, roles, policies, "--report", "page.html")
        present, *changes = tables["changes"]
        made = [(present, effect(folder, roles, policies, len(columns), limit))]
        for change in changes:
            kept = [name for name in columns if name != change["without"]], sensitive
            protected(folder, kept, "--k", str(change["k"]), *(("--l", str(change["l"])) if change["l"] else ()))
            made.append((change, effect(folder, kept, policies, len(columns), limit)))
        table = read_table(folder / "people.csv", quasi_identifiers=columns, sensitive=sensitive)
        again = [vars(one) for one in suggest(table, policies, k=tables["criteria"][-1]["k"])]
        page = (folder / "page.html").read_text()
    names = [change["name"] for change in changes]
    verdicts = [Verdict(f"{title}: {one['name']}", told(one), told(found), same(one, found)) for one, found in made]
    alike = [one["name"] for one in again] == names and all(map(same, again, changes))
    verdicts += [
        Verdict(f"{title}: Python suggests the same", ", ".join(names), ", ".join(one["name"] for one in again), alike),
        Verdict(
            f"{title}: all stand on the page", "1 to 3", str(len(names)), names != [] and all(map(page.count, names))
        ),
    ]
    return Section(
        title,
        ("change", "announced", "found"),
        tuple((one["name"], told(one), told(found)) for one, found in made),
        (NOTE.format(limit=limit),),
        tuple(verdicts),
    )


def hospital() -> Section:
    """The people of the example, under what a hospital may be asked."""
    example = tomllib.loads((Path(__file__).parent.parent / "examples" / "hospital.toml").read_text())
    n = example["data"]["with"]["n"]
    people = datasets.synthetic_census(n, rng=np.random.default_rng(0))
    return done("Hospital", people, (["age", "sex", "zip"], "diagnosis"), 5, ("strict", "ema-0.09"))


def adult() -> Section:
    """The training part of Adult."""
    with datasets.locate("adult/adult.data").open() as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row and "?" not in row]
    named = dict(zip(datasets.ADULT_COLUMNS, zip(*rows, strict=True), strict=True))
    kept = {name: named[name] for name in (*datasets.Q5, "occupation")}
    return done("Adult", kept, (list(datasets.Q5), "occupation"), 10, ("ema-0.09",))


def census() -> Section:
    """A smaller census, under a rule of dominance."""
    people = datasets.synthetic_census(1500, rng=np.random.default_rng(7))
    return done("Census", people, (["age", "sex", "zip"], "diagnosis"), 2, ("statistical-office",), limit=0.34)


def customers() -> Section:
    """What people spend, with few towns that most live in: a column is better left out than generalized."""
    rng = np.random.default_rng(11)
    people = {
        "spent": np.round(rng.lognormal(4, 1, 1200)).astype(int).tolist(),
        "town": rng.choice([f"t{at}" for at in range(12)], 1200, p=np.arange(12, 0, -1) / 78).tolist(),
        "year": rng.integers(1940, 2005, 1200).tolist(),
        **{name: rng.integers(0, levels, 1200).tolist() for name, levels in (("a", 3), ("b", 2), ("c", 4))},
        "plan": rng.choice(["basic", "plus", "gold"], 1200, p=[0.8, 0.15, 0.05]).tolist(),
    }
    columns = [name for name in people if name != "plan"]
    return done("Customers", people, (columns, "plan"), 3, ("k >= 50", "l_distinct >= 2"))


def rare() -> Section:
    """A plan that five people have, the highest spenders: no k is enough for three plans in every class."""
    rng = np.random.default_rng(11)
    people = {
        "spent": np.round(rng.lognormal(4, 1, 1200)).astype(int).tolist(),
        "year": rng.integers(1940, 2005, 1200).tolist(),
    }
    gold = [spent > 700 and at % 2 for at, spent in enumerate(people["spent"])]
    plans = [
        "gold" if one else "plus" if spent > 300 else "basic" for one, spent in zip(gold, people["spent"], strict=True)
    ]
    return done("Rare", {**people, "plan": plans}, (["spent", "year"], "plan"), 3, ("l_distinct >= 3",))


PARTS = (hospital, adult, census, customers, rare)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", type=int, choices=range(1, len(PARTS) + 1), help="Only this part.")
    part = parser.parse_args().part
    sys.exit(run(PARTS if part is None else PARTS[part - 1 : part]))
