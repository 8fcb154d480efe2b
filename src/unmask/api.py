"""Functions for Python programs and notebooks: each does the work of a command and returns its result."""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, overload

import numpy as np

from unmask.core.errors import UnmaskError, nearest
from unmask.core.posterior import Posterior
from unmask.data.frames import columns_of
from unmask.domains import domain_of, import_audit, list_further_measures, read_domain_policies
from unmask.ranges import Range, check_type, check_types, spoken
from unmask.scoring import Audit, score

if TYPE_CHECKING:
    from unmask.channels import Channel
    from unmask.core.truth import Truth
    from unmask.graphs import SocialGraph
    from unmask.linkage import Items
    from unmask.policy import Policy
    from unmask.results import Result
    from unmask.tables import Table


def read_table(source: object, **reading: Any) -> Table:
    """Read a table of people with the role of each column, from a file or a data frame.

    Parameters
    ----------
    source : path or data frame
        CSV, TSV, .gz, Parquet or Excel file; pandas or polars frame; Arrow table; mapping of names to columns.
    **reading
        Arguments of `tables.Table.read`: `quasi_identifiers`, which an adversary may know, and optionally `sensitive`,
        `keep`, `identifiers`, `person`, `weight`, `types`, `hierarchies`, `missing` and others.

    Returns
    -------
    Table

    Raises
    ------
    UnmaskError
        If a column is unknown, has two roles, or a cell does not fit its type.

    Examples
    --------
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

    Parameters
    ----------
    source : path, data frame or network
        File of edges, GraphML, GEXF or JSON; frame with two columns, the ends of each edge; sparse matrix; networkx
        or igraph network.
    **reading
        For a file of edges, the fields of `graphs.EdgeListOptions`: `delimiter`, `header`, `ends`, `missing_ids` and
        others.

    Returns
    -------
    SocialGraph

    Raises
    ------
    UnmaskError
        If a frame does not have two columns, or a file is not a network.

    Examples
    --------
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

    Parameters
    ----------
    source : path or data frame
        One row for each item.
    **reading
        Arguments of `linkage.Items.read`: `item`, `pseudonym`, `features`, `time`, `context` and others.

    Returns
    -------
    Items

    Examples
    --------
    >>> import unmask
    >>> unmask.read_items({"who": ["x", "x", "y"], "sum": [1, 2, 9]}, pseudonym="who", features="sum")
    Items(3 items, features=sum, 2 pseudonyms)
    """
    from unmask.linkage import Items

    check_keywords(inspect.signature(Items.read), reading, "read_items")
    return Items.read(source if isinstance(source, str | os.PathLike) else columns_of(source), **reading)


def read_channel(source: Any, *, prior: Any = None) -> Channel:
    """Read a channel: the probability of each output for each secret.

    Parameters
    ----------
    source : path, data frame or (n_secrets, n_outputs) array
        Probabilities; each row sums to 1. The first line of a file or a frame names the outputs, the first column the
        secrets.
    prior : (n_secrets,) array, mapping or path, optional
        Probability of each secret: in their order, by name, or a file of secret and probability if `source` is a file.
        Uniform by default.

    Returns
    -------
    Channel

    Raises
    ------
    UnmaskError
        If a row does not sum to 1, or a prior by name lacks a secret.

    Examples
    --------
    >>> import unmask
    >>> unmask.read_channel([[0.9, 0.1], [0.2, 0.8]], prior=[0.5, 0.5]).p_y
    array([0.55, 0.45])
    """
    from unmask.channels import Channel
    from unmask.channels.matrix_files import read_channel_file

    secrets = outputs = None
    if isinstance(source, str | os.PathLike):
        prior_file = Path(prior) if isinstance(prior, str | os.PathLike) else None
        channel = read_channel_file(Path(source), prior_file)
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
def audit(
    release: Any,
    truth: Any = None,
    *,
    policy: str | Path | Policy | Sequence[str | Path | Policy] = (),
    smallest_shown: Annotated[int, Range(1)] | None = None,
    **evidence: Any,
) -> Result: ...
def audit(release: Any, truth: Any = None, *, policy: Any = (), smallest_shown: Any = None, **evidence: Any) -> Any:
    """Attack a release as `unmask audit` does, and return what adversaries learn; or score the belief of an attack.

    Parameters
    ----------
    release : Table, SocialGraph, Channel, AggregateRelease, Partition, View or Posterior
        A table, a network, a channel, published tables of counts, clusters that an adversary found, or a belief. Of
        tables, channels and clusters also a mapping of names to several.
    truth : optional
        Of a network, who is who; of published tables, the records; of clusters, the subjects; of a belief, the right
        candidates.
    policy : str, path or Policy, or a sequence of them
        Policies of the verdict: a shipped one by name, a TOML file, or a condition such as "k >= 5".
    smallest_shown : int, optional
        Fewest people that a count or a class of the output may stand for, 10 by default.
    **evidence
        What the auditor and the adversary know, by the kind of the release. Names and types are checked.

        * Table: `original`, `origin` (one, or by release), `register`, `coverage`, `targets`, `attacker`, `steps` and
          the other arguments of `unmask.tables.audit.audit`.
        * Network: `auxiliary`, or `overlaps` to make both networks of one, `attacks`, `seeds`, `runs`, `transition` and
          the other arguments of `unmask.graphs.audit.audit`.
        * Channel: `loss`, `coordinates`, `distortion`, `unit` and the other arguments of `unmask.channels.audit.audit`.
        * Published tables: `sensitive`, `knows` and the other arguments of `unmask.aggregates.audit.audit`.
        * Clusters: `alpha`, `beta`, `own` and the other arguments of `unmask.linkage.audit.audit`.
        * Belief: `measures`, `target`, `drawn_from`, `note`. A belief takes no policy.

    Returns
    -------
    Result or Audit
        A result with `.to_frame()`, `.summary()`, `.chart(name)`, `.to_html()` and `.to_json()`; a notebook shows it.
        For a belief, an `Audit`: its rows, and what was not run.

    Raises
    ------
    UnmaskError
        If a name or a type is wrong, or the evidence does not fit the release.

    Examples
    --------
    >>> import unmask
    >>> table = unmask.read_table(
    ...     {"age": [30, 30, 41], "ill": ["a", "b", "a"]}, quasi_identifiers="age", sensitive="ill"
    ... )
    >>> result = unmask.audit(table, policy="k >= 2")
    >>> [row["posterior"] for row in result.results if row["measure"] == "success_probability"][:1]
    [0.666666]
    >>> result.verdicts[0].state
    'not acceptable'
    """
    from unmask.policy import judge_result

    if isinstance(release, Posterior):
        refused = {"policy": policy} if policy else {"smallest_shown": smallest_shown} if smallest_shown else {}
        return _run_audit(score, release, truth, {**evidence, **refused})
    domain = _find_domain(release)
    check_type("smallest_shown", smallest_shown, Annotated[int, Range(1)] | None)
    policies = read_domain_policies(policy, domain)
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

    For a plan with a publisher, the game between publisher and attackers is solved, too.

    Parameters
    ----------
    plan : path
        TOML file of the plan.
    output : path, optional
        Folder of the results. Cells that it holds are not run again. Without it nothing is kept on disk.
    workers : int
        Number of processes.
    retry : bool
        Run cells again that failed.
    allow_code : bool
        Let the plan run code: classes that it names as "module:Class".

    Returns
    -------
    Result
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
