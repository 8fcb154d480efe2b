"""Import contracts in `pyproject.toml` say which way is down; here no way leads back, inside a floor either."""

from graphlib import TopologicalSorter

import grimp


def test_no_import_closes_a_circle():
    """Imports inside functions and those for type checkers count, too."""
    found = grimp.build_graph("unmask", cache_dir=None)
    assert found.find_modules_directly_imported_by("unmask.engines") >= {"unmask.engines.duck"}  # inside a function
    TopologicalSorter({name: found.find_modules_directly_imported_by(name) for name in found.modules}).prepare()
