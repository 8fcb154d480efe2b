"""Every attack and protection has its page: idea, assumptions, limits, an example that runs, a source."""

import ast
import builtins

import pytest

from docs import catalog_pages
from docs.python_reference import find_homes, public_modules
from unmask.catalog import examples

ENTRIES = {name: example for kind in ("attacks", "protections") for name, example in examples(kind).items()}

PARTS = ("idea", "assumes", "fails", "example", "source")


@pytest.fixture(scope="module")
def homes():
    return find_homes(public_modules())


@pytest.mark.parametrize("name", ENTRIES)
def test_every_entry_has_all_five_parts(name):
    entry = catalog_pages.read_entry(type(ENTRIES[name]))
    assert [part for part in PARTS if not " ".join(getattr(entry, part)).strip()] == []
    assert not any(line.startswith(tuple(catalog_pages.OPENINGS.values())) for line in entry.idea)
    assert any(not line.startswith((">>>", "...")) for line in entry.example if line)  # it shows what comes out


@pytest.mark.parametrize("name", ENTRIES)
def test_an_example_has_all_names_that_it_needs(name, homes):  # what it prints is tested as a docstring
    kind = type(ENTRIES[name])
    example = catalog_pages.read_entry(kind).example
    needed = catalog_pages.imports(example, kind, homes)
    names = {}
    exec("\n".join(line[4:] for line in needed), names)
    code = ast.parse("\n".join(line[4:] for line in example if line.startswith((">>>", "..."))))
    loaded = {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}
    stored = {node.id for node in ast.walk(code) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    imported = {alias.name for node in ast.walk(code) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert loaded - stored - imported - names.keys() - set(dir(builtins)) == set()


def test_every_entry_is_written(tmp_path, monkeypatch, homes):
    monkeypatch.setattr(catalog_pages, "FOLDER", tmp_path / "catalog")
    catalog_pages.write_pages(homes)
    assert {path.stem for path in (tmp_path / "catalog").iterdir()} == {*ENTRIES, "index"}
    index = (tmp_path / "catalog" / "index.rst").read_text(encoding="utf-8")
    assert [name for name in ENTRIES if f"<{name}>" not in index] == []
