"""The documentation names existing options and runs its examples, and public names have docstrings."""

import importlib
import inspect
import json
import pkgutil
import re
import shlex
from contextlib import chdir
from pathlib import Path

import click
import nbformat
import pytest
from nbclient import NotebookClient

import unmask
from tests.documented import DOCUMENT, PUBLISHED, STUDY, Room, outputs_of, run
from unmask.cli import main

ROOT = Path(__file__).parent.parent

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def public_names():
    modules = [item.name for item in pkgutil.walk_packages(unmask.__path__, "unmask.") if "._" not in item.name]
    return [
        (module, name)
        for module in ["unmask", *modules]
        for name in getattr(importlib.import_module(module), "__all__", ())
    ]


def test_public_names_have_docstrings():
    bare = []
    for module, name in public_names():
        value = getattr(importlib.import_module(module), name)
        documented = inspect.isroutine(value) or inspect.isclass(value) or inspect.ismodule(value)
        if documented and (not value.__doc__ or value.__doc__.startswith(f"{name}(")):  # a dataclass writes the latter
            bare.append(f"{module}.{name}")
    assert bare == []


def fences(page):
    """Return the fences of a page: language and text."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```(\S*)[^\n]*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def commands_of(page):
    """Return the commands of unmask in each fence of a page, and in each step of a pipeline."""
    blocks = [text.replace("\\\n", " ").splitlines() for language, text in fences(page) if not language]
    blocks += [[line] for line in re.findall(r"^\s*- (?:run: )?(unmask .*)$", page.read_text(), flags=re.MULTILINE)]
    commands = [
        [line.rpartition("bin/")[2] for line in lines if re.match(r"unmask |.*&& \S*bin/unmask ", line)]
        for lines in blocks
    ]
    return [lines for lines in commands if lines]


def test_pages_show_commands():
    assert sum(len(lines) for _, lines in RUN) > 90


def test_the_code_of_a_new_domain_is_that_of_one_that_is_tested():
    tested = [*ROOT.glob("tests/badges/*.py"), ROOT / "tests/test_new_domain.py"]
    code = "\n".join(path.read_text(encoding="utf-8") for path in tested)
    page = (ROOT / "docs" / "how-to" / "domain.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)\n```", page, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) > 4
    assert [block for block in blocks if block not in code] == []


def test_no_line_installs_an_unregistered_name():  # U7: its future owner would run code in every copied pipeline
    tool = r"(?:pip3? install|uv add|uv pip install|uvx|pipx install|pipx run)"
    bare = re.compile(rf"\b{tool}\s+(?:-\S+\s+)*[\"'`]?unmask(?![\w/.-])|install unmask\[")
    written = [*PAGES, *ROOT.glob("*.md"), *ROOT.glob("examples/*")]
    written += [
        path for folder in ("src", "tests", "verification", "benchmarks") for path in ROOT.glob(f"{folder}/**/*.py")
    ]
    assert [path.name for path in written if bare.search(path.read_text(encoding="utf-8"))] == []
    assert all(bare.search(line) for line in ("pip " + "install unmask", "pip " + 'install -q "unmask[spark]"'))


def test_options_in_the_text_exist():
    root = click.Context(main)
    options = {
        text
        for command in (main.get_command(root, name) for name in main.list_commands(root))
        for parameter in command.get_params(click.Context(command))
        for text in (*parameter.opts, *parameter.secondary_opts)
    }
    of_others = {"--quick", "--detach-sign"}  # of `benchmarks/all.py` and of gpg
    options_named = {
        (path.name, option)
        for path in PAGES
        for code in re.findall(
            r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        )
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", code)
    }
    assert len(options_named) > 30
    assert {(page, option) for page, option in options_named if option not in options | of_others} == set()


# --- what is documented runs ------------------------------------------------------------------------------------------

NOT_RUN = {
    "unmask open people.csv": "tests/app starts it; it ends by Ctrl-C",
    "unmask study unmask.toml -o run --spark spark://host:7077": "needs a cluster",
}
"""Commands that are not run, with the reason."""

REJECTED = (
    "unmask advise",
    "unmask advise --what identity --loss hamming --observations one --rank-by shannon_entropy",
    "unmask audit graph release.csv --auxiliary known.csv --seeds match_profiles:20 --attack Rematch --runs 2",
)
"""Commands that end with a sentence: no answer, an unsound measure, a small network that hides everyone."""

DEVELOPMENT = ("python3 -m venv ", ".venv/bin/", "./check", "docker ", "python benchmarks/")
"""Beginnings of lines that install, test or measure unmask itself."""


def test_every_command_is_run_or_has_a_reason():
    command = re.compile(r"(?:\S*/)?(?:unmask|pip|python3?|docker|jupyter|check)\b.*")
    lines = {
        line
        for page in PAGES
        for language, text in fences(page)
        if language in ("", "sh")
        for line in text.replace("\\\n", " ").splitlines()
        if command.fullmatch(line)
    }
    run_here = {line for page in PAGES for lines in commands_of(page) for line in lines}
    assert {line for line in lines - run_here if not line.startswith(DEVELOPMENT)} == set()
    assert set(NOT_RUN) <= run_here


SMALLER = {
    "/scratch": ".", "random.25:1000": "random.25:10", "random.25:100": "random.25:10", "5,25,100,400": "2,5",
    "match_profiles:100": "match_profiles:20", "clique.4:40": "clique.4:4", "1000": "8",
}  # fmt: skip
"""Arguments for large networks and folders -> arguments for the tests."""


def shrink(words):
    """Return a command with arguments for the tests; an audit of a network has two runs instead of four."""
    words = [SMALLER.get(word, word) for word in words]
    return [*words, "--runs", "2"] if words[:2] == ["audit", "graph"] and "--runs" not in words else words


def documents(page):
    """Return the files that a page shows."""
    blocks = [text for language, text in fences(page) if language == "toml"]
    document_text = "\n".join(text for text in blocks if text.startswith(("title", "[data]", "[graph]")))
    attacker = [text for text in blocks if text.startswith("[attacker]")]
    priced = "".join(text for text in blocks if text.startswith("[publisher]")) or PUBLISHED
    if page.stem in ("document", "economics"):
        document_text = (document_text or DOCUMENT) + priced.replace('"register"', '"neighbor"')
    texts = {"unmask.toml": document_text, "research.toml": document_text, "attacker.toml": "".join(attacker)}
    return {name: text for name, text in texts.items() if text}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Run a study whose results all commands read."""
    folder = tmp_path_factory.mktemp("study")
    with chdir(folder):
        Room("", {"unmask.toml": STUDY}, folder).supply(["study", "unmask.toml"])
        code, _, messages = run("study", "unmask.toml", "-o", "run")
    assert code in (0, 1), messages  # one adversary needs a control group, which one of the two data sets lacks
    return folder / "run"


RUN = [(page, lines) for page in PAGES if page.stem != "tutorial" for lines in commands_of(page)]


@pytest.mark.parametrize(("page", "lines"), RUN, ids=[f"{page.stem}: {lines[0]}"[:60] for page, lines in RUN])
def test_documented_commands_run(page, lines, study, tmp_path, monkeypatch):
    """Run the commands of a fence with closed standard input, in a folder with their input files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    if "unmask check one_column:OneColumn" in lines or "unmask study unmask.toml -o run --allow-code" in lines:
        assert run("new", "attack", "OneColumn")[0] == run("new", "protection", "EveryOther")[0] == 0
    commands = [shrink(shlex.split(line)[1:]) for line in lines if line not in NOT_RUN]
    room = Room(page.stem, documents(page), study, {name for words in commands for name in outputs_of(words)})
    for words in commands:
        room.supply(words)
        code, output, messages = run(*words[: words.index(">") if ">" in words else None])
        rejected = shlex.join(["unmask", *words]) in REJECTED
        assert code in ((2,) if rejected else (0, 1, 3)), output + messages
        assert rejected or not re.search("^Error", messages, flags=re.MULTILINE), output + messages


RESULTS = (
    "audit release.csv -q age,sex,zip -s diagnosis --original people.csv --origin origin.csv --control others.csv",
    "audit release.csv -q age,sex,zip --register register.csv --attacker case-study --policy k>=2",
    "audit graph network.csv --overlap 0.9,0.9 --attack Nar09,Rematch --seeds random:10 --transition 2,5",
    "audit graph network.csv",
    "audit linkage --truth truth.csv --guess guess.csv --beta 0.5",
    "audit channel laplace.csv coin.csv --prior prior.csv --loss euclidean --coordinates places.csv",
    "audit channel counts.csv",
    "audit aggregates published --original records.csv",
    "price 1-20 --attacker case-study",
)
"""Commands whose tables the reference lists."""


@pytest.mark.parametrize("command", RESULTS, ids=lambda command: command[:30])
def test_the_reference_lists_the_tables_of_a_result(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command)
    Room("reference", {}, tmp_path).supply(words)
    code, output, messages = run(*words, "--json")
    assert code in (0, 3), messages
    tables = json.loads(output)["tables"]
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert tables
    assert [name for name in tables if f"`{name}`" not in reference] == []


KERNEL = f"""
import sys
sys.modules["ipywidgets"] = None
import pytest
pytest.main(["-q", "-p", "no:cacheprovider", "-c", "{ROOT / "pyproject.toml"}", "--rootdir", "{ROOT}", "-o", "addopts=",
             "--doctest-glob=*.md", *{[str(page) for page in PAGES]}])
"""

SHOW_TABLE = """
import pandas as pd, unmask
unmask.read_table(pd.DataFrame({"age": [30, 31], "ill": ["a", "b"]}), quasi_identifiers="age", sensitive="ill")
"""


def test_python_of_the_documentation_runs_in_a_kernel_without_widgets(study, tmp_path, monkeypatch):
    """Run the Python examples of all pages, which no other test runs."""
    monkeypatch.chdir(tmp_path)
    Room("", {}, study).supply(["audit", "release.csv"])
    Path("result.json").write_text(run("audit", "release.csv", "-q", "age,sex,zip", "-s", "diagnosis", "--json")[1])
    pages = [ROOT / "docs/how-to" / f"{name}.md" for name in ("attack", "pipelines")]
    plain = [text for page in pages for language, text in fences(page) if language == "python" and ">>>" not in text]
    assert len(plain) == 3
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(code) for code in (KERNEL, SHOW_TABLE, *plain)]
    )
    place = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place, allow_errors=True).execute()
    examples, table, *programs = ([dict(output) for output in cell.outputs] for cell in notebook.cells)
    text = "".join(output.get("text", "") for output in examples)
    assert "<ExitCode.OK: 0>" in examples[-1].get("data", {}).get("text/plain", ""), text
    assert int(re.findall(r"(\d+) passed", text)[-1]) > 15
    assert [output["output_type"] for output in table] == ["execute_result"]
    assert "text/html" in table[0]["data"]
    assert programs == [[], [], []]
