"""What samples of a system show: its leakage, corrected for chance, beside what adversaries learned from them."""

from __future__ import annotations

from unmask.reports.data import Scope
from unmask.reports.facts.channel import SampledLeakage, SampledRisk
from unmask.reports.parts import Advice, Section, grid, lead, parts
from unmask.reports.words import number, release_name

HEAD = ("System", "Samples", "Leakage (bits)", "At least", "At most", "Counted", "By chance", "p-value")

LEAD = "Shares of few samples seem to leak where nothing does: what chance shows is taken off what was counted."


def section(risk: SampledRisk, scope: Scope) -> Section:
    """Return the section of a page."""
    table = grid(HEAD, map(_line, risk.leakages))
    return Section("samples", "What the samples show", parts(lead(LEAD), table), findings(risk, scope)[0], open=True)


def findings(risk: SampledRisk, scope: Scope) -> list[str]:  # noqa: ARG001 - as every subject is asked
    """Return the leakage of each system, a sentence each."""
    return [_finding(one) for one in risk.leakages]


def advice(risk: SampledRisk, scope: Scope) -> Advice:  # noqa: ARG001
    """Return how to learn more."""
    said = "More samples narrow the interval. If the probabilities are known, audit the channel itself:"
    return Advice(said, "unmask audit channel CHANNEL.csv --report page.html")


def _finding(one: SampledLeakage) -> str:
    said = f"{release_name(one.name)} leaks {number(one.leakage_bits, 3)} bits, at most {number(one.high, 3)}"
    if one.p_value <= SIGNIFICANT:
        return f"{said}, by {one.samples:,} samples."
    return f"{said}: {one.samples:,} samples do not show that anything leaks, which is no proof that nothing does."


SIGNIFICANT = 0.05
"""Largest p-value at which samples show that something leaks."""


def _line(one: SampledLeakage) -> tuple[str, ...]:
    numbers = (one.leakage_bits, one.low, one.high, one.counted, one.by_chance, one.p_value)
    return (release_name(one.name), f"{one.samples:,}", *(number(value, 3) for value in numbers))
