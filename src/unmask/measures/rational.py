"""What a rational attacker does with a belief: what the numbers are called that `unmask.audit.price_measures` takes."""

from __future__ import annotations

from unmask.measures.registry import Quantity, declare

SOURCE = "W. Xia et al., 'Process-driven data privacy', 2015, sections 4 and 5"

RATIONAL = tuple(
    declare(one)
    for one in (
        Quantity(
            "rational_access",
            "Worth attacking",
            "share of people whom a rational attacker attacks, each for themselves",
            "share",
            range=(0.0, 1.0),
            source=SOURCE,
        ),
        Quantity(
            "rational_success",
            "Re-identified by a rational attacker",
            "probability that they re-identify the person while they do what pays",
            "probability",
            range=(0.0, 1.0),
            source=SOURCE,
        ),
        Quantity(
            "realized_rational_success",
            "Re-identified by a rational attacker",
            "share of people whom their plans re-identify, played out against the truth",
            "probability",
            range=(0.0, 1.0),
            source=SOURCE,
            realizes="rational_success",
            needs_truth=True,
        ),
        Quantity(
            "rational_payoff", "Rational payoff", "what attacking the person is worth to them", "money", source=SOURCE
        ),
        Quantity(
            "rational_tries", "Rational tries", "candidates they try to re-identify the person", "tries", source=SOURCE
        ),
        Quantity(
            "campaign_success",
            "Re-identified by one campaign",
            "largest probability that the best campaign of one rational attacker against all re-identifies a person",
            "probability",
            range=(0.0, 1.0),
            source=f"{SOURCE}, for all targets together",
        ),
    )
)
"""The numbers of `unmask.economics` about each person: access, success, realized success, payoff, tries, campaign."""
