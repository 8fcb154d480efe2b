"""What was counted about the columns of releases, as a report shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from unmask.facts import ColumnFacts, Count, Printed, Restored
from unmask.reports.subject import Subject
from unmask.results.suppression import round_people


@dataclass(frozen=True)
class Exposure(Subject):
    """By release: what each column gives away, which generalized cells others restore, which exact values are printed.

    restored : only of releases whose original and origin were given
    """

    name: ClassVar = "exposure"
    kind: ClassVar = "Table audit"
    shown_by: ClassVar = "unmask.reports.sections.exposure"
    before: ClassVar = "utility"

    columns: Mapping[str, tuple[ColumnFacts, ...]] = field(default_factory=dict)
    restored: Mapping[str, tuple[Restored, ...]] = field(default_factory=dict)
    printed: Mapping[str, tuple[Printed, ...]] = field(default_factory=dict)

    def without_small(self, least: int) -> Exposure:
        """Rows that a column singles out, and people who are seen to be inside, in multiples of `least`."""

        def told(count: Count | None) -> Count | None:
            return None if count is None else round_people(count, least)

        def column(one: ColumnFacts) -> ColumnFacts:
            return replace(
                one,
                missing=round_people(one.missing, least),
                alone=round_people(one.alone, least),
                together=told(one.together),
            )

        return Exposure(
            columns={name: tuple(map(column, own)) for name, own in self.columns.items()},
            restored={name: tuple(one for one in own if one.cells >= least) for name, own in self.restored.items()},
            printed={
                name: tuple(replace(one, alone=told(one.alone)) for one in own) for name, own in self.printed.items()
            },
        )
