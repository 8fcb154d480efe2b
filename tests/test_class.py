"""The notebooks of the class have what a class needs; the documentation runs them (docs/notebooks.py)."""

import json
import re
from pathlib import Path

import nbformat
import pytest

CLASS = Path(__file__).parent.parent / "docs" / "class"
TAUGHT = sorted(CLASS.glob("*.ipynb"))
SOLVED = sorted((CLASS / "solutions").glob("*.ipynb"))
NAMES = [f"{path.parent.name}/{path.stem}" for path in [*TAUGHT, *SOLVED]]


def test_every_notebook_has_solutions():
    assert len(TAUGHT) == 6
    assert [path.name for path in SOLVED] == [path.name for path in TAUGHT]


@pytest.mark.parametrize("path", [*TAUGHT, *SOLVED], ids=NAMES)
def test_a_notebook_is_kept_as_it_is_written(path):  # else a change of two words is a change of a thousand lines
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    nbformat.validate(notebook)
    assert text == json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["id"] for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
    assert [cell["id"] for cell in notebook["cells"] if cell["metadata"]] == []
    assert [line for cell in code for line in cell["source"] if re.search(r"https?://|urlopen|read_csv", line)] == []


@pytest.mark.parametrize("path", TAUGHT, ids=lambda path: path.stem)
def test_each_figure_is_explained_and_there_are_three_exercises(path):
    cells = nbformat.read(path, as_version=4).cells
    drawn = [index for index, cell in enumerate(cells) if cell.cell_type == "code" and ".chart(" in cell.source]
    assert drawn
    assert [
        cells[index].source for index in drawn if not cells[index + 1].source.startswith("**Read the figure.**")
    ] == []
    exercises = cells[-1].source
    assert re.findall(r"^\*\*(\d)\. ", exercises, flags=re.MULTILINE) == ["1", "2", "3"]
    assert f"(solutions/{path.name})" in exercises


@pytest.mark.parametrize("path", SOLVED, ids=lambda path: path.stem)
def test_each_solution_checks_itself(path):
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
    parts = re.split(r"^## \d\. ", text, flags=re.MULTILINE)[1:]
    assert [part.splitlines()[0] for part in parts if "assert " not in part] == []
    assert len(parts) == 3
