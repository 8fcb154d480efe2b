"""`unmask certify`: the audit of a document as a certificate, and whether it still comes out the same."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from unmask.cli.files import refuse_to_overwrite, write_texts
from unmask.cli.gates import EXIT_ABOVE
from unmask.cli.generated import FILE, Command
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError
from unmask.data.files import hash_file, read_json, read_text

CLOSE = 1e-9
"""Numbers that differ by no more than this part are the same: another processor may round the last digits otherwise."""

EXIT_DIFFERS = 1
"""Exit code of a check that finds anything changed."""


@click.command("certify", cls=Command)
@click.argument("document", type=FILE)
@click.option("--output", "-o", type=FILE, help="Write the certificate: JSON, and a page to sign beside it, as .html.")
@click.option("--check", "earlier", type=FILE, help="Run the audit again and compare it with this certificate.")
@click.option(
    "--of", "word", metavar="AUDIT", help="Which audit of the document, such as graph; its only one if left out."
)
@click.option("--force", is_flag=True, help="Overwrite the certificate and its page.")
def certify(document: Path, output: Path | None, earlier: Path | None, word: str | None, force: bool) -> None:
    r"""Run the audit of a document, and write what can be signed and checked; or check what was written.

    What [certificate] of the document says of the release stands on the page; what it leaves out is left to be written.
    A check exits with 1 where a digest, a condition, the version or a number is not the same, or the page is not of the
    certificate.

    \b
    unmask certify unmask.toml -o certificate.json
    unmask certify unmask.toml --check certificate.json
    """
    if (output is None) == (earlier is None):
        raise click.UsageError("give --output to write a certificate, or --check to compare with one")
    if output is not None and output.suffix != ".json":
        raise click.UsageError(f"{output} is no name of a JSON file; a certificate ends with .json")
    page = output and output.with_suffix(".html")
    refuse_to_overwrite(output, page, force=force)
    text = _audited(document, word)
    if earlier is not None:
        _check(earlier, json.loads(text))
    elif output is not None and page is not None:
        from unmask.reports.certificate import certificate

        digest = hashlib.sha256(text.encode()).hexdigest()
        write_texts({output: text, page: certificate(json.loads(text), digest)})
        print_line(f"wrote {output}", err=True)
        print_line(f"wrote {page}", err=True)


def _audited(document: Path, word: str | None) -> str:
    """The JSON of the audit, with what the document says of the release."""
    from unmask.document import certificate_of
    from unmask.studies.reading import checked_document

    given = checked_document(document)
    said = certificate_of(given)
    printed, command = io.StringIO(), click.get_current_context().find_root().command
    asked = [*_command(given, word), str(document), "--json"]
    with redirect_stdout(printed):
        code = command.main(asked, prog_name="unmask", standalone_mode=False)
    if code not in (None, 0, EXIT_ABOVE):
        raise click.exceptions.Exit(code)
    found = json.loads(printed.getvalue())
    if said:
        found["tables"]["certificate"] = [{"what": key, "said": value} for key, value in said.items()]
    return json.dumps(found, indent=1) + "\n"


def _command(given: Mapping[str, Any], word: str | None) -> list[str]:
    """The words of the audit that a document asks for."""
    from unmask.document import populations
    from unmask.domains import DOMAINS

    words = [one.word or name for name, one in DOMAINS.items()]
    tables = [one for one in populations(given) if str(one.get("use", "tables.")).startswith("tables.")]
    there = [name for name in words if name in given] + (["table"] if tables or "releases" in given else [])
    if word is not None:
        there = [name for name in there if name == word]
    if len(there) != 1:
        raise UnmaskError(
            f"the document asks for {len(there)} audits{f' called {word}' if word else ''}, expected one; say --of "
            f"{' or '.join(there or ['table', *words])}"
        )
    return ["audit"] if there == ["table"] else ["audit", there[0]]


def _check(path: Path, now: Any) -> None:
    """Say what is the same and what is not; exit 1 where anything is not."""
    earlier = read_json(path, "certificate")
    compared = [*_compared("", earlier, now), *_compared_page(path, earlier)]
    differs = [line for line in compared if line]
    for line in differs:
        print_line(line)
    print_line(f"{len(compared) - len(differs):,} values are the same, {len(differs):,} are not")
    if differs:
        raise click.exceptions.Exit(EXIT_DIFFERS)


def _compared_page(path: Path, earlier: Any) -> Iterator[str]:
    """Compare the page next to a certificate: rendered again by the same version, else by the digest that it states."""
    from unmask.reports.certificate import certificate
    from unmask.version import __version__

    page, digest = path.with_suffix(".html"), hash_file(path)
    if not page.exists():
        print_line(f"{page.name} does not exist: no page was checked", err=True)
        return
    try:
        shown = read_text(page)
        same = shown == certificate(earlier, digest) if earlier["unmask"] == __version__ else digest in shown
    except (OSError, LookupError, TypeError, ValueError, AttributeError):
        same = False
    yield "" if same else f"{page.name}: not the page of {path.name}, whose SHA-256 is {digest}"


NAMES = ("release", "adversary", "target", "measure", "policy", "condition", "column", "name", "what")
"""Keys whose values say which line of a table is meant."""

SHORT = 40
"""Characters of a text that is shown where it differs; a digest is not."""


def _compared(place: str, one: Any, other: Any) -> Iterator[str]:
    """For each value of two certificates "", or a line that says where they differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            inner = f"{place}, {key}" if place and place != "tables" else key
            yield from _compared(inner, one.get(key), other.get(key))
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield f"{place}: {len(one):,} lines in the certificate, {len(other):,} now"
            return
        for at, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _compared(f"{place}, {_named(left, at)}", left, right)
    elif _is_number(one) and _is_number(other):
        same = math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE * CLOSE)
        yield "" if same else f"{place}: {one:.9g} in the certificate, {other:.9g} now"
    else:
        yield "" if one == other and type(one) is type(other) else f"{place}: {_change(one, other)}"


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (type(value) is int and abs(value) < 2**1000)  # fits a float


def _named(line: Any, at: int) -> str:
    """What names a line of a table, or else its number."""
    names = [line[key] for key in NAMES if isinstance(line.get(key), str)] if isinstance(line, dict) else []
    return ", ".join(filter(None, names)) or str(at)


def _change(one: Any, other: Any) -> str:
    short = all(isinstance(text, str) and 0 < len(text) <= SHORT for text in (one, other))
    return f"{one} in the certificate, {other} now" if short else "not the same"
