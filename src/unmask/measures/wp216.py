"""Singling out and linkability, which the Article 29 Working Party asks of every release beside inference.

Opinion 05/2014 on anonymisation techniques (WP216), section 2.
"""

from __future__ import annotations

from dataclasses import replace

from unmask.measures.base import Measure
from unmask.measures.registry import Quantity, declare
from unmask.measures.success import realized_success

singled_out = declare(
    Quantity(
        "singled_out",
        "Singled out",
        "share of the adversary's guesses that fit exactly one person of the table",
        "share",
        range=(0.0, 1.0),
        source='A. Cohen & K. Nissim, "Towards formalizing the GDPR\'s notion of singling out", PNAS 2020',
        needs_truth=True,
    )
)

singled_out_of_as_many = declare(
    replace(
        singled_out,
        name="singled_out_of_as_many",
        label="Singled out, of as many",
        meaning="the same of as many people of the table, drawn at random, as there are control people to compare",
    )
)

parts_linked = declare(
    Measure(
        name="parts_linked",
        label="Parts linked",
        meaning="share of people of whose record one part is linked to the right other part",
        unit="share",
        range=(0.0, 1.0),
        source='M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023',
        of_places=realized_success.of_places,
        rate=True,
    )
)
"""The probability that the best guess of the other part is right, ties shared, as `realized_success` has it."""
