"""The command line: commands read files, call one function, write files, and print what they did."""

from __future__ import annotations

import click

from unmask.cli.advise import advise
from unmask.cli.aggregates import protect_aggregates
from unmask.cli.certify import certify
from unmask.cli.check import check
from unmask.cli.choose import choose, choose_columns
from unmask.cli.columns import columns
from unmask.cli.demo import demo, list_
from unmask.cli.design import design
from unmask.cli.deter import deter
from unmask.cli.game import game
from unmask.cli.group import UnmaskGroup
from unmask.cli.init import init
from unmask.cli.look import look
from unmask.cli.networks import advise_identity, protect_graph
from unmask.cli.new import new
from unmask.cli.open import open_
from unmask.cli.price import price
from unmask.cli.protect import protect
from unmask.cli.report import report
from unmask.cli.study import study


@click.group(cls=UnmaskGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="unmask", message="unmask %(version)s")
def main() -> None:
    r"""Attack a data release as a real adversary would, before anyone else does.

    \b
    unmask look people.csv
    unmask protect people.csv -q age,sex,zip -s diagnosis --k 10 -o release.csv --origin origin.csv
    unmask audit release.csv -q age,sex,zip -s diagnosis --original people.csv --origin origin.csv --report out.html
    """


for command in (
    init, advise, advise_identity, certify, check, choose, choose_columns, columns, demo, design, deter,
    game, list_, look, new, open_, price, protect, protect_aggregates, protect_graph, report, study,
):  # fmt: skip
    main.add_command(command)
