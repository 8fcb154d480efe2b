"""Functions for Python programs and notebooks: each does the work of a command and returns its result."""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, overload

import numpy as np

from unmask.core.errors import UnmaskError, nearest
from unmask.core.posterior import Posterior
from unmask.data.frames import columns_of
from unmask.domains import DOMAINS, domain_of, import_audit, list_further_measures, read_domain_policies
from unmask.ranges import Range, check_type, check_types, spoken
from unmask.scoring import Audit, score

if TYPE_CHECKING:
    from unmask.channels import Channel
    from unmask.core.truth import Truth
    from unmask.graphs import SocialGraph
    from unmask.linkage import Items
    from unmask.results import Result
    from unmask.tables import Table


def read_table(source: object, **reading: Any) -> Table:
    """Read a table of people with the role of each column, from a file or a data frame.

    source  : path (CSV, TSV, .gz, Parquet, Excel), pandas or polars frame, Arrow table, mapping of names to columns
    reading : the arguments of `tables.Table.read`: `quasi_identifiers` (what an adversary may know), `sensitive` (what
              they want to learn), `keep`, `identifiers`, `weight`, `types`, `hierarchies`, `missing` ...

    >>> import unmask
    >>> unmask.read_table({"age": [30, 30, 41], "ill": ["a", "b", "a"]}, quasi_identifiers="age", sensitive="ill")
    Table(3 rows, quasi_identifiers=age, sensitive=ill)
    """
    from unmask.tables import Table

    check_keywords(inspect.signature(Table.read), reading, "read_table")
    if "quasi_identifiers" not in reading:
        raise UnmaskError('read_table needs the columns that an adversary may know, as in quasi_identifiers=["age"]')
    return Table.read(source, **reading)


def read_graph(source: object, **reading: Any) -> SocialGraph:
    """Read a social network, from a file, a data frame of two columns, a sparse matrix, networkx or igraph.

    reading : of a file, the fields of `graphs.EdgeListOptions`: `delimiter`, `header`, `ends`, `missing_ids` ...

    >>> import unmask
    >>> unmask.read_graph({"one": ["ann", "bob"], "other": ["bob", "cid"]})
    SocialGraph(3 nodes, 2 edges)
    """
    from unmask.graphs import EdgeListOptions, SocialGraph

    check_keywords(inspect.signature(EdgeListOptions), reading, "read_graph")
    if not _has_columns(source):
        return SocialGraph.read(source, **reading)
    columns = list(columns_of(source).values())
    if len(columns) != 2:
        raise UnmaskError(f"the edges have {len(columns)} columns, expected two: the ends of each edge")
    labels, ends = np.unique(np.concatenate(columns).astype(str), return_inverse=True)
    u, v = np.split(ends, 2)
    return SocialGraph.from_edges(u, v, labels=labels)


def read_items(source: Any, **reading: Any) -> Items:
    """Read items under pseudonyms, from a file or a data frame.

    reading : the arguments of `linkage.Items.read`: `item`, `pseudonym`, `features`, `time`, `context` ...

    >>> import unmask
    >>> unmask.read_items({"who": ["x", "x", "y"], "sum": [1, 2, 9]}, pseudonym="who", features="sum")
    Items(3 items, features=sum, 2 pseudonyms)
    """
    from unmask.linkage import Items

    check_keywords(inspect.signature(Items.read), reading, "read_items")
    return Items.read(source if isinstance(source, str | os.PathLike) else columns_of(source), **reading)


def read_channel(source: Any, *, prior: Any = None) -> Channel:
    """Read a channel: the probability of each output for each secret.

    source : (n_secrets, n_outputs) array; a file whose first line names the outputs and whose first column names the
             secrets, or a data frame like it
    prior  : probability of each secret: an array in their order, a mapping by name, or beside a file a file of secret
             and probability; uniform unless given

    >>> import unmask
    >>> unmask.read_channel([[0.9, 0.1], [0.2, 0.8]], prior=[0.5, 0.5]).p_y
    array([0.55, 0.45])
    """
    from unmask.channels import Channel
    from unmask.channels.matrix_files import read_channels

    secrets = outputs = None
    if isinstance(source, str | os.PathLike):
        prior_file = Path(prior) if isinstance(prior, str | os.PathLike) else None
        (channel,), _ = read_channels([Path(source)], prior_file)
        source, secrets, outputs = channel.p_y_given_x, channel.x_labels, channel.y_labels
        prior = prior if prior_file is None else channel.prior
    elif _has_columns(source):
        (_, names), *columns = columns_of(source).items()
        source, secrets = np.column_stack([cells for _, cells in columns]), tuple(map(str, names.tolist()))
        outputs = tuple(name for name, _ in columns)
    if isinstance(prior, Mapping):
        shares = {str(name): share for name, share in prior.items()}
        if secrets is None or not shares.keys() >= {*secrets}:
            raise UnmaskError("a prior by name needs a probability for the name of every secret; give an array")
        prior = [shares[name] for name in secrets]
    return Channel(
        source, None if prior is None else np.asarray(prior, dtype=np.float64), x_labels=secrets, y_labels=outputs
    )


def _has_columns(source: object) -> bool:
    """Return whether a source is a data frame, or a mapping of names to columns."""
    return isinstance(source, Mapping) or hasattr(source, "column_names") or hasattr(source, "columns")


@overload
def audit(release: Posterior, truth: Truth | None = None, **evidence: Any) -> Audit: ...
@overload
def audit(release: Any, truth: Any = None, **evidence: Any) -> Result: ...
def audit(release: Any, truth: Any = None, **evidence: Any) -> Any:
    """Attack a release as `unmask audit` does, and return what adversaries learn; or score the belief of an attack.

    release : a table, a graph, a channel, clusters that an adversary found, or a belief; of tables, channels and
              clusters also a mapping of names to several
    truth   : of a graph, who is who; of clusters, the subjects; of a belief, the right candidates

    Further arguments depend on the release:

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
    from unmask.policy import judge_result

    if isinstance(release, Posterior):
        return _run_audit(score, release, truth, evidence)
    domain, smallest_shown = _find_domain(release), evidence.pop("smallest_shown", None)
    check_type("smallest_shown", smallest_shown, Annotated[int, Range(1)] | None)
    policies = read_domain_policies(evidence.pop("policy", ()), domain)
    if requested := list_further_measures(policies, domain):
        evidence["measures"] = (*evidence.get("measures", ()), *requested)
    result = judge_result(_run_audit(import_audit(domain).audit, release, truth, evidence), policies)
    return (result if smallest_shown is None else replace(result, smallest_shown=smallest_shown)).without_small()


def _run_audit(run: Callable[..., Any], release: object, truth: object, evidence: Mapping[str, Any]) -> Any:
    """Run an audit, after a check of the names and the types of its keywords."""
    first = next(iter(release.values())) if isinstance(release, Mapping) else release
    check_keywords(inspect.signature(run), evidence, f"audit of {spoken(first)}")
    check_types(run, {**evidence, "truth": truth})
    return run(release, truth=truth, **evidence)


def _find_domain(release: object) -> str:
    """Return the domain of a release, or of several."""
    releases = list(release.values()) if isinstance(release, Mapping) else [release]
    domains = {domain_of(type(item)): item for item in releases or [None]}
    if "" in domains:
        read = "read_table, read_graph or read_channel"
        raise UnmaskError(f"audit takes what is released, given {spoken(domains[''])}; make it one with unmask.{read}")
    if len(domains) > 1:
        raise UnmaskError(f"audit takes releases of one kind, given {' and '.join(map(spoken, domains.values()))}")
    return next(iter(domains))


class _EveryKeyword(inspect.Signature):
    """The keywords of all domains, which are imported when help or completion look them up."""

    @property
    def parameters(self) -> MappingProxyType[str, inspect.Parameter]:
        declared = super().parameters
        runs: list[Callable[..., Any]] = [score, *(import_audit(name).audit for name in DOMAINS)]
        keywords = {name: item for run in runs for name, item in inspect.signature(run).parameters.items()}
        added = [item for item in keywords.values() if item.kind is item.KEYWORD_ONLY and item.name not in declared]
        return MappingProxyType({**declared, **{item.name: item.replace(annotation=item.empty) for item in added}})


_DECLARED = inspect.Signature.from_callable(audit).parameters
_SMALLEST_SHOWN = inspect.Parameter("smallest_shown", inspect.Parameter.KEYWORD_ONLY, default=10)
_POLICY = inspect.Parameter("policy", inspect.Parameter.KEYWORD_ONLY, default=())
audit.__signature__ = _EveryKeyword([_DECLARED["release"], _DECLARED["truth"], _SMALLEST_SHOWN, _POLICY])  # type: ignore[attr-defined]


def check_keywords(signature: inspect.Signature, keywords: Mapping[str, Any], place: str) -> None:
    """Raise an error for a keyword that a function does not have, with the nearest one that it has."""
    parameters = signature.parameters.values()
    names = [item.name for item in parameters if item.kind is item.KEYWORD_ONLY and item.name != "truth"]
    unknown = next((name for name in keywords if name not in names), None)
    if unknown is not None and not any(item.kind is item.VAR_KEYWORD for item in parameters):
        raise UnmaskError(f"{place} has no {unknown!r}; {nearest(unknown, names)}")


def study(
    plan: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    workers: int = 1,
    retry: bool = False,
    allow_code: bool = False,
) -> Result:
    """Run every protection against every adversary of a plan, as `unmask study` does, and return the results.

    A plan with a publisher also plays the game.

    plan   : the file of the plan, see the reference
    output : folder of the results; what it holds already is not run again. Without it nothing is kept on disk.
    allow_code : let the plan run code, classes that it names as "module:Class"
    """
    from unmask.core.errors import UnmaskError
    from unmask.studies.game import priced, write_game
    from unmask.studies.reading import read_plan
    from unmask.studies.run import run_study
    from unmask.studies.study_result import read_result

    source = Path(plan)
    with tempfile.TemporaryDirectory(prefix="unmask-") as scratch:
        folder = Path(scratch) / "results" if output is None else Path(output)
        read = read_plan(source, allow_code=allow_code)
        game = priced(read, source)
        outcome = run_study(read, folder, workers=workers, retry=retry, source=source, priced=game or ())
        if game is not None and outcome.complete and outcome.done:
            with suppress(UnmaskError):  # an adversary who asks something else has no game
                write_game(source, folder, allow_code=allow_code)
        return read_result(folder).without_small()
