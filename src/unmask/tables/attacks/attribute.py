"""Attribute inference: through whoever the target may be, what is his sensitive value?"""

from __future__ import annotations

from dataclasses import dataclass, field

from unmask.errors import UnmaskError
from unmask.inference import compose
from unmask.posterior import Posterior
from unmask.tables.attacks.classes import ClassAttack
from unmask.tables.attacks.noisy import BayesAttack, NearestNeighbour
from unmask.tables.release import Table

Linker = ClassAttack | BayesAttack | NearestNeighbour


@dataclass(frozen=True)
class AttributeInference:
    """What is the target's value of a sensitive column? p(s given y) = sum over records x of p(x given y) [x has
    value s].

    The link is any attack whose candidates are released records; over an equivalence class the answer is the class's
    own histogram. A target believed absent gets the histogram of the whole release, which is also the prior.

    sensitive : the column
    link      : how the adversary finds the target's record

    >>> AttributeInference("diagnosis")
    AttributeInference(sensitive='diagnosis', link=ClassAttack(prior_present=1.0))

    Rebollo-Monedero et al. 2012, section V-A1 (l-diversity) and V-B1 (t-closeness).
    """

    sensitive: str
    link: Linker = field(default_factory=ClassAttack)

    def __call__(self, release: Table, auxiliary: Table | None = None) -> Posterior:
        """The belief about the sensitive value of each person of the auxiliary table."""
        if auxiliary is None and not isinstance(self.link, ClassAttack):
            raise UnmaskError(f"{self.link!r} needs auxiliary data and none were given; only ClassAttack does without")
        return self.through(self.link(release, auxiliary), release)  # type: ignore[arg-type]  # checked above

    def through(self, link: Posterior, release: Table) -> Posterior:
        """The belief that follows from one about records that is there already, made by `link`."""
        column = release.column(self.sensitive)
        return compose(link, column.codes, labels=column.levels.labels, provenance={"attack": repr(self)})
