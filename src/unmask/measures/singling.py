"""What is measured of predicates that an adversary states about one person, see `unmask.tables.singling`."""

from __future__ import annotations

from unmask.measures.registry import Quantity, declare

singled_out = declare(
    Quantity(
        "singled_out",
        "Singled out",
        "share of the adversary's predicates that exactly one person of the release satisfies",
        "share",
        range=(0.0, 1.0),
        source='A. Cohen & K. Nissim, "Towards formalizing the GDPR\'s notion of singling out", PNAS 2020',
        needs_truth=True,
    )
)
