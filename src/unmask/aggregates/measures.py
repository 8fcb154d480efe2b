"""Names and definitions of the measures of published tables."""

from __future__ import annotations

from unmask.measures.registry import Quantity, declare

AREAS_RECONSTRUCTED = declare(
    Quantity("areas_reconstructed", "Areas with one solution",
             "share of areas whose tables fit only one set of records", "share", range=(0.0, 1.0))
)  # fmt: skip
RECORDS_RECONSTRUCTED = declare(
    Quantity("records_reconstructed", "Records reconstructed",
             "expected share of an area's records that a reconstruction has, too", "share", range=(0.0, 1.0),
             needs_truth=True)
)  # fmt: skip
VALUES_CERTAIN = declare(
    Quantity("values_certain", "Certain values",
             "share of people whose sensitive value is the same in all records that fit the tables", "share",
             range=(0.0, 1.0))
)  # fmt: skip
