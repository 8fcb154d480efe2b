"""The documentation names only what exists, and what is public is documented."""

import importlib
import inspect
import pkgutil
import re
import shlex
from pathlib import Path

import click
import pytest

import unmask
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


def shown(path):
    """The lines of the fences of a page that are commands of ours."""
    text = path.read_text(encoding="utf-8")
    fences = re.findall(r"^```(\S*)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    lines = "".join(block for language, block in fences if not language).replace("\\\n", " ").splitlines()
    lines += re.findall(r"^\s*- (?:run: )?(unmask .*)$", text, flags=re.MULTILINE)
    return [line for line in lines if line.startswith("unmask ")]


COMMANDS = [pytest.param(line, id=f"{path.stem}: {line}"[:100]) for path in PAGES for line in shown(path)]


def test_pages_show_commands():
    assert len(COMMANDS) > 40


def test_the_code_of_a_new_domain_is_that_of_one_that_is_tested():
    tested = [*ROOT.glob("tests/badges/*.py"), ROOT / "tests/test_new_domain.py"]
    code = "\n".join(path.read_text(encoding="utf-8") for path in tested)
    page = (ROOT / "docs" / "how-to" / "domain.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)\n```", page, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) > 4
    assert [block for block in blocks if block not in code] == []


def test_no_line_installs_a_name_that_nobody_owns():  # U7: whoever registers it would run in every copied pipeline
    tool = r"(?:pip3? install|uv add|uv pip install|uvx|pipx install|pipx run)"
    bare = re.compile(rf"\b{tool}\s+(?:-\S+\s+)*[\"'`]?unmask(?![\w/.-])|install unmask\[")
    written = [*PAGES, *ROOT.glob("*.md"), *ROOT.glob("examples/*")]
    written += [
        path for folder in ("src", "tests", "verification", "benchmarks") for path in ROOT.glob(f"{folder}/**/*.py")
    ]
    assert [path.name for path in written if bare.search(path.read_text(encoding="utf-8"))] == []
    assert all(bare.search(line) for line in ("pip " + "install unmask", "pip " + 'install -q "unmask[spark]"'))


def test_options_in_the_text_exist():
    options = {
        text
        for command in main.commands.values()
        for parameter in command.get_params(click.Context(command))
        for text in parameter.opts
    }
    of_others = {"--quick"}  # of `benchmarks/all.py`
    named = {
        (path.name, option)
        for path in PAGES
        for code in re.findall(
            r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        )
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", code)
    }
    assert len(named) > 30
    assert {(page, option) for page, option in named if option not in options | of_others} == set()


@pytest.mark.parametrize("line", COMMANDS)
def test_command_of_the_documentation_exists(line):
    words = shlex.split(line)[1:]
    if ">" in words:
        words = words[: words.index(">")]
    context = click.Context(main)
    _, command, rest = main.resolve_command(context, words)
    values, _, _ = command.make_parser(click.Context(command)).parse_args(list(rest))
    for parameter in command.params:
        if isinstance(parameter.type, click.Choice | click.IntRange | click.FloatRange) and parameter.name in values:
            given = values[parameter.name]
            for value in given if isinstance(given, list | tuple) else [given]:
                parameter.type.convert(value, parameter, context)
