"""Import contracts in `pyproject.toml` say which way is down; here no way leads back, inside a floor either."""

import subprocess
import sys
from graphlib import TopologicalSorter

import grimp

SHOWS_ITSELF = "unmask.results.result"
"""A result imports its renderers when a reader asks for a page, a chart or a summary."""


def test_no_import_closes_a_circle():
    """Imports inside functions and those for type checkers count, too, but for those of `SHOWS_ITSELF`."""
    result = grimp.build_graph("unmask", cache_dir=None)
    assert result.find_modules_directly_imported_by("unmask.data.engine") >= {
        "unmask.data.duckdb_engine"
    }  # inside a function
    imports = {name: result.find_modules_directly_imported_by(name) for name in result.modules}
    imports[SHOWS_ITSELF] -= {name for name in imports if name.startswith(("unmask.render", "unmask.policy"))}
    TopologicalSorter(imports).prepare()


FOUND = """
import sys
from unmask.catalog import KINDS, examples, find

find("channels.BayesChannelAttack", "attacks")
others = {"unmask.tables", "unmask.graphs", "unmask.linkage"} & {*sys.modules}
assert not others, others
for kind in KINDS:
    examples(kind)
slow = {"scipy.optimize", "scipy.signal", "scipy.stats", "numba", "sklearn"} & {*sys.modules}
assert not slow, slow
"""


def test_a_name_is_found_in_its_domain_alone_and_nothing_slow_is_imported_before_it_is_used():
    """Each command, and each worker of a study, is a process that begins with this."""
    subprocess.run([sys.executable, "-c", FOUND], check=True)
