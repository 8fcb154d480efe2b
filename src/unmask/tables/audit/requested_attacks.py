"""Attacks that a user adds to the standard adversaries of an audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from unmask.core.errors import NotRunError, UnmaskError
from unmask.measures.names import equal_cells
from unmask.results import Row
from unmask.results.names import IDENTITY, MEMBERSHIP
from unmask.scoring import Audit
from unmask.tables.attacks import Linkability, MechanismAttack, SeveralRows, SinglingOut, StringLinkage
from unmask.tables.attacks.strings import EqualCells
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.audit.linked_rows import attack_person
from unmask.tables.audit.perturbed import refuse_perturbed
from unmask.tables.table import Table

TEXT_EQUALITY = "text equality finds nothing in generalized cells"
"""Caution about a linkage by equal strings."""


def check_attacks(attacks: Mapping[str, Any]) -> None:
    """Raise an error for an attack that needs more than people and a release."""
    for name, attack in attacks.items():
        needs_more = isinstance(attack, SinglingOut | Linkability | SeveralRows | MechanismAttack)
        if needs_more or getattr(attack, "asks", "") == MEMBERSHIP:
            raise UnmaskError(
                f"{name} needs more than people and a release. Every audit runs it with its default parameters if "
                "its tables were given; a study with [[adversaries]] sets others"
            )


def run_requested_attacks(scene: AttackedRelease, attacks: Mapping[str, Any], seed: int) -> Iterator[AttackRun | Audit]:
    """Yield the belief of each attack, as in a study, or the reason why it is not run.

    Parameters
    ----------
    scene : AttackedRelease
        Release, with the people known.
    attacks : mapping
        Name of the adversary -> attack.
    seed : int
        Seed of attacks that draw.
    """
    for name, attack in attacks.items():
        try:
            refuse_perturbed(scene, attack)
            yield attack_person(scene, name, attack, np.random.default_rng(seed))
        except NotRunError as error:
            yield Audit((), ((f"The attack {name} on {scene.release}", str(error)),))
            continue
        if isinstance(attack, StringLinkage) and attack.neighbors is not None:
            assert scene.background is not None
            counted = attack.count_equal_cells(scene.table, scene.background)
            yield Audit((_make_row(scene, name, counted),))


def _make_row(scene: AttackedRelease, adversary: str, counted: EqualCells) -> Row:
    """Return the count of equal cells as a row."""
    assert scene.known is not None
    n, value = len(scene.known.person), float(counted.equal)
    note = f"of {counted.compared:,} compared cells; {counted.linked:,} of {n:,} people are linked"
    return Row.of_number(
        value, release=scene.release, adversary=adversary, target=IDENTITY, measure=equal_cells.name,
        unit=equal_cells.unit, direction=equal_cells.direction, n=n, quantiles=(value,) * 5,
        interval="none: a count of cells", status="scores", note=note,
    )  # fmt: skip


def has_generalized_cells(table: Table) -> bool:
    """Return whether a quasi-identifier has a cell that stands for several values."""
    return any(bool((column.levels.is_set & (column.counts > 0)).any()) for column in table.quasi_identifiers)
