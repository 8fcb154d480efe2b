"""Attack a data release as a real adversary would, and say what he gets.

    An attack turns a release, and what the adversary already knows, into a belief about each target.
    The truth never passes through it.

Every attack, on any kind of release, yields a `Posterior`; every measure applies to it; `audit` is the one place where
a belief meets the `Truth`. Which items belong together is a `Partition`, or a `View` over several. The kinds of release
live in wings of their own: `unmask.tables`, `unmask.pseudonyms`.
"""

from unmask.audit import Audit, audit
from unmask.errors import FailedError, UnmaskError
from unmask.posterior import Posterior
from unmask.results import Row
from unmask.truth import ABSENT, UNKNOWN, Truth
from unmask.view import Partition, View

__version__ = "0.1.0"

__all__ = [
    "ABSENT",
    "UNKNOWN",
    "Audit",
    "FailedError",
    "Partition",
    "Posterior",
    "Row",
    "Truth",
    "UnmaskError",
    "View",
    "audit",
]
