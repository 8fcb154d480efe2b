"""From a release, or a belief, to what adversaries get: the cases of its domain, behind one function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from unmask.audit import Audit
from unmask.audit import audit as measured
from unmask.domains import DOMAINS, cases_of, domain_of
from unmask.errors import UnmaskError
from unmask.face.misuse import check_keywords, spoken
from unmask.posterior import Posterior

if TYPE_CHECKING:
    from unmask.reports import ReportData
    from unmask.truth import Truth


@overload
def audit(release: Posterior, truth: Truth | None = None, **evidence: Any) -> Audit: ...
@overload
def audit(release: Any, truth: Any = None, **evidence: Any) -> ReportData: ...
def audit(release: Any, truth: Any = None, **evidence: Any) -> Any:
    """Attack a release as `unmask audit` does, and say what adversaries get; or measure a belief that an attack gave.

    release : a table, a graph, a channel, clusters that an adversary found, or a belief; of tables, channels and
              clusters also a mapping of names to several
    truth   : of a graph, who is who; of clusters, the subjects; of a belief, the right candidates

    What else may be said depends on the release:

    a table    : original, origin (one, or by release), register, coverage, targets, attacker, seed
    a graph    : auxiliary, or overlaps to make both graphs of one; separation, attacks, seeds, runs, transition, seed
    a channel  : loss, coordinates, distortion, unit, limit
    clusters   : alpha, beta, and the other fields of `cases.pseudonyms.Sensitivity`; own
    a belief   : measures, target, drawn_from, note; the answer is an `Audit`: its rows, and what was not run

    All but a belief take `smallest_shown`, the fewest people that a count or a class of the output may stand for, and
    return a result with `.to_frame()`, `.summary()`, `.chart(name)`, `.to_html()`, `.to_json()`; a notebook shows it.

    >>> import unmask
    >>> table = unmask.read_table(
    ...     {"age": [30, 30, 41], "ill": ["a", "b", "a"]}, quasi_identifiers="age", sensitive="ill"
    ... )
    >>> found = unmask.audit(table)
    >>> [row["posterior"] for row in found.results if row["measure"] == "success_probability"][:1]
    [0.666666]
    """
    one = next(iter(release.values()), None) if isinstance(release, Mapping) else release
    run = _audit_of(one)
    least = evidence.pop("smallest_shown", None)
    check_keywords(inspect.signature(run), evidence, f"audit of {spoken(one)}")
    found = run(release, truth=truth, **evidence)
    if isinstance(found, Audit):
        return found
    return replace(found, least=found.least if least is None else least)


def _audit_of(one: object) -> Callable[..., Any]:
    if isinstance(one, Posterior):
        return measured
    domain = domain_of(type(one))
    if not domain:
        read = "read_table, read_graph or read_channel"
        raise UnmaskError(f"audit takes what is released, given {spoken(one)}; make it one with unmask.{read}")
    return cases_of(domain).audit


class _EveryKeyword(inspect.Signature):
    """What all domains take; looked up when help or completion ask for it, so that no domain is imported before."""

    @property
    def parameters(self) -> MappingProxyType[str, inspect.Parameter]:
        own = super().parameters
        runs: list[Callable[..., Any]] = [measured, *(cases_of(name).audit for name in DOMAINS)]
        said = {name: one for run in runs for name, one in inspect.signature(run).parameters.items()}
        more = [one for one in said.values() if one.kind is one.KEYWORD_ONLY and one.name not in own]
        return MappingProxyType({**own, **{one.name: one.replace(annotation=one.empty) for one in more}})


_OWN = inspect.Signature.from_callable(audit).parameters
_LEAST = inspect.Parameter("smallest_shown", inspect.Parameter.KEYWORD_ONLY, default=10)
audit.__signature__ = _EveryKeyword([_OWN["release"], _OWN["truth"], _LEAST])  # type: ignore[attr-defined]
