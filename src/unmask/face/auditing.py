"""From a release, or a belief, to what adversaries get: one function for each kind of release runs its case."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.audit import Audit
from unmask.audit import audit as measured
from unmask.errors import UnmaskError
from unmask.face.misuse import check_keywords, spoken, subject_of

if TYPE_CHECKING:
    from unmask.channels import Channel
    from unmask.economics import Attacker
    from unmask.graphs import SeedPairs, SocialGraph
    from unmask.graphs.attacks.matching import Attack as GraphAttack
    from unmask.measures import Measure
    from unmask.posterior import Posterior
    from unmask.reports import ReportData
    from unmask.tables import Table
    from unmask.truth import Truth
    from unmask.view import Partition, View

    Released = (
        Table | SocialGraph | Channel | Partition | View
        | Mapping[str, Table] | Mapping[str, Channel] | Mapping[str, Partition | View]
    )  # fmt: skip


@overload
def audit(release: Posterior, truth: Truth | None = None, **evidence: Any) -> Audit: ...
@overload
def audit(release: Released, truth: Any = None, **evidence: Any) -> ReportData: ...
def audit(release: Any, truth: Any = None, **evidence: Any) -> Any:
    """Attack a release as `unmask audit` does, and say what adversaries get; or measure a belief that an attack gave.

    release : a table, a graph, a channel, clusters that an adversary found, or a belief; of tables, channels and
              clusters also a mapping of names to several
    truth   : of a graph, who is who; of clusters, the subjects; of a belief, the right candidates

    What else may be said depends on the release:

    a table    : original, origin (one, or by release), register, coverage, targets, attacker, seed
    a graph    : auxiliary, or overlaps to make both graphs of one; attacks, seeds, runs, transition, seed
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
    subject = subject_of(one)
    if subject not in _AUDITS:
        read = "read_table, read_graph or read_channel"
        raise UnmaskError(f"audit takes what is released, given {spoken(one)}; make it one with unmask.{read}")
    least = evidence.pop("smallest_shown", None)
    run = _AUDITS[subject]
    check_keywords(inspect.signature(run), evidence, f"audit of {spoken(one)}")
    if truth is not None:
        evidence["truth"] = truth
    found = run(release, **evidence)
    return found if least is None or subject == "posterior" else replace(found, least=least)


def _of_belief(
    release: Posterior,
    *,
    truth: Truth | None = None,
    target: str = "identity",
    measures: Sequence[Measure] | None = None,
    drawn_from: float | None = None,
    note: str = "",
) -> Audit:
    return measured(release, truth, target=target, measures=measures, drawn_from=drawn_from, note=note)


def _of_tables(
    release: Table | Mapping[str, Table],
    *,
    truth: None = None,
    original: Table | None = None,
    origin: Any = None,
    register: Table | None = None,
    register_origin: ArrayLike | None = None,
    coverage: float = 1.0,
    targets: int | None = None,
    attacker: str | Attacker | None = None,
    seed: int = 0,
) -> ReportData:
    from unmask.cases.tables.audit import Evidence, audit_tables

    if truth is not None:
        raise UnmaskError("the truth of a table is its original and the origin of its rows; give original and origin")
    releases = _named(release)
    by_name = origin if isinstance(origin, Mapping) else dict.fromkeys(releases, origin)
    origins = {name: np.asarray(rows) for name, rows in by_name.items() if rows is not None}
    evidence = Evidence(
        original=original,
        origins=origins,
        register=register,
        coverage=coverage,
        register_origin=None if register_origin is None else np.asarray(register_origin),
        targets=targets,
        seed=seed,
    )
    return audit_tables(releases, evidence, title=_title(releases), motive=_motive(attacker))


def _motive(attacker: str | Attacker | None) -> Any:
    from unmask.cases.price import Motive
    from unmask.economics import read_attacker
    from unmask.economics.profile import EMBEDDED

    if attacker is None:
        return None
    if isinstance(attacker, str | os.PathLike):
        return Motive(read_attacker(str(attacker)), source=Path(attacker).name, assumed=attacker == EMBEDDED)
    return Motive(attacker)


def _of_graph(
    release: SocialGraph,
    *,
    truth: Any = None,
    truth_partial: bool = False,
    auxiliary: SocialGraph | None = None,
    overlaps: Sequence[tuple[float, float]] = (),
    attacks: Sequence[str] | Mapping[str, GraphAttack] = (),
    seeds: str | SeedPairs = "random.25:100",
    runs: int = 4,
    transition: Sequence[int] = (),
    seed: int = 0,
) -> ReportData:
    from unmask.cases.graphs.audit import audit_graph
    from unmask.cases.graphs.scenes import DEFAULT, Acquired, Derived, Plan, parse_attacks

    if (auxiliary is None) == (not overlaps):
        raise UnmaskError("a graph is attacked with an auxiliary graph, or as overlaps of two made of it; give one")
    made = attacks if isinstance(attacks, Mapping) else parse_attacks(attacks or DEFAULT)
    method, _, count = seeds.rpartition(":") if isinstance(seeds, str) else ("given", "", "1")
    plan = Plan(made, method, int(count), runs=runs, transition=tuple(transition), seed=seed)
    if auxiliary is None:
        scenes: dict[str, Any] = {f"overlap {n:g}/{e:g}": Derived(release, n, e) for n, e in overlaps}
    else:
        pair = (truth.truth, truth.origin) if hasattr(truth, "truth") else (truth, None)
        who = None if pair[0] is None else np.asarray(pair[0])
        given = None if isinstance(seeds, str) else seeds
        scenes = {"release": Acquired(release, auxiliary, who, given, pair[1], truth_partial)}
    return audit_graph(scenes, plan, title=_title(scenes))


def _of_channels(
    release: Channel | Mapping[str, Channel],
    *,
    truth: None = None,
    loss: Any = "hamming",
    coordinates: ArrayLike | None = None,
    answers: tuple[str, ...] | None = None,
    distortion: ArrayLike | None = None,
    unit: str | None = None,
    limit: bool = True,
) -> ReportData:
    from unmask.cases.channels import Stakes, audit_channels

    if truth is not None:
        raise UnmaskError("a channel says how secrets are shown, and has no truth; leave it out")
    kind = loss if isinstance(loss, str) else "loss"
    unit = unit or {"hamming": "probability", "squared": "squared distance", "loss": "loss"}.get(kind, "distance")
    cost, lost = _floats(distortion), loss if isinstance(loss, str) else np.asarray(loss, dtype=np.float64)
    stakes = Stakes(lost, _floats(coordinates), answers, cost, kind, unit, unit if cost is None else "cost")
    channels = _named(release)
    return audit_channels(channels, stakes, title=_title(channels), limit=limit)


def _of_clusters(
    release: Partition | View | Mapping[str, Partition | View],
    *,
    truth: Partition | None = None,
    own: Mapping[str, ArrayLike] | None = None,
    alpha: float = 0.5,
    beta: float = 0.8,
    min_size: int = 2,
    wanted: bool = False,
    missing: Any = "error",
    unlabeled: Any = "error",
    shuffles: int = 20,
    seed: int = 0,
) -> ReportData:
    from unmask.cases.pseudonyms.case import Sensitivity, met_by
    from unmask.cases.pseudonyms.report import report

    if truth is None:
        raise UnmaskError("clusters are judged against the subjects of the items; give them as truth, a Partition")
    if_apart: dict[str, Any] = {"missing": missing, "unlabeled": unlabeled, "wanted": wanted}
    asked = Sensitivity(alpha=alpha, beta=beta, min_size=min_size, shuffles=shuffles, seed=seed, **if_apart)
    guesses = _named(release)
    return report(met_by(truth, guesses, asked, own), asked)


_AUDITS: dict[str, Any] = {
    "posterior": _of_belief,
    "tables": _of_tables,
    "graphs": _of_graph,
    "channels": _of_channels,
    "view": _of_clusters,
}
"""The part of unmask that a class comes from -> how it is audited."""

_SAID = {name: one for run in _AUDITS.values() for name, one in inspect.signature(run).parameters.items()}
_SAID["smallest_shown"] = inspect.Parameter("smallest_shown", inspect.Parameter.KEYWORD_ONLY, default=10)
_SAID["truth"] = _SAID["truth"].replace(kind=_SAID["release"].kind)
_ORDER = sorted(_SAID.values(), key=lambda one: (one.kind, one.name == "truth"))
audit.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # help and completion show every keyword
    [one.replace(annotation=one.empty) for one in _ORDER]
)


def _floats(values: ArrayLike | None) -> NDArray[np.float64] | None:
    return None if values is None else np.asarray(values, dtype=np.float64)


def _named(release: Any) -> dict[str, Any]:
    return dict(release) if isinstance(release, Mapping) else {"release": release}


def _title(names: Mapping[str, Any]) -> str:
    return f"Audit of {', '.join(names)}"
