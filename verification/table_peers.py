"""Programs for the peers' own environments: each prints the peer's answer to one case of `table_faults`."""

from __future__ import annotations

_PYCANON = """
import pandas as pd
from pycanon import anonymity as a, metrics as m
def frame(counts):
    rows = [(str(z), s) for z, c in enumerate(counts) for s, n in zip("abcdefghij", c) for _ in range(n)]
    return pd.DataFrame(rows, columns=["z", "s"])
"""

_ANONYPY = """
import random
import pandas as pd
from anonypy import Preserver
r = random.Random(1)
"""

PROGRAMS = {
    "recursive c of class (7,2,1), l=3": _PYCANON
    + """
print(a.recursive_c_l_diversity(frame([(7, 2, 1)]), ['z'], ['s'])[0])""",
    "entropy l, uniform over 2 3 5 6 7 10": _PYCANON
    + """
print(*[a.entropy_l_diversity(frame([(1,) * n]), ['z'], ['s']) for n in (2, 3, 5, 6, 7, 10)])""",
    "k of 5 rows and one with a missing cell": _PYCANON
    + """
print(a.k_anonymity(pd.DataFrame({'g': ['30'] * 5 + [None]}), ['g']))""",
    "l and t, index permuted": _PYCANON
    + """
d = pd.DataFrame({'z': list('1122'), 's': list('aabb')}, index=[3, 1, 0, 2])
print(f"l={a.l_diversity(d, ['z'], ['s'])} t={a.t_closeness(d, ['z'], ['s']):.1f}")""",
    "l after a filter": _PYCANON
    + """
d = pd.DataFrame({'z': list('111222'), 's': list('abbabb')})
print(f"l={a.l_diversity(d[d.index.isin([1, 3, 5])], ['z'], ['s'])}")""",
    "k with an unused category": _PYCANON
    + """
d = pd.DataFrame({'z': pd.Categorical(list('1122'), categories=list('129')), 's': list('abab')})
print(f"k={a.k_anonymity(d, ['z'])}")""",
    "t of a constant column": _PYCANON
    + """
print(a.t_closeness(pd.DataFrame({'z': list('1122'), 's': [7] * 4}), ['z'], ['s']))""",
    "delta of (2,0),(0,2)": _PYCANON
    + """
print(round(float(a.delta_disclosure(frame([(2, 0), (0, 2)]), ['z'], ['s'])), 2))""",
    "enhanced beta of (2,0),(0,2)": _PYCANON
    + """
print(round(float(a.enhanced_beta_likeness(frame([(2, 0), (0, 2)]), ['z'], ['s'])), 2))""",
    "mean risk, classes of 1 and 99": _PYCANON
    + """
print(f"{m.average_rir(frame([(1,), (99,)]), ['z']):.3f}")""",
    "t = 0.05, 0.15, 0.5": _ANONYPY
    + """
d = pd.DataFrame({"x": [r.random() for _ in range(600)], "s": [r.choice("abcd") for _ in range(600)]})
found = {len(Preserver(d, ["x"], "s").count_t_closeness(10, t)) for t in (0.05, 0.15, 0.5)}
print(len(found), "answer to 3 thresholds")""",
    "column of 70 % zeros": _ANONYPY
    + """
d = pd.DataFrame({"x": [0] * 700 + [r.randint(1, 100000) for _ in range(300)], "s": ["a"] * 1000})
print(len(Preserver(d, ["x"], "s").count_k_anonymity(10)), "class")""",
}
"""By the name of the case."""
