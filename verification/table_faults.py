"""Wrong answers of other tools about tables as a conformance table: theirs, ours computed now, and the truth."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from show import Section, Verdict

from unmask.core.errors import UnmaskError
from unmask.tables import criteria, datasets, utility
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.protections.mondrian import Mondrian
from unmask.tables.risk import population
from unmask.tables.table import Table


@dataclass(frozen=True)
class Fault:
    """A wrong answer of a tool, recorded when it was measured.

    ours    : computes this package's answer as text
    truth   : the right answer, from the definition
    program : lines of Python that measure the tool again, see `PREAMBLES`
    """

    tool: str
    case: str
    recorded: str
    ours: Callable[[], str]
    truth: str
    program: str = ""


PREAMBLES = {
    "pycanon": """
import pandas as pd
from pycanon import anonymity as a, metrics as m
def frame(counts):
    rows = [(str(z), s) for z, c in enumerate(counts) for s, n in zip("abcdefghij", c) for _ in range(n)]
    return pd.DataFrame(rows, columns=["z", "s"])
""",
    "anonypy": """
import random
import pandas as pd
from anonypy import Preserver
r = random.Random(1)
""",
}
"""First lines of a program in the environment of a tool."""


def verify_faults(peers: Path | None = None) -> Section:
    """Compare every answer with the truth. A peer that has become right is listed, and fails nothing."""
    rows, verdicts = [], []
    for fault in FAULTS:
        answer, live = fault.ours(), _measure_peer(fault, peers)
        theirs = f"{fault.recorded} (recorded)" if live is None else f"{live} (live)"
        word = ("right" if answer == fault.truth else "WRONG") + ("; peer right now" if live == fault.truth else "")
        rows.append((fault.tool, fault.case, theirs, answer, fault.truth, word))
        if answer != fault.truth:
            verdicts.append(Verdict(f"{fault.tool}: {fault.case}", fault.truth, answer, holds=False))
    n_right = len(FAULTS) - len(verdicts)
    ours = f"{n_right} of {len(FAULTS)}"
    return Section(
        "Wrong answers of other tools",
        ("tool", "case", "theirs", "ours", "truth", "verdict"),
        rows,
        ("recorded: run once, versions as listed in README.md; live: measured in this run (--peers).",),
        (Verdict("our answers are right", f"{len(FAULTS)} faults", ours, not verdicts), *verdicts),
    )


def _measure_peer(fault: Fault, peers: Path | None) -> str | None:
    """Return the last line that the installed peer prints, or the name of its error; None if it is not installed."""
    python = None if peers is None else peers / fault.tool / "bin" / "python"
    if python is None or not fault.program or not python.exists():
        return None
    command = [str(python), "-W", "ignore", "-c", PREAMBLES[fault.tool] + fault.program]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (process.stdout if process.returncode == 0 else process.stderr).strip().splitlines() or ["nothing"]
    return lines[-1] if process.returncode == 0 else lines[-1].split(":")[0].split(".")[-1]


# --- our answers ----------------------------------------------------------------------------------------------------


def _table(columns: dict[str, Sequence[object]], *, sensitive: Sequence[str] = (), **settings: object) -> Table:
    names = [name for name in columns if name not in sensitive]
    return Table.read(columns, quasi_identifiers=names, sensitive=sensitive, **settings)  # type: ignore[arg-type]


def _protect(people: Table, protection: Mondrian) -> tuple[Table, np.ndarray]:
    return protection(people, rng=np.random.default_rng(1))


def _text(numbers: Iterable[float], digits: int = 0) -> str:
    return " ".join(f"{number:.{digits}f}" for number in numbers)


def _entropy() -> str:
    return _text((criteria.l_entropy(np.ones((1, m), dtype=np.int64))[0] for m in (2, 3, 5, 6, 7, 10)), 2)


def _missing() -> str:
    return str(criteria.evaluate(_table({"age": ["30"] * 5 + [""]})).k)


def _permuted() -> str:
    people = _table({"zip": list("1122"), "ill": list("aabb")}, sensitive=["ill"]).take(np.array([3, 1, 0, 2]))
    result = criteria.evaluate(people)
    return f"l={result.l_distinct} t={result.t_equal:.1f}"


def _filtered() -> str:
    people = _table({"zip": list("111222"), "ill": list("abbabb")}, sensitive=["ill"])
    return f"l={criteria.evaluate(people.take(np.array([1, 3, 5]))).l_distinct}"


def _unused() -> str:
    people = _table({"zip": list("11223"), "ill": list("ababc")}, sensitive=["ill"]).take(np.arange(4))
    return f"k={criteria.evaluate(people).k}"


def _constant() -> str:
    return _text(
        [criteria.evaluate(_table({"zip": list("1122"), "ill": ["a"] * 4}, sensitive=["ill"])).t_equal or 0.0], 1
    )


def _average_risk() -> str:
    return _text([criteria.evaluate(_table({"zip": ["1"] + ["2"] * 99})).prosecutor_average], 3)


def _separator() -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        path.write_text("zip;pay\n1,5;a\n1,5;b\n2,5;a\n", encoding="utf-8")
        people = Table.read(path, quasi_identifiers="zip", sensitive="pay", delimiter=";")
    return f"{len(people.columns)} columns"


def _diverse_after_k() -> str:
    result = criteria.evaluate(_protect(datasets.adult(), Mondrian(k=10, l=2))[0])
    return (
        "l>=2, k in 10..19"
        if (result.l_distinct or 0) >= 2 and 10 <= result.k < 20
        else f"l={result.l_distinct}, k={result.k}"
    )


def _hierarchy() -> str:
    tree = Hierarchy.from_paths([("flu", "*"), ("ulcer", "*")])
    try:
        criteria.evaluate(_table({"zip": ["1"], "ill": ["x"]}, sensitive=["ill"], hierarchies={"ill": tree}))
    except UnmaskError as error:
        return "error that names the column" if "'ill'" in str(error) else "error"
    return "no error"


def _threshold() -> str:
    releases = {t: _protect(datasets.adult(), Mondrian(k=10, t=t))[0] for t in (0.05, 0.15, 0.5)}
    met = sum((criteria.evaluate(release).t_equal or 0.0) <= t + 1e-9 for t, release in releases.items())
    return f"met {met} of 3"


def _spellings() -> str:
    release, _ = _protect(datasets.adult(), Mondrian(k=10))
    column = release.column("marital-status")
    used = np.unique(column.codes)
    return str(len(used) - len({tuple(column.levels.covered(level)) for level in used.tolist()}))


def _zeros() -> str:
    gains = np.concatenate((np.zeros(700, dtype=np.int64), np.random.default_rng(1).integers(1, 100_000, 300)))
    classes = criteria.evaluate(_protect(_table({"gain": gains}), Mondrian(k=10))[0]).classes  # type: ignore[dict-item]
    return "17 to 31 classes" if 17 <= classes <= 31 else f"{classes} classes"


def _gcp() -> str:
    people = datasets.adult(quasi_identifiers=["age", "capital-gain", "education-num", "sex"])
    gcp = utility.evaluate(people, *_protect(people, Mondrian(k=10))).gcp
    return "at most 1" if 0 < gcp <= 1 else f"{gcp:.1f}"


def _distinct_rows() -> str:
    return str(criteria.evaluate(_protect(datasets.adult(), Mondrian(k=1))[0]).classes)


def _category_order() -> str:
    """Count the classes of the same rows in another order: boxes must not follow the order in the file."""
    people = datasets.adult()
    turned = people.take(np.random.default_rng(2).permutation(people.n_rows))
    result = {criteria.evaluate(_protect(table, Mondrian(k=10))[0]).classes for table in (people, turned)}
    return f"{len(result)} answer"


def _overflow() -> str:
    paths = np.array([[0, 1], [0, 1]], np.int32)
    return _text(
        [criteria.t_hierarchical(np.array([[n, 0], [0, n]]), paths).max() for n in (40_000, 100_000, 400_000)], 1
    )


def _sample(share: float) -> tuple[np.ndarray, int]:
    class_of_row = datasets.adult().classes.of_row
    sizes = np.bincount(np.random.default_rng(2).choice(class_of_row, round(share * len(class_of_row)), replace=False))
    return sizes[sizes > 0], len(class_of_row)


def _classes() -> str:
    sizes, rows = _sample(0.2)
    result = population.population_classes(sizes, population_rows=rows) or 0.0
    return "within 10 % of 6072" if abs(result / 6_072 - 1) < 0.1 else f"{result:.0f}"


def _not_zero() -> str:
    sizes = np.repeat([1, 2, 3, 4, 6, 9, 20], [400, 150, 80, 40, 20, 10, 5])
    result = population.estimate(sizes, population_rows=5 * int(sizes.sum())).slide_negative_binomial
    return "above 0" if result is not None and result > 0 else str(result)


def _not_available() -> str:
    return str(population.estimate([1] * 20, population_rows=1_000).slide_negative_binomial)


def _range() -> str:
    sizes, rows = _sample(0.01)
    result = population.estimate(sizes, population_rows=rows)
    return "a range" if (result.low or 0) < (result.high or 0) else "one number"


def _unique_rows() -> str:
    return str(criteria.evaluate(_table({"id": range(5_000)})).k)


def _recursive() -> str:
    return _text(criteria.l_recursive(np.array([[7, 2, 1]]), l=3))


def _delta() -> str:
    return _text(criteria.delta_disclosure(np.array([[2, 0], [0, 2]]))[:1])


def _beta() -> str:
    return _text(criteria.beta_likeness(np.array([[2, 0], [0, 2]]))[:1])


def _tie() -> str:
    return _text([criteria.map_error(np.array([[1, 1]]))], 2)


def _variation() -> str:
    return _text(criteria.t_equal(np.array([[1, 1, 0, 0], [0, 0, 1, 1]]))[:1], 2)


FAULTS = (
    Fault(
        "pycanon",
        "recursive c of class (7,2,1), l=3",
        "1",
        _recursive,
        "7",
        """
print(a.recursive_c_l_diversity(frame([(7, 2, 1)]), ['z'], ['s'])[0])""",
    ),
    Fault(
        "pycanon",
        "entropy l, uniform over 2 3 5 6 7 10",
        "1 2 5 5 6 9",
        _entropy,
        "2.00 3.00 5.00 6.00 7.00 10.00",
        """
print(*[a.entropy_l_diversity(frame([(1,) * n]), ['z'], ['s']) for n in (2, 3, 5, 6, 7, 10)])""",
    ),
    Fault(
        "pycanon",
        "k of 5 rows and one with a missing cell",
        "5",
        _missing,
        "1",
        """
print(a.k_anonymity(pd.DataFrame({'g': ['30'] * 5 + [None]}), ['g']))""",
    ),
    Fault(
        "pycanon",
        "l and t, index permuted",
        "l=2 t=0.0",
        _permuted,
        "l=1 t=0.5",
        """
d = pd.DataFrame({'z': list('1122'), 's': list('aabb')}, index=[3, 1, 0, 2])
print(f"l={a.l_diversity(d, ['z'], ['s'])} t={a.t_closeness(d, ['z'], ['s']):.1f}")""",
    ),
    Fault(
        "pycanon",
        "l after a filter",
        "IndexError",
        _filtered,
        "l=1",
        """
d = pd.DataFrame({'z': list('111222'), 's': list('abbabb')})
print(f"l={a.l_diversity(d[d.index.isin([1, 3, 5])], ['z'], ['s'])}")""",
    ),
    Fault(
        "pycanon",
        "k with an unused category",
        "k=0",
        _unused,
        "k=2",
        """
d = pd.DataFrame({'z': pd.Categorical(list('1122'), categories=list('129')), 's': list('abab')})
print(f"k={a.k_anonymity(d, ['z'])}")""",
    ),
    Fault(
        "pycanon",
        "t of a constant column",
        "division by zero",
        _constant,
        "0.0",
        """
print(a.t_closeness(pd.DataFrame({'z': list('1122'), 's': [7] * 4}), ['z'], ['s']))""",
    ),
    Fault(
        "pycanon",
        "delta of (2,0),(0,2)",
        "0.69",
        _delta,
        "inf",
        """
print(round(float(a.delta_disclosure(frame([(2, 0), (0, 2)]), ['z'], ['s'])), 2))""",
    ),
    Fault(
        "pycanon",
        "enhanced beta of (2,0),(0,2)",
        "0.69",
        _beta,
        "inf",
        """
print(round(float(a.enhanced_beta_likeness(frame([(2, 0), (0, 2)]), ['z'], ['s'])), 2))""",
    ),
    Fault(
        "pycanon",
        "mean risk, classes of 1 and 99",
        "0.505",
        _average_risk,
        "0.020",
        """
print(f"{m.average_rir(frame([(1,), (99,)]), ['z']):.3f}")""",
    ),
    Fault("pycanon", "rows outside the mode of a tie (1,1)", "0.00", _tie, "0.50"),
    Fault("pycanon", "separator of a file", "ignored", _separator, "2 columns"),
    Fault("anjana", "l=2 after k=10 on Adult", "k=72, 16 classes", _diverse_after_k, "l>=2, k in 10..19"),
    Fault("anjana", "value missing from a hierarchy", "bare KeyError", _hierarchy, "error that names the column"),
    Fault(
        "anonypy",
        "t = 0.05, 0.15, 0.5",
        "1 answer to 3 thresholds",
        _threshold,
        "met 3 of 3",
        """
d = pd.DataFrame({"x": [r.random() for _ in range(600)], "s": [r.choice("abcd") for _ in range(600)]})
result = {len(Preserver(d, ["x"], "s").count_t_closeness(10, t)) for t in (0.05, 0.15, 0.5)}
print(len(result), "answer to 3 thresholds")""",
    ),
    Fault("anonypy", "t of (1,1,0,0),(0,0,1,1)", "0.25 (largest gap)", _variation, "0.50"),
    Fault("anonypy", "sets with a second spelling", "5 of 65", _spellings, "0"),
    Fault(
        "anonypy",
        "column of 70 % zeros",
        "1 class",
        _zeros,
        "17 to 31 classes",
        """
d = pd.DataFrame({"x": [0] * 700 + [r.randint(1, 100000) for _ in range(300)], "s": ["a"] * 1000})
print(len(Preserver(d, ["x"], "s").count_k_anonymity(10)), "class")""",
    ),
    Fault("mosaicrown", "GCP of Adult with capital-gain", "608.7", _gcp, "at most 1"),
    Fault("qiyuangong", "classes of Adult at k=1", "1579", _distinct_rows, "6072"),
    Fault("qiyuangong", "classes by order of rows", "926 or 489", _category_order, "1 answer"),
    Fault("ARX", "hierarchical t at 40k, 100k, 400k rows", "below 0.3 from 200k rows", _overflow, "0.5 0.5 0.5"),
    Fault("ARX", "population classes from a 20 % sample", "1894 of 7976 (5 %)", _classes, "within 10 % of 6072"),
    Fault("ARX", "negative binomial uniques", "0 in 9 of 9", _not_zero, "above 0"),
    Fault("ARX", "estimate that has no solution", "0", _not_available, "None"),
    Fault("ARX", "estimators that disagree", "one number", _range, "a range"),
    Fault("synthcity", "k of 5,000 unique rows", "258", _unique_rows, "1"),
)
