"""What was counted about the columns of releases, as a report shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from unmask.facts import ColumnFacts, Printed, Restored

COLUMNS = "all columns"
"""The adversary who knows every released column that is not sensitive."""

INSIDER = "insider"
"""The adversary who knows the sensitive columns, too, but for the one asked for."""

APART = frozenset({INSIDER})
"""Adversaries who know to begin with what others are to learn: none of their rows leads the findings, and a gate or a
summary speaks of them only where they are named.
"""

ORDER = "order"
"""The adversary who reads the order of the rows, and nothing else."""


@dataclass(frozen=True)
class Exposure:
    """By release: what each column gives away, which generalized cells others restore, which exact values are printed.

    restored : only of releases whose original and origin were given
    """

    columns: Mapping[str, tuple[ColumnFacts, ...]] = field(default_factory=dict)
    restored: Mapping[str, tuple[Restored, ...]] = field(default_factory=dict)
    printed: Mapping[str, tuple[Printed, ...]] = field(default_factory=dict)
