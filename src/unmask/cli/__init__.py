"""The command line: commands read files, call one function, write files, and print what they did."""

from __future__ import annotations

import click

from unmask.cli.group import UnmaskGroup


@click.group(cls=UnmaskGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="unmask", message="unmask %(version)s")
def main() -> None:
    r"""Attack a data release as a real adversary would, before anyone else does.

    \b
    unmask look people.csv
    unmask protect people.csv -q age,sex,zip -s diagnosis --k 10 -o release.csv --origin origin.csv
    unmask audit release.csv -q age,sex,zip -s diagnosis --original people.csv --origin origin.csv --report out.html
    """
