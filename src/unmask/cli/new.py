"""`unmask new`: a working file for an attack, a protection or a measure of your own, and a test for it."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

import click

from unmask.cli.files import refuse_to_overwrite, suggest_command, write_texts
from unmask.cli.generated import Command
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError

ATTACK = '''"""An attack on tables."""

from dataclasses import dataclass

import numpy as np

from unmask import Posterior
from unmask.tables import Background, Table
from unmask.tables.matching import compatible


@dataclass(frozen=True)
class NAME:
    """Adversary who knows one quasi-identifier: the first one, or the one that `column` names.

    Assumes: the cell of this column contains the person's value.

    Fails when: the column was perturbed, or is not released.
    """

    column: str = ""

    def __call__(self, release: Table, knowledge: Background, *, rng=None) -> Posterior:
        """Return a belief about each person: all rows whose cell contains their value are equally likely."""
        name = self.column or release.quasi_identifiers[0].name
        known, released = knowledge.people.column(name), release.column(name)
        fits = compatible(known.levels, released.levels, missing=release.missing)
        rows = fits[known.codes][:, released.codes]
        return Posterior.from_dense(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1), status="model")
'''

PROTECTION = '''"""A protection of tables."""

from dataclasses import dataclass

import numpy as np

from unmask.tables import Table


@dataclass(frozen=True)
class NAME:
    """Protection that releases every n-th row unchanged."""

    n: int = 2

    def __call__(self, population: Table, *, rng=None) -> tuple[Table, np.ndarray]:
        """Return the release, and the row of the population behind each of its rows."""
        rows = np.arange(0, population.n_rows, self.n)
        return population.take(rows), rows
'''

MEASURE = '''"""A measure of privacy."""

import numpy as np

from unmask import Posterior
from unmask.measures import Measure


def list_leads(belief: Posterior) -> np.ndarray:
    """Return the difference between the two largest probabilities of each row."""
    two_largest = np.sort(belief.to_dense(), axis=1)[:, -2:]
    return two_largest[:, -1] - two_largest[:, 0]


NAME = Measure(
    "NAME",
    label="Lead of the likeliest candidate",
    meaning="difference between the two largest probabilities",
    unit="probability",
    direction="high",
    range=(0.0, 1.0),
    self_assessed=list_leads,
)
'''

TEST = '''"""NAME keeps the laws of every KIND."""

from MODULE import NAME

from unmask.checks import check


def test_NAME_keeps_the_laws():
    assert [str(result) for result in check(NAME) if result.state == "broken"] == []
'''

TEMPLATES = {"attack": ATTACK, "protection": PROTECTION, "measure": MEASURE}


@click.command("new", cls=Command)
@click.argument("kind", type=click.Choice([*TEMPLATES]))
@click.argument("name")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def new(kind: str, name: str, force: bool) -> None:
    r"""Write a working attack, protection or measure to start from, with its test.

    Change the file for your purpose. `unmask check` reports the laws that it breaks.

    \b
    unmask new attack OneColumn
    unmask new protection EveryOther
    unmask new measure lead
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UnmaskError(f"{name!r} is not a Python name; expected letters, digits and _, such as OneColumn")
    module = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    path, test = Path(f"{module}.py"), Path(f"test_{module}.py")
    refuse_to_overwrite(path, test, force=force)
    words = {"NAME": name, "MODULE": module, "KIND": kind}
    texts = {path: TEMPLATES[kind], test: TEST}
    write_texts({file: re.sub("NAME|MODULE|KIND", lambda match: words[match[0]], text) for file, text in texts.items()})
    print_line(f"wrote {path} and {test}; the test runs with pytest", err=True)
    suggest_command("check", f"{module}:{name}")
