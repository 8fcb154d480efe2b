"""Audit of badges: an adversary sees painted colors and guesses the original ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from tests.badges import Badges, Look
from tests.badges.page import color_block, color_table
from unmask import Truth
from unmask.core.signatures import with_parameters
from unmask.domains import name_files, name_releases
from unmask.ranges import Range
from unmask.results import Result
from unmask.scoring import REALIZED, SELF_ASSESSED, score

DATASET, ADVERSARY, COLUMNS, ROLES = {}, {"trusting": float}, (), {}
MEASURES = tuple(measure.name for measure in SELF_ASSESSED + REALIZED)


def audit(release, *, truth: Badges | None = None, trust: Annotated[float, Range(0, 1)] = 0.9) -> Result:
    """Guess the original colors of badges.

    trust : share of the people who show their own color
    """
    releases = name_releases(release)
    rows = [row for name, badges in releases.items() for row in _rows(name, "looker", badges, truth, Look(trust))]
    table = color_table(next(iter(releases.values())))
    return Result(
        title="Audit of badges",
        kind="Badge audit",
        command="audit badges",
        setting="An adversary sees the badges of people and guesses their colors.",
        headline="",
        rows=tuple(rows),
        facts=(table,),
        blocks=(color_block(table),),
        preferred_measures=("realized_success", "success_probability"),
    )


@with_parameters(audit, only=("trust",))
def audit_files(releases: Sequence[Path], *, truth: Path | None = None, **options) -> Result:
    """Guess the original colors of badges.

    truth : file of the colors that people have
    """
    badges_by_name = dict(zip(name_files(releases), map(Badges.read, releases), strict=True))
    return audit(badges_by_name, truth=None if truth is None else Badges.read(truth), **options)


def _rows(name, adversary, badges, people, attack):
    truth = None if people is None else Truth(people.color)
    return score(attack(badges), truth, release=name, adversary=adversary, target="color").rows


def check(adversary):
    """Accept every adversary."""


def columns(file):
    """Return no columns: a file of badges has none."""
    return []


def load(dataset, made_from):
    """Return the badges, or read them from a file."""
    return Badges.read(made_from) if isinstance(made_from, Path) else made_from


def protect(population, protection, rng):
    """Return the shown badges."""
    return population if protection is None else protection(population, rng=rng)


def attack(cell, population, released, attack):
    """Return the rows of an adversary in a run of a study."""
    rows = _rows(cell.protection.name, cell.adversary.name, released, population, attack)
    return [row for row in rows if cell.wants(row.measure)]
