"""Clusters of items: how many subjects are breached, how near the others are, and what may be done."""

from __future__ import annotations

import math
from collections.abc import Iterator

from unmask.reports.data import Scope
from unmask.reports.facts.linkage import GuessLinkage, Linkage
from unmask.reports.few import few
from unmask.reports.findings.linkage import share_of, strongest_first, threshold
from unmask.reports.parts import Advice, AtRisk
from unmask.reports.words import percent

RENAME = (
    "No change was tried: clusters do not say how the pseudonyms were made. A study (unmask study) tries new ones for "
    "each period:"
)


def at_risk(linkage: Linkage, scope: Scope) -> AtRisk:
    """How many subjects the strongest guess breaches; of a view one partition alone, where that is more."""
    best = strongest_first(linkage)[0]
    alone = best.one_by_one.get("breached", 0.0)
    count = few(round(max(alone, best.breached) * linkage.counted), scope.data.least)
    by = " by one partition, on average" if alone > best.breached else ""
    what = "their own share of the items is" if "beta" in linkage.own else f"{threshold(linkage.beta)} of each are"
    said = f"of {linkage.counted:,} subjects are breached{by}: {what} in one cluster"
    big = f"at most {count}" if best.at_least else count if isinstance(count, str) else f"{count:,}"
    return AtRisk(big, said, facts=tuple(_facts(best)))


def _facts(best: GuessLinkage) -> Iterator[tuple[str, str]]:
    if best.one_by_one:
        yield "By all together", f"{percent(best.breached)}, by the share of items that they link on average"
        yield (
            "Alone",
            f"{percent(best.one_by_one['clean'])} by one partition: in a cluster with no item of anybody else",
        )
    else:
        yield "Alone", f"{share_of(best, 'clean')}: in a cluster with no item of anybody else"
    if not math.isnan(best.recovered):
        yield "Wholly", f"{percent(best.recovered)}: all of their items, and nothing else"
    if not math.isnan(best.one_away) and not best.one_by_one:  # of a view it is of all partitions together
        yield "Nearly", f"{percent(best.one_away)} more, once the adversary joins one more cluster"


def advice(_: Linkage, scope: Scope) -> Advice | None:
    """Nothing can be tried with what was given; a study can."""
    if {one.state for one in scope.data.verdicts} == {"acceptable"}:
        return None
    return Advice(RENAME, '[[protections]]\nuse = "linkage.PerPeriod"\ngrid = { length = [0.25, 0.5] }')
