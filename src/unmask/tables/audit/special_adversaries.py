"""Findings about the adversary who reads the row order, and about the insider who knows sensitive values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unmask.findings.row_words import row_estimate
from unmask.findings.sentences import describe_result, select_leading
from unmask.results import Block, Row
from unmask.results.formats import percent
from unmask.results.names import APART, IDENTITY, INSIDER, ORDER_READER
from unmask.results.preferred_rows import PreferredRows
from unmask.results.words import join_names, start_with_release


def special_blocks(heads: PreferredRows[Row], release: str, *, several: bool) -> Iterator[Block]:
    """Yield a sentence about each of these adversaries, on one release; none about an order that leads the findings."""
    scored = {key[1:]: row for key, row in heads.items() if key[0] == release}
    order = scored.get((ORDER_READER, IDENTITY))
    if order is not None and (release, ORDER_READER, IDENTITY) not in select_leading(heads):
        sentence = f"an adversary who has the original and reads only the row order {describe_result(order)}."
        yield Block("order", "The row order", start_with_release(sentence, release, several=several))
    for sentence in _describe_insider(scored):
        yield Block("insider", "The insider", start_with_release(sentence, release, several=several))


def _describe_insider(heads: Mapping[tuple[str, str], Row]) -> Iterator[str]:
    """Yield that sensitive columns are quasi-identifiers of each other for an adversary who knows one."""
    row = heads.get((INSIDER, IDENTITY))
    if row is not None:
        yield f"an insider who also knows the sensitive values {describe_result(row)}."
    inferred = []
    for (adversary, target), row in heads.items():
        scores = [head.posterior for (name, about), head in heads.items() if about == target and name not in APART]
        if adversary == INSIDER and target != IDENTITY and row.posterior > max(scores, default=1.0):
            inferred.append(f"{target} for {row_estimate(row)} of people ({percent(max(scores))} without them)")
    if inferred:
        yield f"an insider who knows the other sensitive values infers {join_names(inferred)}."
