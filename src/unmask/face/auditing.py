"""From a release, or a belief, to what adversaries get: the cases of its domain, behind one function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, overload

from unmask.audit import Audit
from unmask.audit import audit as measured
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.domains import DOMAINS, cases_of, domain_of, policies_about
from unmask.face.misuse import check_keywords
from unmask.policy import Policy, read_policies
from unmask.ranges import Range, check_type, check_types, spoken

if TYPE_CHECKING:
    from unmask.core.truth import Truth
    from unmask.reports.result import Result


@overload
def audit(release: Posterior, truth: Truth | None = None, **evidence: Any) -> Audit: ...
@overload
def audit(release: Any, truth: Any = None, **evidence: Any) -> Result: ...
def audit(release: Any, truth: Any = None, **evidence: Any) -> Any:
    """Attack a release as `unmask audit` does, and say what adversaries get; or measure a belief that an attack gave.

    release : a table, a graph, a channel, clusters that an adversary found, or a belief; of tables, channels and
              clusters also a mapping of names to several
    truth   : of a graph, who is who; of clusters, the subjects; of a belief, the right candidates

    What else may be said depends on the release:

    a table    : original, origin (one, or by release), person, register, coverage, targets, attacker, seed
    a graph    : auxiliary, or overlaps to make both graphs of one; separation, attacks, seeds, runs, transition, seed
    a channel  : loss, coordinates, distortion, unit, limit
    clusters   : alpha, beta, and the other fields of `linkage.audit.Sensitivity`; own
    a belief   : measures, target, drawn_from, note; the answer is an `Audit`: its rows, and what was not run

    All but a belief take `smallest_shown`, the fewest people that a count or a class of the output may stand for, and
    `policy`, one or several, each a `policy.Policy`, the name of one that is shipped, a TOML file or a condition such
    as "k >= 5". They return a result with `.to_frame()`, `.summary()`, `.chart(name)`, `.to_html()`, `.to_json()`; a
    notebook shows it.

    >>> import unmask
    >>> table = unmask.read_table(
    ...     {"age": [30, 30, 41], "ill": ["a", "b", "a"]}, quasi_identifiers="age", sensitive="ill"
    ... )
    >>> found = unmask.audit(table)
    >>> [row["posterior"] for row in found.results if row["measure"] == "success_probability"][:1]
    [0.666666]
    """
    from unmask.reports.data import ReportData
    from unmask.reports.result import Result

    if isinstance(release, Posterior):
        return _asked(measured, release, truth, evidence)
    domain, least = _domain(release), evidence.pop("smallest_shown", None)
    check_type("smallest_shown", least, Annotated[int, Range(1)] | None)
    policies = policies_of(evidence.pop("policy", ()), domain)
    found = ReportData.of(_asked(cases_of(domain).audit, release, truth, evidence))
    found = found.under(found.judged(policies))
    return Result(found if least is None else replace(found, least=least))


def policies_of(given: Any, domain: str) -> list[Policy]:
    """What policies that were given, one or several, say about a domain."""
    listed = given if isinstance(given, list | tuple) else [given]
    for one in listed:
        check_type("policy", one, Policy | str | Path)
    return policies_about(read_policies(listed), domain)


def _asked(run: Callable[..., Any], release: object, truth: object, evidence: Mapping[str, Any]) -> Any:
    one = next(iter(release.values())) if isinstance(release, Mapping) else release
    check_keywords(inspect.signature(run), evidence, f"audit of {spoken(one)}")
    check_types(run, {**evidence, "truth": truth})
    return run(release, truth=truth, **evidence)


def _domain(release: object) -> str:
    """The domain of a release, or of several."""
    several = list(release.values()) if isinstance(release, Mapping) else [release]
    domains = {domain_of(type(one)): one for one in several or [None]}
    if "" in domains:
        read = "read_table, read_graph or read_channel"
        raise UnmaskError(f"audit takes what is released, given {spoken(domains[''])}; make it one with unmask.{read}")
    if len(domains) > 1:
        raise UnmaskError(f"audit takes releases of one kind, given {' and '.join(map(spoken, domains.values()))}")
    return next(iter(domains))


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
_POLICY = inspect.Parameter("policy", inspect.Parameter.KEYWORD_ONLY, default=())
audit.__signature__ = _EveryKeyword([_OWN["release"], _OWN["truth"], _LEAST, _POLICY])  # type: ignore[attr-defined]
