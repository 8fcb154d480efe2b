"""The publisher and the moves of the game: protected releases, terms of access, and the attackers who respond."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from numpy.typing import ArrayLike

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import LARGEST, Amount, Attacker, Share, Whole, check_fields
from unmask.economics.campaigns.bounds import Bounds
from unmask.economics.game.best_response import Response
from unmask.economics.plans.groups import TargetInput, merge_equal_targets
from unmask.ranges import CheckedParameters, Range, check_ranges


@dataclass(frozen=True, kw_only=True)
class Publisher:
    """The publisher's benefit of a release, and their losses.

    Parameters
    ----------
    benefit : float
        Worth of the unprotected data. A protected release keeps the share `ProtectedRelease.utility` of it.
    loss : float
        Loss for every re-identified person, again for each attacker who re-identifies them.
    penalty : float
        A regulator's fine, due for every attacker who re-identifies at least `threshold` people.
    threshold : int
        Number of people from which the penalty is due.
    audit_cost : float
        Cost of audits at the present rate, `Terms.audit` 1; alpha times as much at a rate of alpha.
    recovered : float
        Share of the contractual fines that the publisher receives, 0 to 1.
    fees : bool
        True if the price that attackers pay counts as income.
    """

    benefit: Amount
    loss: Amount
    penalty: Amount = 0.0
    threshold: Whole = 1
    audit_cost: Amount = 0.0
    recovered: Share = 0.0
    fees: bool = False

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The publisher's terms for everybody who accesses the release.

    Parameters
    ----------
    price : float
        a, paid once for access, in addition to the price of outside data.
    fine : float
        phi, contractual, for every detected try, in addition to the fine that the attacker faces anyway. The cap on
        fines holds for both.
    audit : float
        alpha above 0: every probability of detection becomes min(1, alpha q).
    """

    price: Amount = 0.0
    fine: Amount = 0.0
    audit: Annotated[float, Range(0, LARGEST, above=True)] = 1.0

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, eq=False)
class ProtectedRelease(CheckedParameters):
    """The release of one protection, as attackers see it.

    Parameters
    ----------
    targets : (n,) array_like of int, Posterior, or dict of str to these
        Group sizes, or the belief of an attack; by kind of attacker if kinds differ.
    utility : float
        Share of the benefit that remains, 0 to 1.
    people : (n,) array_like of int, optional
        Number of people behind each target, see `campaign`.
    """

    targets: TargetInput | Mapping[str, TargetInput]
    utility: Share = 1.0
    people: ArrayLike | None = None

    def targets_of(self, kind: str) -> TargetInput:
        """Return the targets of a kind of attacker."""
        return self.targets[kind] if isinstance(self.targets, Mapping) else self.targets

    def merged_targets_of(self, kind: str) -> tuple[TargetInput, ArrayLike | None]:
        """Return the distinct targets of a kind of attacker, and the number of people behind each."""
        return self._merged[id(self.targets_of(kind))]

    @cached_property
    def _merged(self) -> dict[int, tuple[TargetInput, ArrayLike | None]]:
        inputs = self.targets.values() if isinstance(self.targets, Mapping) else [self.targets]
        return {id(targets): merge_equal_targets(targets, self.people) for targets in inputs}


@dataclass(frozen=True)
class AttackerKind:
    """A kind of attacker, and the expected number of such attackers; each one plays alone.

    Parameters
    ----------
    attacker : Attacker
        The attacker with the detection that they believe in.
    number : float
        Expected number of attackers.
    actual : Attacker, optional
        The attacker with the actual detection; None if the belief is right.
    """

    attacker: Attacker
    number: Amount = 1.0
    actual: Attacker | None = None

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.attacker.is_uncertain and self.actual is not None:
            raise UnmaskError(
                "believed_detection is not weighed together with detection_prior or false_alarms; leave out one of them"
            )


@dataclass(frozen=True)
class Move:
    """One protection at some terms, the responses of the attackers, and the publisher's payoff.

    Parameters
    ----------
    protection : str
        Name of the protection.
    terms : Terms
        Terms of access.
    payoff : Bounds
        Benefit less audits and losses; equal bounds if every response is known.
    responses : dict of str to Response
        Kind of attacker -> response.
    """

    protection: str
    terms: Terms
    payoff: Bounds
    responses: Mapping[str, Response]
