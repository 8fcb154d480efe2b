"""`unmask certify`: the audit of a document as a certificate, and whether it still comes out the same."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from unmask.cli.files import refuse_to_overwrite, write_texts
from unmask.cli.gates import EXIT_ABOVE
from unmask.cli.generated import Command
from unmask.cli.option_types import FILE
from unmask.cli.options import language_option
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError
from unmask.data.files import hash_file, read_json, read_text
from unmask.languages import Language

CLOSE = 1e-9
"""Relative difference of equal numbers: another processor may round the last digits differently."""

EXIT_DIFFERS = 1
"""Exit code of a check that finds a difference."""


@click.command("certify", cls=Command)
@click.argument("document", type=FILE)
@click.option("--output", "-o", type=FILE, help="Write the certificate: JSON, and a page to sign next to it, as .html.")
@click.option("--check", "earlier", type=FILE, help="Run the audit again and compare it with this certificate.")
@click.option("--of", "word", metavar="AUDIT", help="Audit of the document, such as graph (default: its only audit).")
@click.option("--force", is_flag=True, help="Overwrite the certificate and its page.")
@language_option
def certify(
    document: Path, output: Path | None, earlier: Path | None, word: str | None, force: bool, language: Language
) -> None:
    r"""Run the audit of a document, and write or check a certificate to sign.

    The page shows the section [certificate] of the document. Missing entries stay blank. --check exits with 1 if a
    digest, a condition, the version, a number or the page differs.

    \b
    unmask certify unmask.toml -o certificate.json
    unmask certify unmask.toml --check certificate.json
    """
    if (output is None) == (earlier is None):
        raise click.UsageError("give --output to write a certificate, or --check to compare with one")
    if output is not None and output.suffix != ".json":
        raise click.UsageError(f"{output} is not a name of a JSON file; a certificate ends with .json")
    page = output and output.with_suffix(".html")
    refuse_to_overwrite(output, page, force=force)
    text = _run_audit(document, word)
    if earlier is not None:
        _check(earlier, json.loads(text))
    elif output is not None and page is not None:
        import hashlib

        from unmask.render.certificate import certificate

        digest = hashlib.sha256(text.encode()).hexdigest()
        write_texts({output: text, page: certificate(json.loads(text), digest, language)})
        print_line(f"wrote {output}", err=True)
        print_line(f"wrote {page}", err=True)


def _run_audit(path: Path, word: str | None) -> str:
    """Return the JSON of the audit, with the owner's words about the release."""
    from unmask.document import list_audits, read_certificate
    from unmask.studies.reading import checked_document

    document = checked_document(path)
    command = _choose_audit(list_audits(document), word)
    printed, root = io.StringIO(), click.get_current_context().find_root().command
    with redirect_stdout(printed):
        code = root.main([*command, str(path), "--json"], prog_name="unmask", standalone_mode=False)
    if code not in (None, 0, EXIT_ABOVE):
        raise click.exceptions.Exit(code)
    result = json.loads(printed.getvalue())
    if texts := read_certificate(document):
        result["tables"]["certificate"] = [{"what": key, "said": text} for key, text in texts.items()]
    return json.dumps(result, indent=1) + "\n"


def _choose_audit(audits: list[str], word: str | None) -> list[str]:
    """Return the words of the command of the only audit that a document describes, or of the one with a word."""
    from unmask.document import list_domain_words

    names = [audit or "table" for audit in audits]
    chosen = [name for name in names if word in (None, name)]
    if len(chosen) != 1:
        options = " or ".join(chosen or ["table", *list_domain_words().values()])
        kind = f" called {word}" if word else ""
        raise UnmaskError(f"the document asks for {len(chosen)} audits{kind}, expected one; say --of {options}")
    return ["audit"] if chosen == ["table"] else ["audit", chosen[0]]


def _check(path: Path, current: Any) -> None:
    """Print the differences of a certificate from the current audit; exit 1 if there are any."""
    earlier = read_json(path, "certificate")
    compared = [*_compare("", earlier, current), *_compare_page(path, earlier)]
    differences = [line for line in compared if line]
    for line in differences:
        print_line(line)
    if differences:
        print_line(f"{path} differs: {len(differences):,} of {len(compared):,} values are not the same")
        raise click.exceptions.Exit(EXIT_DIFFERS)
    print_line(f"{path} is confirmed: all {len(compared):,} values are the same")


def _compare_page(path: Path, earlier: Any) -> Iterator[str]:
    """Compare the page next to a certificate: rendered again by the same version, else by the digest that it states."""
    from unmask.render.certificate import certificate, read_language
    from unmask.version import __version__

    page, digest = path.with_suffix(".html"), hash_file(path)
    if not page.exists():
        print_line(f"{page.name} does not exist: no page was checked", err=True)
        return
    try:
        text = read_text(page)
        rendered = certificate(earlier, digest, read_language(text))
        is_equal = text == rendered if earlier["unmask"] == __version__ else digest in text
    except (OSError, LookupError, TypeError, ValueError, AttributeError):
        is_equal = False
    yield "" if is_equal else f"{page.name}: not the page of {path.name}, whose SHA-256 is {digest}"


NAMES = ("release", "adversary", "target", "measure", "policy", "condition", "column", "name", "what")
"""Keys whose values name a line of a table."""

MAX_SHOWN_CHARACTERS = 40
"""Longest text that is shown if it differs; a digest is not."""


def _compare(place: str, earlier: Any, current: Any) -> Iterator[str]:
    """Yield "" for each equal value of two certificates, and a line for each difference."""
    if isinstance(earlier, dict) and isinstance(current, dict):
        for key in dict.fromkeys([*earlier, *current]):
            inner = f"{place}, {key}" if place and place != "tables" else key
            yield from _compare(inner, earlier.get(key), current.get(key))
    elif isinstance(earlier, list) and isinstance(current, list):
        if len(earlier) != len(current):
            yield f"{place}: {len(earlier):,} lines in the certificate, {len(current):,} now"
            return
        for position, (earlier_line, current_line) in enumerate(zip(earlier, current, strict=True)):
            yield from _compare(f"{place}, {_name_line(earlier_line, position)}", earlier_line, current_line)
    elif _is_number(earlier) and _is_number(current):
        is_close = math.isclose(earlier, current, rel_tol=CLOSE, abs_tol=CLOSE * CLOSE)
        yield "" if is_close else f"{place}: {earlier:.9g} in the certificate, {current:.9g} now"
    else:
        is_equal = earlier == current and type(earlier) is type(current)
        yield "" if is_equal else f"{place}: {_describe_change(earlier, current)}"


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (type(value) is int and abs(value) < 2**1000)  # fits a float


def _name_line(line: Any, position: int) -> str:
    """Return the name of a line of a table, or else its number."""
    names = [line[key] for key in NAMES if isinstance(line.get(key), str)] if isinstance(line, dict) else []
    return ", ".join(filter(None, names)) or str(position)


def _describe_change(earlier: Any, current: Any) -> str:
    texts = (earlier, current)
    is_short = all(isinstance(text, str) and 0 < len(text) <= MAX_SHOWN_CHARACTERS for text in texts)
    return f"{earlier} in the certificate, {current} now" if is_short else "not the same"
