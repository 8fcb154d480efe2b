"""Results of 42 runs over all domains, compared digit for digit: `UNMASK_DATA=... python verification/golden.py`.

Each run is a command with `--json` on real or generated data. `--freeze` writes the results to `golden.jsonl`, one line
a number. Without it, every difference to that file is printed: what disappeared, what is new, and what changed. Exits
with 1 if a run differs. `--only NAME` runs one, repeatable.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from click.testing import CliRunner
from show import CLOSING

from unmask import aggregates
from unmask.aggregates import AggregateRelease, Domain, Rule, tabulate
from unmask.cli import main as unmask

FROZEN = Path(__file__).with_name("golden.jsonl")
ADULT = "-q age,education,marital-status,race,sex,workclass -s occupation,salary-class"
CENSUS = "-q age,sex,zip -s diagnosis"
KNOWN = "--original census.csv --origin origin.csv"
OVERLAP = (
    "audit graph {data}/graphs/facebook_combined.txt.gz --overlap 0.8,0.8 --seeds random:200 --runs 1 --seed 3 --attack"
)
COMMUNITY = (
    "audit graph {data}/graphs/email-Eu-core.txt.gz --overlap 0.8,0.8 --seeds random:100 --runs 1 --seed 5 --attack"
)
RUNS: Mapping[str, str] = {
    "table": f"audit k5.csv {CENSUS}",
    "table with its original": f"audit k5.csv {CENSUS} {KNOWN} --steps",
    "table of Adult": f"audit adult.csv {ADULT}",
    "table with a register": f"audit k5.csv {CENSUS} --register register.csv --coverage 0.6",
    "table with control people": f"audit k5.csv {CENSUS} {KNOWN} --control control.csv",
    "table with an attacker": f"audit k5.csv {CENSUS} {KNOWN} --attacker case-study",
    "table with a mechanism": f"audit k5.csv {CENSUS} {KNOWN} --protection tables.Mondrian:k=5 --targets 40",
    "table in two parts": f"audit k5.csv {CENSUS} {KNOWN} --parts age,sex:zip,diagnosis",
    "table of people with several rows": "audit visits.csv -q age,sex,zip -s diagnosis --person patient",
    "table with missing cells": f"audit missing.csv {CENSUS}",
    "table with missing cells as any value": f"audit missing.csv {CENSUS} --missing wildcard",
    "table without rows of missing cells": f"audit missing.csv {CENSUS} --missing excluded",
    "table with weights": f"audit weighted.csv {CENSUS} --weight weight --measure k_pairs --measure k_triples",
    "tables released together": f"audit k5.csv k10.csv {CENSUS} {KNOWN} --origin origin10.csv --together",
    "table in DuckDB": f"audit census.csv {CENSUS} --engine duckdb",
    "policy": f"audit k10.csv {CENSUS} --policy statistical-office",
    "published release": "audit published.csv.gz -q age,education,occupation,relationship,sex -s salary-class",
    "synthetic table": "audit synthetic.csv -q age,education,sex,race -s occupation --original original.csv "
    "--control adult_control.csv --synthetic --targets 200",
    "survey": "audit survey.csv.gz -q urbrur,roof,walls,relat,sex,age -s income --weight sampling_weight",
    "perturbed table": f"audit noisy.csv {CENSUS} --original census.csv --origin origin_noisy.csv",
    "columns": "columns census.csv",
    "columns of a survey": "columns {data}/tables/sdcmicro/free1.csv.gz",
    "choice of columns": f"choose columns census.csv {CENSUS}",
    "Nar09": f"{OVERLAP} Nar09",
    "Rematch": f"{OVERLAP} Rematch",
    "Climb": f"{COMMUNITY} Climb",
    "Grasshopper and Bumblebee": f"{COMMUNITY} Grasshopper,Bumblebee",
    "Ensemble": f"{COMMUNITY} Ensemble",
    "Refinement and degrees": f"{COMMUNITY} Refinement,DegreeMatching",
    "protected network": f"{COMMUNITY} Rematch --with KDegree:k=5 --with SwitchEdges:share=0.2",
    "identity separation": f"{OVERLAP} Nar09 --with IdentitySeparation:identities=3:adopters=0.1",
    "linkage": "audit linkage --truth records.csv --subject fname_c1 --guess records.csv --cluster lname_c1 --beta 0.8",
    "linkage of items": "audit linkage --truth items.csv --guess guess.csv --beta 0.5 --alpha 0.7 --min-size 3",
    "channel": "audit channel channel.csv",
    "channel with a loss": "audit channel channel.csv --prior prior.csv --loss hamming",
    "channel over places": "audit channel places.csv --coordinates coordinates.csv --loss euclidean --unit m",
    "design of a mechanism": "design --prior prior.csv --budget 0.2 -o mechanism.csv",
    "design for a location": "design --prior prior.csv --loss hamming --budget 0.6 --epsilon 1 -o private.csv",
    "published tables": "audit aggregates suppressed --original people.csv",
    "published tables without their original": "audit aggregates suppressed --sensitive diagnosis --knows sex",
    "price": "price 1-60 --attacker case-study",
    "game": "game game.toml",
}
"""Name of a run -> its command."""


def write_inputs(folder: Path, data: Path) -> None:
    """Write the files that the commands read."""
    rng = np.random.default_rng(20)
    census = make_census(rng, 600)
    census.to_csv(folder / "census.csv", index=False)
    make_census(rng, 300).to_csv(folder / "control.csv", index=False)
    census.iloc[rng.permutation(600)[:400], :3].assign(name=range(400)).to_csv(folder / "register.csv", index=False)
    census.assign(weight=rng.integers(1, 50, 600)).to_csv(folder / "weighted.csv", index=False)
    holes = census.astype(object)
    holes[rng.random(holes.shape) < 0.05] = None
    holes.to_csv(folder / "missing.csv", index=False)
    visits = census.iloc[rng.integers(0, 200, 600)].reset_index(names="patient")
    visits.to_csv(folder / "visits.csv", index=False)
    for k, origin in ((5, "origin.csv"), (10, "origin10.csv")):
        write_release(census, k, folder / f"k{k}.csv", folder / origin, rng)
    for name, path in (("published", "adult/releases/adult_k10"), ("survey", "sdcmicro/testdata")):
        (folder / f"{name}.csv.gz").symlink_to(data / f"tables/{path}.csv.gz")
    order = rng.permutation(600)
    noisy = census.assign(age=census.age + rng.integers(-3, 4, 600)).iloc[order]
    noisy.to_csv(folder / "noisy.csv", index=False)
    pd.Series(order, name="row").to_csv(folder / "origin_noisy.csv", index=False)
    columns = ["age", "education", "marital-status", "race", "sex", "workclass", "occupation", "salary-class"]
    adult = pd.read_csv(data / "tables/adult/adult_complete_rows.csv.gz", sep=None, engine="python")
    adult[columns].head(8000).to_csv(folder / "adult.csv", index=False)
    adult[["age", "education", "sex", "race", "occupation"]].head(3000).to_csv(folder / "original.csv", index=False)
    adult[["age", "education", "sex", "race", "occupation"]].tail(1000).to_csv(
        folder / "adult_control.csv", index=False
    )
    drawn = adult[["age", "education", "sex", "race", "occupation"]].head(3000)
    pd.DataFrame({name: rng.permutation(drawn[name]) for name in drawn}).to_csv(folder / "synthetic.csv", index=False)
    write_channels(folder, rng)
    pd.read_csv(data / "partitions/RLdata500.csv.gz").reset_index(names="item").to_csv(
        folder / "records.csv", index=False
    )
    write_items(folder, rng)
    write_tables(census, folder)
    (folder / "game.toml").write_text(GAME)


def make_census(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """Return people with an age, a sex, a zip code and a diagnosis that depends on the age."""
    age = rng.integers(18, 90, rows)
    likely = np.where(age > 60, 0.6, 0.2)
    diagnosis = np.where(rng.random(rows) < likely, "heart", rng.choice(["flu", "cold", "asthma"], rows))
    columns = {"age": age, "sex": rng.choice(["f", "m"], rows), "zip": 8000 + rng.integers(0, 12, rows)}
    return pd.DataFrame(columns | {"diagnosis": diagnosis})


def write_release(census: pd.DataFrame, k: int, path: Path, origin: Path, rng: np.random.Generator) -> None:
    """Write a release in groups of k people next to each other in age, with intervals and sets, and its origin."""
    order = np.lexsort((census["zip"], census.sex, census.age))
    group = np.minimum(np.arange(len(census)) // k, len(census) // k - 1)
    rows = census.iloc[order].assign(group=group)
    sets = rows.groupby("group").agg(
        age=("age", lambda ages: f"{min(ages)}-{max(ages)}"),
        sex=("sex", lambda sexes: "{" + ", ".join(sorted(set(sexes))) + "}" if sexes.nunique() > 1 else sexes.iloc[0]),
        zip=("zip", lambda codes: f"{min(codes)}-{max(codes)}"),
    )
    release = sets.loc[group].reset_index(drop=True).assign(diagnosis=rows.diagnosis.to_numpy())
    shuffled = rng.permutation(len(census))
    release.iloc[shuffled].to_csv(path, index=False)
    pd.Series(order[shuffled], name="row").to_csv(origin, index=False)


def write_channels(folder: Path, rng: np.random.Generator) -> None:
    """Write two channels, a prior and coordinates."""
    names = [f"place{number}" for number in range(6)]
    for file, channel in (("channel.csv", rng.dirichlet(np.ones(5), 6)), ("places.csv", rng.dirichlet(np.ones(6), 6))):
        outputs = names if channel.shape[1] == 6 else [f"output{number}" for number in range(5)]
        pd.DataFrame(channel, index=pd.Index(names, name="secret"), columns=outputs).to_csv(folder / file)
    pd.DataFrame({"secret": names, "probability": rng.dirichlet(np.ones(6))}).to_csv(folder / "prior.csv", index=False)
    places = pd.DataFrame(rng.integers(0, 1000, (6, 2)), columns=["x", "y"], index=pd.Index(names, name="secret"))
    places.to_csv(folder / "coordinates.csv")


def write_items(folder: Path, rng: np.random.Generator) -> None:
    """Write items of subjects and the clusters of an adversary who errs on a fifth."""
    subject = rng.integers(0, 60, 400)
    cluster = np.where(rng.random(400) < 0.2, rng.integers(0, 60, 400), subject)
    items = [f"item{number}" for number in range(400)]
    pd.DataFrame({"item": items, "subject": [f"s{number}" for number in subject]}).to_csv(
        folder / "items.csv", index=False
    )
    pd.DataFrame({"item": items, "cluster": [f"c{number}" for number in cluster]}).to_csv(
        folder / "guess.csv", index=False
    )


def write_tables(census: pd.DataFrame, folder: Path) -> None:
    """Write tables of counts by zip code, with counts of 1 and 2 suppressed, and the records behind them."""
    people = census.assign(age=np.where(census.age < 40, "young", np.where(census.age < 65, "middle", "old")))
    people = people.astype(str)
    people.to_csv(folder / "people.csv", index=False)
    records = {name: people[name].to_numpy() for name in people}
    domain = Domain({name: sorted(people[name].unique()) for name in ("sex", "age", "diagnosis")})
    areas = sorted(people.zip.unique())
    tables = [
        tabulate(records, columns, Rule(threshold=3), domain, geography="zip", areas=areas)
        for columns in (["sex", "age"], ["age", "diagnosis"], ["sex", "diagnosis"])
    ]
    aggregates.write_release(AggregateRelease(domain, tuple(tables), "zip", tuple(areas)), folder / "suppressed")


GAME = """
[data]
file = "census.csv"

[columns]
age = "quasi-identifier"
sex = "quasi-identifier"
zip = "quasi-identifier"
diagnosis = "sensitive"

[[protections]]
use = "tables.Mondrian"
grid = { k = [3, 10, 30] }

[[adversaries]]
name = "neighbor"
use = "tables.ClassAttack"

[publisher]
benefit = 100000
loss = 300

[[attackers]]
name = "broker"
number = 2
gain = 300
exploit_cost = 4
access_cost = 20
max_fines = 1
fine = 1000
detection = 0.02
"""


FIELDS = ("prior", "posterior", "low", "high", "n", "worst", "quantiles", "status", "control", "excess", "linked_to")
"""Fields of a result that are frozen."""
TABLES = ("criteria", "utility", "promises", "column_risk", "contributions", "values", "curve", "moves", "game")
"""Tables that are frozen row by row."""
TEXTS = ("inputs", "not_run", "warnings")
"""Lists of texts, which are not frozen."""


def collect(command: str, data: Path) -> dict[str, Any]:
    """Return the exit code and the numbers of a command's results and tables, each row under a name."""
    outcome = CliRunner().invoke(unmask, [*command.format(data=data).split(), "--json"])
    try:
        printed = json.loads(outcome.stdout)
    except json.JSONDecodeError:
        return {"exit code": outcome.exit_code, "message": outcome.output[-300:]}
    values: dict[str, Any] = {"exit code": outcome.exit_code}
    for place, row in enumerate(printed.pop("results", [])):
        values[label(row) or f"result {place}"] = [row.get(field) for field in FIELDS] if "measure" in row else row
    tables = printed.pop("tables", {})
    for name, table in (printed | tables).items():
        if name in TABLES or (name not in tables and name not in TEXTS and isinstance(table, list)):
            values |= {f"{name} {place}": row for place, row in enumerate(table)}
    return values


def label(row: Mapping[str, Any]) -> str:
    """Return the texts that identify a result."""
    return " | ".join(
        str(row[key]) for key in ("release", "adversary", "target", "measure", "linked_to") if row.get(key)
    )


def compare(frozen: Mapping[str, Any], current: Mapping[str, Any]) -> list[str]:
    """Return a line for each difference."""
    lines = [f"- {path}: {frozen[path]}" for path in frozen if path not in current]
    lines += [f"+ {path}: {current[path]}" for path in current if path not in frozen]
    changed = (path for path in frozen if path in current and current[path] != frozen[path])
    return lines + [f"  {path}: {frozen[path]} -> {current[path]}" for path in changed]


def main() -> int:
    """Run the commands, and freeze or compare their results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--freeze", action="store_true", help="write the results to golden.jsonl")
    parser.add_argument("--only", action="append", choices=list(RUNS), help="run this one; repeatable")
    options = parser.parse_args()
    data = Path(os.environ["UNMASK_DATA"]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_inputs(Path(folder), data)
        results = {}
        for name in options.only or RUNS:
            results[name] = collect(RUNS[name], data)
            print(f"{name}: exit code {results[name]['exit code']}, {len(results[name]):,} values", flush=True)
    if options.freeze:
        lines = (json.dumps([name, path, value]) for name, values in results.items() for path, value in values.items())
        FROZEN.write_text("\n".join(lines) + "\n")
        return 0
    frozen: dict[str, dict[str, Any]] = {}
    for line in FROZEN.read_text().splitlines():
        name, path, value = json.loads(line)
        frozen.setdefault(name, {})[path] = value
    differing = 0
    for name, values in results.items():
        lines = compare(frozen.get(name, {}), values)
        differing += bool(lines)
        print(*([f"\n== {name}", *lines] if lines else []), sep="\n")
    print("\n" + CLOSING.format(len(results) - differing, 0, differing))
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
