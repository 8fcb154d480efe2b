"""Try the lowest versions that unmask declares: python .github/lower_bounds.py FOLDER

Makes a virtual environment in a folder, installs unmask with each dependency at its lower bound, starts every command,
and runs quick tests. Ends with exit code 1 if something fails.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

EXTRAS = ("app", "excel")
"""Extras whose lower bounds are tried, too."""

TOOLS = ("pytest>=8.3", "hypothesis>=6.100", "scikit-learn>=1.4", "hatchling>=1.25", "editables")
"""Packages that the tests need, at any version that fits."""

TESTS = (
    "tests/test_posterior.py", "tests/test_inference.py", "tests/channels/test_design.py",
    "tests/channels/test_channel.py", "tests/economics/test_campaign.py", "tests/linkage/test_items.py",
    "tests/tables/test_estimators.py",
)  # fmt: skip
"""Quick tests of parts of unmask. Tests of commands are not here: they need the test runner of click 8.2."""

STARTS = """
from unmask.cli import main
import click
for name in main.list_commands(click.Context(main)):
    main(name.split() + ["--help"], standalone_mode=False)
"""
"""Starts every command, whose options are made of the code behind them."""


def bounds() -> list[str]:
    """Return each declared dependency at its lower bound, such as click==8.1.0."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *(one for name in EXTRAS for one in project["optional-dependencies"][name])]
    found = [re.match(r"([\w-]+)>=([\d.]+)", one) for one in declared]
    if not all(found):
        raise SystemExit("a dependency has no lower bound; write name>=version")
    return [f"{one[1]}=={one[2]}" for one in found if one is not None]


def main(folder: Path) -> None:
    """Make the environment, and run commands and tests in it."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    for words in (
        [sys.executable, "-m", "venv", str(folder)],
        [python, "-m", "pip", "install", "--quiet", *bounds(), *TOOLS],
        [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "-e", str(ROOT)],
        [python, "-c", STARTS],
        [python, "-m", "unmask", "demo", "--people", "2000", "--report", str(folder / "demo.html"), "--force"],
        [python, "-m", "pytest", "-q", "-W", "default", *TESTS],
    ):
        print("$", *words, flush=True)  # noqa: T201
        subprocess.run(list(map(str, words)), cwd=ROOT, check=True)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except subprocess.CalledProcessError as error:
        raise SystemExit(1) from error
