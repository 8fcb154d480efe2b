"""The verbs for Python programs and notebooks: each runs what its command runs, and returns what that shows."""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.audit import Audit
from unmask.errors import UnmaskError, nearest
from unmask.frames import columns_of
from unmask.results import as_json

if TYPE_CHECKING:
    from unmask.channels import Channel
    from unmask.economics import Attacker
    from unmask.graphs import Pair, SeedPairs, SocialGraph
    from unmask.posterior import Posterior
    from unmask.pseudonyms import Items
    from unmask.reports import ReportData
    from unmask.reports.study.values import StudyData
    from unmask.studies.graph_trials import GraphAttack
    from unmask.tables import Table
    from unmask.truth import Truth
    from unmask.view import Partition, View

# --- reading ----------------------------------------------------------------------------------------------------------


def read_table(source: object, **reading: Any) -> Table:
    """A table of people with the role of each column, from a file or a data frame.

    source  : path (CSV, TSV, .gz, Parquet, Excel), pandas or polars frame, Arrow table, mapping of names to columns
    reading : the arguments of `tables.Table.read`: `quasi_identifiers` (what an adversary may know), `sensitive` (what
              they want to learn), `keep`, `identifiers`, `weight`, `types`, `hierarchies`, `missing` ...

    >>> import unmask
    >>> unmask.read_table({"age": [30, 30, 41], "ill": ["a", "b", "a"]}, quasi_identifiers="age", sensitive="ill")
    Table(3 rows, quasi_identifiers=age, sensitive=ill)
    """
    from unmask.tables import Table

    _check(inspect.signature(Table.read), reading, "read_table")
    if "quasi_identifiers" not in reading:
        raise UnmaskError('read_table needs the columns that an adversary may know, as in quasi_identifiers=["age"]')
    return Table.read(source, **reading)


def read_graph(source: object, **reading: Any) -> SocialGraph:
    """A social network, from a file, a data frame of two columns, a sparse matrix, networkx or igraph.

    reading : of a file, the arguments of `graphs.SocialGraph.read`: `delimiter`, `header`, `ends`

    >>> import unmask
    >>> unmask.read_graph({"one": ["ann", "bob"], "other": ["bob", "cid"]})
    SocialGraph(3 nodes, 2 edges)
    """
    from unmask.graphs import SocialGraph

    _check(inspect.signature(SocialGraph.read), reading, "read_graph")
    if not (isinstance(source, Mapping) or hasattr(source, "column_names") or hasattr(source, "columns")):
        return SocialGraph.read(source, **reading)
    columns = list(columns_of(source).values())
    if len(columns) != 2:
        raise UnmaskError(f"the edges have {len(columns)} columns, expected two: the ends of each edge")
    labels, ends = np.unique(np.concatenate(columns).astype(str), return_inverse=True)
    u, v = np.split(ends, 2)
    return SocialGraph.from_edges(u, v, labels=labels)


def read_items(source: Any, **reading: Any) -> Items:
    """Items under pseudonyms, from a file or a data frame.

    reading : the arguments of `pseudonyms.Items.read`: `item`, `pseudonym`, `features`, `time`, `context` ...

    >>> import unmask
    >>> unmask.read_items({"who": ["x", "x", "y"], "sum": [1, 2, 9]}, pseudonym="who", features="sum")
    Items(3 items, features=sum, 2 pseudonyms)
    """
    from unmask.pseudonyms import Items

    _check(inspect.signature(Items.read), reading, "read_items")
    return Items.read(source if isinstance(source, str | os.PathLike) else columns_of(source), **reading)


def read_channel(source: Any, *, prior: Any = None) -> Channel:
    """A channel: the probability of each output for each secret.

    source : (n_secrets, n_outputs) array; a file whose first line names the outputs and whose first column names the
             secrets, or a data frame like it
    prior  : probability of each secret: an array in their order, a mapping by name, or beside a file a file of secret
             and probability; uniform unless given

    >>> import unmask
    >>> unmask.read_channel([[0.9, 0.1], [0.2, 0.8]], prior=[0.5, 0.5]).p_y
    array([0.55, 0.45])
    """
    from unmask.channels import Channel
    from unmask.channels.matrices import read_channels

    if isinstance(source, str | os.PathLike):
        beside = Path(prior) if isinstance(prior, str | os.PathLike) else None
        (channel,), _ = read_channels([Path(source)], beside)
        matrix, secrets, outputs = channel.p_y_given_x, channel.x_labels, channel.y_labels
        prior = channel.prior if beside is not None or prior is None else prior
    elif isinstance(source, Mapping) or hasattr(source, "column_names") or hasattr(source, "columns"):
        (_, names), *columns = columns_of(source).items()
        matrix, secrets = np.column_stack([cells for _, cells in columns]), tuple(map(str, names.tolist()))
        outputs = tuple(name for name, _ in columns)
    else:
        matrix, secrets, outputs = np.asarray(source, dtype=np.float64), None, None
    if isinstance(prior, Mapping):
        named = {str(name): chance for name, chance in prior.items()}
        missing = [name for name in secrets or () if name not in named]
        if secrets is None or missing:
            raise UnmaskError("a prior by name needs a channel whose secrets have these names; give an array")
        prior = [named[name] for name in secrets]
    return Channel(matrix, None if prior is None else np.asarray(prior), x_labels=secrets, y_labels=outputs)


# --- protecting -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Protected:
    """A release, and what it costs: what `protect` shows. It unpacks into the release and its origin.

    release : what may leave
    origin  : (n_released,) the row of the original behind each record; whoever has it can undo the release
    facts   : rows, classes, the least rows of a class, and the information lost
    width   : what a released cell of each column leaves open, see `tables.utility`
    """

    release: Table
    origin: NDArray[np.int64]
    facts: Mapping[str, float]
    width: Mapping[str, Any]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.release, self.origin))

    def to_frame(self, *, library: str | None = None) -> Any:
        """The release as a data frame, see `tables.Table.to_frame`."""
        return self.release.to_frame(library=library)

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """What a released cell of each column leaves open."""
        return {"width": [{"column": name, **vars(one)} for name, one in self.width.items()]}

    def to_json(self) -> str:
        """The facts as the JSON that `unmask protect --json` prints."""
        return as_json("protect", results=[self.facts], tables=self.tables)

    def __repr__(self) -> str:
        return costs(self.facts, self.width)


def costs(facts: Mapping[str, Any], width: Mapping[str, Any]) -> str:
    """What a release costs, in a sentence; facts, width : as in `Protected`."""
    alone = f" ({facts['gcp_of_k_alone']:.1%} by k alone)" if "gcp_of_k_alone" in facts else ""
    return (
        f"{facts['rows']:,} rows in {facts['classes']:,} classes of at least {facts['k']}, information lost "
        f"{facts['gcp']:.1%}{alone}: a cell leaves open " + ", ".join(f"{name} {one}" for name, one in width.items())
    )


def protect(
    table: Table,
    protection: Any = None,
    *,
    k: int = 10,
    l: int | None = None,  # noqa: E741  # the field's letter
    t: float | None = None,
    rng: np.random.Generator | None = None,
) -> Protected:
    """Generalize a table until every class has k rows, l values and distance t; or as the protection given does it.

    protection : any of `unmask.tables`, or your own: called with the table, it returns a release and its origin
    k, l, t    : of `tables.Mondrian`, which protects unless another protection is given
    rng        : for studies alone: a release is drawn by the operating system's randomness unless it is given

    >>> import unmask
    >>> table = unmask.read_table(
    ...     {"age": [30, 31, 40, 41], "ill": list("abab")}, quasi_identifiers="age", sensitive="ill"
    ... )
    >>> unmask.protect(table, k=2).release["age"].tolist()
    ['[30, 31]', '[30, 31]', '[40, 41]', '[40, 41]']
    """
    from unmask.tables import Mondrian, criteria, utility

    _expect(table, "tables", "protect takes a table", "unmask.read_table")
    chosen = Mondrian(k=k, l=l, t=t) if protection is None else protection
    release, origin = chosen(table, rng=rng)
    found, lost = criteria.evaluate(release), utility.evaluate(table, release, origin)
    facts: dict[str, float] = {"rows": release.n_rows, "classes": found.classes, "k": found.k, "gcp": lost.gcp}
    facts["average_class_size"] = release.n_rows / found.classes
    if isinstance(chosen, Mondrian) and (chosen.l is not None or chosen.t is not None):
        facts["gcp_of_k_alone"] = utility.evaluate(table, *replace(chosen, l=None, t=None)(table)).gcp
    return Protected(release, origin, facts, lost.width)


# --- auditing ---------------------------------------------------------------------------------------------------------


@overload
def audit(release: Posterior, truth: Truth | None = None, **more: Any) -> Audit: ...
@overload
def audit(
    release: Table | Mapping[str, Table],
    *,
    original: Table | None = None,
    origin: ArrayLike | Mapping[str, ArrayLike] | None = None,
    register: Table | None = None,
    coverage: float = 1.0,
    targets: int | None = None,
    attacker: str | Attacker | None = None,
    seed: int = 0,
    smallest_shown: int = 10,
) -> ReportData: ...
@overload
def audit(
    release: SocialGraph,
    truth: Pair | ArrayLike | None = None,
    *,
    auxiliary: SocialGraph | None = None,
    overlaps: Sequence[tuple[float, float]] = (),
    attacks: Sequence[str] | Mapping[str, GraphAttack] = (),
    seeds: str | SeedPairs = "random.25:100",
    runs: int = 4,
    transition: Sequence[int] = (),
    seed: int = 0,
    smallest_shown: int = 10,
) -> ReportData: ...
@overload
def audit(
    release: Channel | Mapping[str, Channel],
    *,
    loss: Any = "hamming",
    coordinates: ArrayLike | None = None,
    distortion: ArrayLike | None = None,
    unit: str | None = None,
    limit: bool = True,
) -> ReportData: ...
@overload
def audit(
    release: Partition | View | Mapping[str, Partition | View],
    truth: Partition,
    *,
    alpha: float = 0.5,
    beta: float = 0.8,
    smallest_shown: int = 10,
    **sensitivity: Any,
) -> ReportData: ...
def audit(release: Any, truth: Any = None, **evidence: Any) -> Any:
    """Attack a release as `unmask audit` does, and say what adversaries get; or measure a belief that an attack gave.

    release : a table, a graph, a channel, clusters that an adversary found, or a belief; of tables, channels and
              clusters also a mapping of names to several
    truth   : of a graph, who is who; of clusters, the subjects; of a belief, the right candidates

    What else may be said depends on the release:

    a table    : original, origin (one, or by release), register, coverage, targets, attacker, seed
    a graph    : auxiliary, or overlaps to make both graphs of one; attacks, seeds, runs, transition, seed
    a channel  : loss, coordinates, distortion, unit, limit
    clusters   : alpha, beta, and the other fields of `studies.linkage.Sensitivity`; own
    a belief   : the arguments of `unmask.audit.audit`; the answer is an `Audit`: its rows, and what was not run

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
    subject = _subject(one)
    if subject not in _AUDITS:
        read = "read_table, read_graph or read_channel"
        raise UnmaskError(f"audit takes what is released, given {_spoken(one)}; make it one with unmask.{read}")
    least = evidence.pop("smallest_shown", None)
    run = _AUDITS[subject]
    _check(inspect.signature(run), evidence, f"audit of {_spoken(one)}")
    if truth is not None:
        evidence["truth"] = truth
    found = run(release, **evidence)
    return found if least is None or subject == "posterior" else replace(found, least=least)


def _of_belief(belief: Posterior, truth: Truth | None = None, **more: Any) -> Audit:
    from unmask.audit import audit as measured

    return measured(belief, truth, **more)


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
    from unmask.studies.tables import Evidence, study_tables

    if truth is not None:
        raise UnmaskError("the truth of a table is its original and the origin of its rows; give original and origin")
    releases = _named(release)
    by_name = origin if isinstance(origin, Mapping) else dict.fromkeys(releases, origin)
    origins = {name: np.asarray(rows) for name, rows in by_name.items() if rows is not None}
    people = None if register_origin is None else np.asarray(register_origin)
    evidence = Evidence(original, origins, register, coverage, people, targets, seed)
    return study_tables(releases, evidence, title=_title(releases), motive=_motive(attacker))


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
    from unmask.studies.graph_attacks import DEFAULT, parse_attacks
    from unmask.studies.graphs import Acquired, Derived, Plan, study_graph

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
    return study_graph(scenes, plan, title=_title(scenes))


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
    from unmask.studies.channels import Stakes, study_channels

    if truth is not None:
        raise UnmaskError("a channel says how secrets are shown, and has no truth; leave it out")
    named = isinstance(loss, str)
    kind = loss if named else "loss"
    of_loss = unit or {"hamming": "probability", "squared": "squared distance", "loss": "loss"}.get(kind, "distance")
    points, cost = (None if one is None else np.asarray(one, dtype=np.float64) for one in (coordinates, distortion))
    stakes = Stakes(
        loss if named else np.asarray(loss, dtype=np.float64),
        points,
        answers,
        cost,
        kind,
        of_loss,
        of_loss if cost is None else "cost",
    )
    channels = _named(release)
    return study_channels(channels, stakes, title=_title(channels), limit=limit)


def _of_clusters(
    release: Partition | View | Mapping[str, Partition | View],
    *,
    truth: Partition | None = None,
    own: Mapping[str, ArrayLike] | None = None,
    alpha: float = 0.5,
    beta: float = 0.8,
    wanted: bool = False,
    min_size: int = 2,
    missing: Any = "error",
    unlabeled: Any = "error",
    shuffles: int = 20,
    seed: int = 0,
) -> ReportData:
    from unmask.studies.linkage import Sensitivity, study_linkage

    if truth is None:
        raise UnmaskError("clusters are judged against the subjects of the items; give them as truth, a Partition")
    asked = Sensitivity(alpha, beta, wanted, min_size, missing, unlabeled, shuffles, seed)
    guesses = _named(release)
    return study_linkage(truth, guesses, asked, own=own, title=f"Linkage by {', '.join(guesses)}")


_AUDITS: dict[str, Any] = {
    "posterior": _of_belief,
    "tables": _of_tables,
    "graphs": _of_graph,
    "channels": _of_channels,
    "view": _of_clusters,
}
"""The part of unmask that a class comes from -> how it is audited."""


def _named(release: Any) -> dict[str, Any]:
    return dict(release) if isinstance(release, Mapping) else {"release": release}


def _title(names: Mapping[str, Any]) -> str:
    return f"Audit of {', '.join(names)}"


# --- studies ----------------------------------------------------------------------------------------------------------


def study(
    plan: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    workers: int = 1,
    retry: bool = False,
) -> StudyData:
    """Run every protection against every adversary of a plan, as `unmask study` does, and return what was found.

    plan   : the file of the plan, see the reference
    output : folder of the results; what it holds already is not run again. Without it nothing is kept on disk.
    """
    from unmask.studies.page import study_page
    from unmask.studies.reading import read_plan
    from unmask.studies.run import run_study

    source = Path(plan)
    with tempfile.TemporaryDirectory(prefix="unmask-") as scratch:
        folder = Path(scratch) / "results" if output is None else Path(output)
        run_study(read_plan(source), folder, workers=workers, retry=retry, source=source)
        return study_page(folder)


# --- wrong use, in one sentence ---------------------------------------------------------------------------------------


def _subject(value: object) -> str:
    """The part of unmask that a value's class comes from; "" for another's."""
    modules = (kind.__module__.split(".") for kind in type(value).__mro__)
    return next((parts[1] for parts in modules if parts[0] == "unmask" and len(parts) > 1), "")


def _expect(value: object, subject: str, expected: str, maker: str) -> None:
    if _subject(value) != subject:
        raise UnmaskError(f"{expected}, given {_spoken(value)}; make one with {maker}")


def _spoken(value: object) -> str:
    name = type(value).__name__
    return "nothing" if value is None else f"an {name}" if name[0].lower() in "aeiou" else f"a {name}"


def _check(signature: inspect.Signature, given: Mapping[str, Any], what: str) -> None:
    """Refuse a keyword that a function has not, with the nearest one that it has."""
    known = [name for name, one in signature.parameters.items() if one.kind is one.KEYWORD_ONLY and name != "truth"]
    wrong = next((name for name in given if name not in known), None)
    if wrong is not None and not any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values()):
        raise UnmaskError(f"{what} has no {wrong!r}; {nearest(wrong, known)}")
