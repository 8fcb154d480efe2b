"""A release is attacked by somebody who knows the protection that made it, all but its random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.audit import Audit
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.tables.attacks import AttributeInference, MechanismAttack
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import MECHANISM, AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.background import Attack, Background, Rng
from unmask.tables.table import Table

MOST, PAIRS = 1000, 20_000_000
"""People at most who are asked about row by row, and beyond the first hundred, pairs of a person and a row."""

ROUNDING = 1e-9
"""By which two probabilities differ that are the same."""

DECLARED = ("row_kernel", "fits", "coordinates")
"""Methods by which a protection says how likely its rows are."""

WHO = "An adversary who knows what made {}"

DRAWN = "{:,} people drawn at random were looked for"

SAME = "finds what the prosecutor finds: the cells say which rows can be whose"


def by_mechanism(scene: AttackedRelease, evidence: AuditorKnowledge) -> Iterator[AttackRun | Audit]:
    """Whose record is whose, and who has which value, for them; nothing where that is what the prosecutor finds."""
    protection = evidence.protections.get(scene.release)
    if protection is None or scene.known is None or scene.foreign:
        return
    some = fewer(scene, evidence.seed)
    if why := _unasked(protection, some):
        yield Audit((), ((WHO.format(scene.release), why),))
        return
    attack = Seeded(MechanismAttack(protection))
    link = attack(some.table, some.background)
    assert some.known is not None
    yield some.identity(MECHANISM, link, DRAWN.format(some.known.n_people))
    for column in some.table.sensitive:
        yield some.value(MECHANISM, AttributeInference(column.name, link=attack), link)


def _unasked(protection: Any, scene: AttackedRelease) -> str:
    """Why they are not asked, if they are not."""
    if not declares(protection):
        return f"{named(protection)} does not say how likely its rows are ({', '.join(DECLARED)})"
    try:
        return SAME if tells_no_more(protection, scene) else ""
    except UnmaskError as error:
        return str(error)


@dataclass(frozen=True)
class Seeded:
    """An attack that simulates with the same random numbers, whomever it is asked about."""

    attack: Attack

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002
        """The belief."""
        return self.attack(release, knowledge, rng=np.random.default_rng(0))


def declares(protection: Any) -> bool:
    """Whether a protection says how likely its rows are."""
    return any(hasattr(protection, name) for name in DECLARED)


def named(protection: Any) -> str:
    """What it is called; its parameters may undo what it did, and are never said."""
    return type(protection).__name__


def tells_no_more(protection: Any, scene: AttackedRelease) -> bool:
    """Whether who knows the protection believes of each person what the prosecutor believes, record by record."""
    one, other = Seeded(MechanismAttack(protection))(scene.table, scene.background), scene.link().expand_classes()
    pairs = np.unique([one.observation, other.observation], axis=1)
    apart = abs(_listed(one, pairs[0]) - _listed(other, pairs[1]))
    return apart.max() <= ROUNDING and np.allclose(one.unlisted[pairs[0]], other.unlisted[pairs[1]], 0, ROUNDING)


def _listed(belief: Posterior, observations: NDArray[np.int64]) -> Any:
    """(n_observations, n_candidates) sparse: the probabilities that are listed."""
    shape = (belief.n_observations, belief.n_candidates)
    chance = np.exp(belief.log_probability, dtype=np.float64)
    return csr_array((chance, belief.candidate, belief.indptr), shape=shape)[observations]


def at_most(n_rows: int) -> int:
    """How many people are asked about row by row; half of them are left as the others, by whom a row is judged."""
    return min(MOST, max(PAIRS // n_rows, 100), max(n_rows // 2, 1))


def drawn(n: int, some: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Some of n, in their order."""
    return np.sort(rng.choice(n, min(n, some), replace=False))


def fewer(scene: AttackedRelease, seed: int) -> AttackedRelease:
    """The scene with as many people, and control people, as are asked about row by row."""
    assert scene.known is not None
    rng, n = np.random.default_rng(seed), at_most(scene.table.n_rows)
    known = scene.known.some(n, rng)
    if scene.control is None:
        return replace(scene, known=known)
    aside = drawn(len(scene.control.person), n, rng)
    weight = None if scene.weight is None else scene.weight[aside] / scene.weight[aside].sum()
    return replace(scene, known=known, control=scene.control.take(aside), weight=weight)
