"""The files that commands of the documentation read, by name, made when a command asks for one."""

from __future__ import annotations

import re
import shutil
import sys
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

import unmask
from unmask import aggregates
from unmask.cli import main
from unmask.protecting import Protected
from unmask.tables.datasets import synthetic_census

OUTPUTS = (
    "-o",
    "--output",
    "--report",
    "--export",
    "--sarif",
    "--checkpoint",
    "--curve",
    "--at-risk",
    "--leave-out",
    ">",
)
"""Options whose file is written; --origin is one of them in `protect`."""

ROLES = """
[columns]
age = "quasi-identifier"
sex = "quasi-identifier"
zip = "quasi-identifier"
diagnosis = "sensitive"
[[protections]]
use = "tables.Mondrian"
with = { k = 3 }
[[adversaries]]
name = "neighbor"
use = "tables.ClassAttack"
"""

PUBLISHED = """
[publisher]
benefit = 400_000
loss = 500
[[attackers]]
name = "broker"
gain = 50
exploit_cost = 2
access_cost = 100
fine = 1000
max_fines = 1
detection = 0.02
"""

DOCUMENT = f"""
[data]
file = "people.csv"
{ROLES}
[[policy]]
require = "k >= 2"
[[releases]]
file = "release.csv"
origin = "origin.csv"
"""

STUDY = f"""
measures = ["success_probability", "realized_success", "information_gain_bits", "utility",
            "realized_rational_success", "singled_out_of_as_many", "parts_linked"]
[[data]]
name = "half aside"
file = "people.csv"
hold_back = 0.5
[[data]]
name = "aside"
file = "people.csv"
hold_back = 0.4
{ROLES}
attacker = "case-study"
[[adversaries]]
name = "employer"
use = "tables.AttributeInference"
with = {{ sensitive = "diagnosis" }}
[[adversaries]]
use = "tables.SinglingOut"
[[adversaries]]
use = "tables.Linkability"
with = {{ parts = [["age", "sex"], ["zip", "diagnosis"]] }}
"""
"""Has all measures that choices of the documentation are about."""


def run(*words: str, stdin: object = None) -> tuple[int, str, str]:
    """The exit code, the standard output and the standard error of a command whose standard input is closed."""
    output, err, before = StringIO(), StringIO(), sys.stdin
    sys.stdin = stdin  # None is what Python makes of one that is closed
    try:
        with redirect_stdout(output), redirect_stderr(err):
            main(list(words), prog_name="unmask")
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        sys.stdin = before
    return code, output.getvalue(), err.getvalue()


def outputs_of(words: Sequence[str]) -> set[str]:
    """The files that a command writes."""
    written = {*OUTPUTS, *(("--origin",) if words[:1] == ["protect"] else ())}
    return {word for first, word in pairwise(words) if first in written}


class Room:
    """The current folder, in which commands find the files that they name.

    written : files that they write themselves
    """

    def __init__(self, page: str, texts: Mapping[str, str], study: Path, written: Collection[str] = ()) -> None:
        self.page, self.texts, self.study, self.written = page, texts, study, written

    def supply(self, words: Sequence[str]) -> None:
        """Make the files that a command reads and that are missing."""
        kind = next((KINDS[word] for word in words if word in KINDS), TABLE)
        names = {part for word in words for part in (word, word.rpartition("=")[2])} - outputs_of(words)
        for name in sorted(names, key=lambda name: not name.endswith(".toml")):
            path = Path(name.replace("*", "part"))
            if path.exists() or name in self.written:
                continue
            if name == "run":
                shutil.copytree(self.study, path)
            elif name.endswith(".toml"):
                path.write_text(self.texts.get(name, DOCUMENT), encoding="utf-8")
                file_names = re.findall(r'"([\w-]+\.(?:csv|toml|txt))"', path.read_text(encoding="utf-8"))
                self.supply([*words[:2], *file_names])
            elif make := OTHERS.get((self.page, name)) or ChainMap(kind, *ALL).get(name):
                path.parent.mkdir(exist_ok=True)
                make(path)


# --- tables -----------------------------------------------------------------------------------------------------------


def frame(columns: Mapping[str, Sequence[object]], path: Path) -> None:
    """Write columns; a text file of links has no header."""
    rows, edges = pd.DataFrame(columns), ".txt" in path.name
    if path.suffix == ".parquet":
        rows.to_parquet(path)
    else:
        rows.to_csv(path, index=False, sep="\t" if edges else ",", header=not edges)


def people(n: int = 100, seed: int = 0) -> pd.DataFrame:
    """Invented people."""
    rows = pd.DataFrame(synthetic_census(n, rng=np.random.default_rng(seed)))[["age", "sex", "zip", "diagnosis"]]
    return rows.assign(income=1000 + np.arange(n) * 37 % 900)


def census(seed: int = 0, **columns: Callable[[int], object]) -> Callable[[Path], None]:
    """A file of people with further columns, each made from the number of rows."""

    def make(path: Path) -> None:
        rows = people(seed=seed)
        frame(rows.assign(**{name: column(len(rows)) for name, column in columns.items()}), path)

    return make


@cache
def protect_people(k: int) -> Protected:
    """Return a release of the people, the same for all commands."""
    table = unmask.read_table(people(), quasi_identifiers=["age", "sex", "zip"], sensitive="diagnosis", keep="income")
    return unmask.protect(table, k=k)


def released(k: int = 10, *, origin: bool = False) -> Callable[[Path], None]:
    """The release of the people, or the origin of its rows."""

    def make(path: Path) -> None:
        protected = protect_people(k)
        if origin:
            frame({"row": protected.origin}, path)
        else:
            protected.release.write(path)

    return make


def sample(path: Path) -> None:
    """A survey with weights."""
    rng, rows = np.random.default_rng(0), people()
    weight, region, home = rng.integers(5, 50, len(rows)), rng.choice(["n", "s"], len(rows)), np.arange(len(rows)) // 3
    frame(rows.assign(weight=weight, region=region, home=home), path)


def certified(path: Path) -> None:
    """Write the certificate of the document next to it."""
    code, _, message = run("certify", "unmask.toml", "-o", str(path))
    assert code == 0, message


def trips(path: Path) -> None:
    """Four trips each of thirty people, under a number that the release keeps."""
    rng, user = np.random.default_rng(0), np.repeat(np.arange(30), 4)
    frame({"user": user, "code": user + 100, "place": rng.integers(0, 9, 120), "hour": rng.integers(0, 24, 120)}, path)


COUNTED = {"sex": ("f", "m"), "age": ("young", "old"), "ill": ("no", "yes")}
"""Categories of the records of published tables."""


def draw_counted() -> dict[str, np.ndarray]:
    """Records of 20 blocks of 9 people."""
    rng = np.random.default_rng(0)
    drawn = {name: rng.choice(np.array(labels), 180) for name, labels in COUNTED.items()}
    return drawn | {"block": np.repeat([f"b{number:02}" for number in range(20)], 9)}


def published(path: Path) -> None:
    """A folder of published tables."""
    records, areas = draw_counted(), tuple(f"b{number:02}" for number in range(20))
    domain = aggregates.Domain(COUNTED)
    tables = [
        aggregates.tabulate(records, columns, aggregates.Rule(threshold=2), domain, geography="block", areas=areas)
        for columns in (["sex", "age"], ["age", "ill"], ["sex", "ill"])
    ]
    aggregates.write_release(aggregates.AggregateRelease(domain, tuple(tables), "block", areas), path)


def firms(path: Path) -> None:
    """Enterprises with a turnover."""
    rng = np.random.default_rng(0)
    columns = {"branch": rng.choice(["mining", "trade", "food"], 90), "region": rng.choice(["east", "west"], 90)}
    frame({**columns, "firm": rng.integers(0, 50, 90), "turnover": rng.lognormal(5, 1, 90).round(1)}, path)


def grades(path: Path) -> None:
    """Dates with the day first, grades, commas as decimal marks."""
    rows = [
        f"{1 + n % 28:02}.03.19{60 + n % 30};{('low', 'mid', 'high')[n % 3]};{1000 + n % 5},5;flu{n % 2}"
        for n in range(100)
    ]
    path.write_text("\n".join(["birth;grade;zip;diagnosis", *rows]) + "\n", encoding="cp1252")


# --- logs of systems -------------------------------------------------------------------------------------------------


def log(head: str, line: Callable[[int], tuple[object, ...]], n: int = 120) -> Callable[[Path], None]:
    """Return what writes a log of lines by their number."""
    return text("\n".join([head, *(",".join(map(str, line(i))) for i in range(n))]) + "\n")


# --- clusters, channels, networks -------------------------------------------------------------------------------------


def clusters(*items: str, **names: float) -> Callable[[Path], None]:
    """Items, and the number of the cluster that each is in, by its size; a share is the same for all items."""

    def make(path: Path) -> None:
        columns = {name: np.arange(60) // size if size > 1 else np.full(60, size) for name, size in names.items()}
        frame({**{key: [f"r{index}" for index in range(60)] for key in items or ("item",)}, **columns}, path)

    return make


def text(content: str) -> Callable[[Path], None]:
    """A file of this content."""
    return lambda path: path.write_text(content, encoding="utf-8") and None


N = 80
"""People of a network."""


def links(*columns: str, first: int = 0, share: float = 1) -> Callable[[Path], None]:
    """The links of a network, or a share of them; its people are numbered from the first."""

    def make(path: Path) -> None:
        far = np.random.default_rng(0).integers(0, N, (N, 2))
        near = [(index, (index + step) % N) for index in range(N) for step in range(1, 6)]
        pairs = np.array([pair for pair in (*near, *far.tolist()) if pair[0] != pair[1]])
        pairs = pairs[np.random.default_rng(1).random(len(pairs)) < share]
        times = {name: np.zeros(len(pairs), int) for name in columns[:-2]}
        frame({**times, columns[-2]: first + pairs[:, 0], columns[-1]: first + pairs[:, 1]}, path)

    return make


def write_constant(*columns: str, n: int = N) -> Callable[[Path], None]:
    """A number of people, who have one id in both networks; a third column says how alike they look."""
    return lambda path: frame(dict.fromkeys(columns, np.arange(n)), path)


def scored_links(path: Path) -> None:
    """Links of the items of `clusters`, with scores."""
    items = [f"r{n}" for n in range(60)]
    frame({"item_l": items[:-1], "item_r": items[1:], "score": [0.5 + 0.008 * n for n in range(59)]}, path)


def own_weights(path: Path) -> None:
    """The weight that a subject gives to an item of `clusters`."""
    frame({"subject": [0], "item": ["r0"], "weight": [0.5]}, path)


NETWORK = links("source", "target", first=4650)
TABLE = {
    "data.csv": census(), "people.csv": census(), "others.csv": census(1), "synthetic.csv": census(2),
    "register.csv": census(), "voters.csv": census(), "stays.csv": census(patient=lambda n: np.arange(n) // 2),
    "release.csv": released(), "origin.csv": released(origin=True), "sample.csv": sample, "firms.csv": firms,
    "k3.csv": released(3), "k10.csv": released(10), "origin3.csv": released(3, origin=True),
    "origin10.csv": released(10, origin=True), "for-doctors.csv": released(3), "for-planners.csv": released(10),
    "doctors-origin.csv": released(3, origin=True), "planners-origin.csv": released(10, origin=True),
    "parts/*.parquet": census(), "people/*.parquet": census(),
}  # fmt: skip
"""Cases of a table."""

LINKED = {
    "truth.csv": clusters("item", "record", subject=6, person=6, sensitivity=0.5, a=0.4, b=0.6),
    "guess.csv": clusters(cluster=3), "truth/*.parquet": clusters(subject=4),
    "guess/*.parquet": clusters(cluster=3), "links.csv": scored_links, "weights.csv": own_weights,
}  # fmt: skip

PUBLISHED_TABLES = {"published": published, "records.csv": lambda path: frame(draw_counted(), path)}
"""Of published tables."""

DESIGNED = {
    "prior.csv": text("secret,probability\n0,0.4\n1,0.3\n2,0.3\n"),
    "mechanism.csv": text(",0,1,2\n0,0.8,0.1,0.1\n1,0.1,0.8,0.1\n2,0.1,0.1,0.8\n"),
    "laplace.csv": text(",0,1,2\n0,0.8,0.1,0.1\n1,0.1,0.8,0.1\n2,0.1,0.1,0.8\n"),
    "joint.csv": text(",0,1,2\n0,0.3,0.05,0.05\n1,0.05,0.2,0.05\n2,0.05,0.05,0.2\n"),
    "counts.csv": text(",0,1,2\n0,81,10,10\n1,10,80,10\n2,10,10,80\n"),
    "samples.csv": text("secret,output\n" + "a,x\na,y\nb,y\nb,y\n" * 20),
    "coin.csv": text(",0,1,2\n0,0.6,0.2,0.2\n1,0.2,0.6,0.2\n2,0.2,0.2,0.6\n"),
    "gain.csv": text(",0,1,2\n0,1,-1,0\n1,0,1,-1\n2,-1,0,1\n"),
    "places.csv": text("place,x,y\n0,0,0\n1,100,0\n2,0,300\n"),
    "map.csv": text("place,x,y\na,0,0\nb,100,0\nc,0,300\n"),
    "traces.csv": log("user,time,place,shown", lambda i: (i // 6, i, "abc"[i % 3], "abc"[i // 2 % 3])),
    "places-only.csv": log("user,time,place", lambda i: (i // 6, i, "abc"[i % 3])),
    "check-ins.csv": log("user,time,lat,lon", lambda i: (i // 6, i, 48 + i % 5 / 100, 2 + i % 7 / 100)),
    "rounds.csv": log("round,sender,receiver", lambda i: (i // 4, i % 7, i % 7 % 5)),
    "messages.csv": log("sender,receiver,entered,left", lambda i: (i % 7, i % 5, i, i + 1 + i * 7 % 10)),
}
"""Of a channel."""

NETWORKS = {
    "network.csv": NETWORK, "network.txt.gz": NETWORK, "release.csv": links("source", "target", share=0.9),
    "known.csv": links("source", "target"), "truth.csv": write_constant("auxiliary", "release"),
    "found.csv": write_constant("auxiliary", "release", n=30),
    "alike.csv": write_constant("auxiliary", "release", "weight"),
    "calls.csv": links("day", "caller", "callee"), "events.txt": links("time", "u", "v"),
    "release.parquet": links("source", "target", share=0.9), "release/*.parquet": links("source", "target", share=0.9),
    "origin.csv": write_constant("auxiliary", "release"),
    "check-ins.csv": log("user,time,place", lambda i: (i % N, 100 * (i // N) + i % 7, i * i % 11 + i % N // 8), 20 * N),
}  # fmt: skip
"""Of a network."""


OTHERS = {
    ("linkage", "a.csv"): clusters("item", "record", group=3),
    ("linkage", "b.csv"): clusters("item", "record", group=5),
    ("linkage", "wide.parquet"): clusters(true=4, pred_a=3, pred_b=5),
    ("document", "people.csv"): census(id=np.arange),
    ("suppression", "people.csv"): census(age=lambda n: np.arange(n) % 9),
    ("arx", "zip.csv"): text("".join(f"{code};{code[:-1]};*\n" for code in sorted(set(people().zip)))),
    ("certificate", "certificate.json"): certified,
    ("document", "truth.csv"): clusters(subject=6),
    ("document", "a.csv"): clusters(cluster=3),
    ("document", "b.csv"): clusters(cluster=5),
}
"""Of one page alone."""

TRIPS = {"trips.csv": trips, "release.csv": trips, "origin.csv": write_constant("row", n=120)}
"""Of a person many rows."""

GRADES = {"release.csv": grades}
"""As a spreadsheet of another language writes it."""

KINDS = {"linkage": LINKED, "channel": DESIGNED, "design": DESIGNED, "graph": NETWORKS, "identity": NETWORKS,
         "aggregates": PUBLISHED_TABLES,
         "place,hour": TRIPS, "birth,grade,zip": GRADES}  # fmt: skip
"""A word of a command -> the files that it can name; those of a table else."""

ALL = [TABLE, LINKED, DESIGNED, NETWORKS]
"""What documents of several audits name."""
