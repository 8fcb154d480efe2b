"""Measures that a user requests in addition to those of every audit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unmask.core.errors import UnmaskError, nearest
from unmask.measures.measure import Measure
from unmask.measures.rates import RATES, coverage
from unmask.measures.registry import FAMILIES, MEASURES, described, name_with_parameter
from unmask.measures.success import parts_linked

OF_ATTACKS = frozenset({*(rate.name for rate in RATES), coverage.name, parts_linked.name})
"""Measures of attacks that name people or link parts of records. They are not defined for other beliefs."""


def parse_measures(texts: Iterable[str]) -> tuple[Measure, ...]:
    """Return the measures of a belief that are written as NAME, as NAME:PARAMETER, or as the name of their row.

    Parameters
    ----------
    texts : iterable of str
        Names, such as "renyi_entropy_bits:2" or "renyi_entropy_2_bits".

    Returns
    -------
    tuple of Measure
        Measures without repetitions.

    Raises
    ------
    UnmaskError
        If a belief has no such measure.

    Examples
    --------
    >>> [measure.name for measure in parse_measures(["confidence_set_size:0.95", "diaz_degree"])]
    ['confidence_set_size_0.95', 'diaz_degree']
    """
    return tuple({measure.name: measure for measure in map(_parse_measure, texts)}.values())


def _parse_measure(text: str) -> Measure:
    measure = described(name_with_parameter(text))
    if isinstance(measure, Measure) and measure.name not in OF_ATTACKS:
        return measure
    names = [name for name, item in MEASURES.items() if isinstance(item, Measure) and name not in OF_ATTACKS]
    families = [pattern.partition("_(")[0] + pattern.partition(")")[2] for pattern in FAMILIES]
    name = text.partition(":")[0]
    if name in families:
        raise UnmaskError(f"measure {text!r} lacks its number; write {name}:NUMBER, such as {name}:2")
    hint = nearest(name, [*names, *families])
    hint = hint if hint.startswith("did") else "`unmask list measures` shows the names"
    raise UnmaskError(f"a belief has no measure {text!r}; {hint}")


def select_requested(names: Iterable[str], standard: Sequence[Measure]) -> tuple[str, ...]:
    """Return the names of measures of a belief that are not standard ones.

    >>> select_requested(["k", "diaz_degree"], ())
    ('diaz_degree',)
    """
    excluded_names = {measure.name for measure in standard} | OF_ATTACKS
    return tuple(
        name for name in dict.fromkeys(names) if name not in excluded_names and isinstance(described(name), Measure)
    )
