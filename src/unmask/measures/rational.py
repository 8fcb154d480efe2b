"""What a rational attacker does with a belief: what the numbers are called that `unmask.audit.price_measures` takes."""

from __future__ import annotations

from unmask.measures.registry import Quantity, declare

SOURCE = "W. Xia et al., 'Process-driven data privacy', 2015, sections 4 and 5"


def _share(name: str, label: str, meaning: str, *, realizes: str = "", more: str = "") -> Quantity:
    unit = "share" if name == "rational_access" else "probability"
    source, truth = SOURCE + more, bool(realizes)
    return declare(
        Quantity(name, label, meaning, unit, range=(0.0, 1.0), source=source, realizes=realizes, needs_truth=truth)
    )


REIDENTIFIED = "Re-identified by a rational attacker"

ACCESS = _share(
    "rational_access", "Worth attacking", "share of people whom a rational attacker attacks, each for themselves"
)
SUCCESS = _share(
    "rational_success", REIDENTIFIED, "probability that they re-identify the person while they do what pays"
)
REALIZED = _share(
    "realized_rational_success",
    REIDENTIFIED,
    "share of people whom their plans re-identify, played out against the truth",
    realizes="rational_success",
)
PAYOFF = declare(
    Quantity("rational_payoff", "Rational payoff", "what attacking the person is worth to them", "money", source=SOURCE)
)
TRIES = declare(
    Quantity("rational_tries", "Rational tries", "candidates tried to re-identify the person", "tries", source=SOURCE)
)
CAMPAIGN = _share(
    "campaign_success",
    "Re-identified by one campaign",
    "largest probability that the best campaign of one rational attacker against all re-identifies a person",
    more=", for all targets together",
)
