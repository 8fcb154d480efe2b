"""The page of the five papers, made from `papers.toml`: the command that computes each row, and what checks it."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from sphinx.application import Sphinx

DOCS = Path(__file__).parent
SOURCE = DOCS / "papers.toml"
PAGE = DOCS / "papers.md"

OPENING = """# The five papers

unmask makes one system of five bodies of work. The tables list each definition, equation, theorem, algorithm, model,
experiment and figure of the papers, and the command that computes it: **{reached} of {computable} rows that can be
computed ({share:.0%})**. A test runs every command on small files that it makes (`tests/test_papers.py`). The column
*checked* names the program that compares the row with the paper, or with an independent program.

![An attack makes a belief of a release and of knowledge; the audit compares it with the truth](pictures/law.svg)
"""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Definition, claim, algorithm, model or figure of a paper.

    `shows` is a text in the output of the command. `checked` is the path of the program that checks the row. `reason`
    says why a row has no command. `computable` is false if its data or formula is not published.
    """

    section: str
    item: str
    kind: str
    command: str = ""
    shows: str = ""
    checked: str = ""
    reason: str = ""
    computable: bool = True


class Paper(NamedTuple):
    """A paper; the ids of its rows start with its letter."""

    letter: str
    authors: str
    title: str


class Papers(NamedTuple):
    """The five papers, commands by name, and rows by id."""

    papers: list[Paper]
    commands: dict[str, str]
    rows: dict[str, Row]

    @property
    def computable(self) -> list[Row]:
        """Rows that can be computed from the published texts and data."""
        return [row for row in self.rows.values() if row.computable]

    @property
    def reached(self) -> list[Row]:
        """Rows that a command computes."""
        return [row for row in self.rows.values() if row.command]


def read_papers() -> Papers:
    """Read `papers.toml`."""
    source = tomllib.loads(SOURCE.read_text(encoding="utf-8"))
    rows = {name: msgspec.convert(row, Row) for name, row in source["rows"].items()}
    return Papers([Paper(**paper) for paper in source["papers"]], source["commands"], rows)


def write_page() -> None:
    """Write the page, in Markdown."""
    PAGE.write_text("\n".join(render_page(read_papers())) + "\n", encoding="utf-8")


def render_page(papers: Papers) -> Iterator[str]:
    """Yield the lines of the page."""
    reached, computable = len(papers.reached), len(papers.computable)
    yield OPENING.format(reached=reached, computable=computable, share=reached / computable)
    for letter, authors, title in papers.papers:
        rows = {name: row for name, row in papers.rows.items() if name.startswith(letter)}
        yield from (f'## {authors}, "{title}"', "", "| | section | item | command | checked |", "|---|---|---|---|---|")
        for name, row in rows.items():
            computed = f"[{row.command}](#commands)" if row.command else row.reason
            yield f"| {name} | {row.section} | {escape_cell(row.item)} | {escape_cell(computed)} | {row.checked} |"
        yield ""
    yield from ("## Commands", "", "| name | command |", "|---|---|")
    yield from (f"| {name} | `unmask {escape_cell(command)}` |" for name, command in papers.commands.items())


def escape_cell(text: str) -> str:
    """Return a text as a cell of a Markdown table."""
    return text.replace("|", r"\|").replace("*", r"\*").replace("<", "&lt;")


def setup(_app: Sphinx) -> dict[str, bool]:
    """Write the page before Sphinx reads its sources."""
    write_page()
    return {"parallel_read_safe": True, "parallel_write_safe": True}
