"""Network audits of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

from unmask.core.errors import UnmaskError
from unmask.core.signatures import with_parameters
from unmask.domains import name_files
from unmask.graphs import EdgeListOptions, Pair, SeedPairs, Similarity, SocialGraph
from unmask.graphs.audit.attack_plan import is_count, parse_attacks, parse_methods, parse_protection
from unmask.graphs.audit.identity_search import Discovery
from unmask.graphs.audit.network_audit import audit, check_choice
from unmask.graphs.colocation import read_co_location
from unmask.ranges import Option, Range
from unmask.results import Result

SHARED = (
    "truth_partial", "truth_sampled", "largest_component", "runs", "discovery", "seed", "time_limit", "measures",
    "checkpoint", "watched", "progress",
)  # fmt: skip
"""Parameters of `audit` that `audit_files` shares."""


@with_parameters(EdgeListOptions)
@with_parameters(audit, only=SHARED)
def audit_files(
    release: Path,
    *,
    auxiliary: Annotated[Path | None, Option("Input")] = None,
    truth: Annotated[Path | None, Option("Input")] = None,
    similarity: Annotated[Path | None, Option("Input")] = None,
    seeds_file: Annotated[Path | None, Option("Input")] = None,
    overlaps: Annotated[Sequence[str], Option(flag="--overlap", metavar="NODES,EDGES")] = (),
    protections: Annotated[Sequence[str], Option(flag="--with", metavar="NAME:KEY=VALUE")] = (),
    attacks: Annotated[Sequence[str], Option(flag="--attack", commas=True)] = (),
    seeds: Annotated[Sequence[str], Option(metavar="METHOD:COUNT", commas=True)] = (),
    transition: Annotated[Sequence[str | int], Option(commas=True)] = (),
    evidence: Annotated[Literal["network", "traces"], Option("Input")] = "network",
    within: Annotated[str | None, Option("Input")] = None,
    times: Annotated[int, Range(1), Option("Input")] = 1,
    code: Callable[[str], Path | None] = lambda _: None,
    **further: Any,
) -> Result:
    r"""Attack a released network: how many people are re-identified by their edges alone.

    Without --overlap and --auxiliary there is no attack, and the criteria of the network are computed: people with
    equal surroundings, and local anonymity.

    A network is a list of edges, an adjacency list or a matrix (.txt, .csv, .tsv, also compressed), Parquet, Pajek
    (.net), GraphML, GEXF or node-link JSON. A file with two readings is refused with the options that decide. Without
    --truth, matches are counted and not checked. A person may have several lines in the truth, as protect graph
    --origin writes them: any of the identities is right.

    \b
    unmask audit graph network.txt.gz --policy 'k_degree>=5'
    unmask audit graph network.txt.gz --overlap 0.5,0.75 --seeds random.25:1000 --report out.html
    unmask audit graph network.txt.gz --overlap 0.5,0.75 --with KDegree:k=10 --with RandomWalk --report out.html
    unmask audit graph network.txt.gz --overlap 0.5,0.75 --with IdentitySeparation:model=best:identities=5
    unmask audit graph release.csv --auxiliary known.csv --truth truth.csv --attack Nar09,Rematch --transition 5,25
    unmask audit graph network.txt.gz --overlap 0.5,0.75 --seeds random:100,top:100 --transition 5,25,50 --attack Nar09
    unmask audit graph release.csv --auxiliary known.csv --seeds-file found.csv --attack Rematch --json
    unmask audit graph traces.csv --evidence traces --within 3600 --times 2 --overlap 0.5,0.75

    Parameters
    ----------
    release : path
        File of the released network.
    auxiliary : path, optional
        network of the adversary, in which they know the people
    truth : path, optional
        table of who is who: id in AUXILIARY, id in RELEASE
    similarity : path, optional
        table of similar people (needs --auxiliary): id in AUXILIARY, id in RELEASE, larger weights for the more
        similar, in an order that Rematch and Climb use
    seeds_file : path, optional
        leaked identities: a table like --truth
    overlaps : sequence of str
        shares of people and edges in common of two networks made from RELEASE, in place of --auxiliary
    protections : sequence of str
        attack once more after this protection of unmask list, such as KDegree:k=10 (needs --overlap, repeatable)
    attacks : sequence of str
        attacks, separated by commas, with parameters after colons, as in Bumblebee:theta=0.5 (default: all, and
        Rematch:forced=true)
    seeds : sequence of str
        leaked identities: random, random.25, top, clique.4, betweenness.1 and more, drawn with the truth, or
        match_profiles, match_top and match_cliques without it (repeatable, compared with the first)
    transition : sequence of str or int
        other numbers of leaked identities to attack from, such as 5,25,100
    evidence : {"network", "traces"}
        form of RELEASE: a network, or a log user,time,place whose network is who met (needs --within)
    within : str, optional
        longest time between two records of an encounter, in the unit of the times, or for dates such as 60min
    times : int
        meetings that make an edge
    code : callable
        Function that returns the folder whose modules a parameter may run; None: none.
    **further
        See `audit`, and `EdgeListOptions` for both networks.
    """
    columns = {field.name: further.pop(field.name) for field in fields(EdgeListOptions) if field.name in further}
    separation = tuple(parse_protection(text, code("protections")) for text in dict.fromkeys(protections))
    choice: dict[str, Any] = {"overlaps": _parse_overlaps(overlaps), "separation": separation}
    names = ("truth_partial", "truth_sampled", "largest_component", "discovery", "time_limit", "checkpoint")
    conditions: dict[str, Any] = {name: further.get(name) for name in names}
    check_choice(
        auxiliary, choice["overlaps"], protections=protections, truth=truth, seeds_file=seeds_file,
        similarity=similarity, attacks=attacks, seeds=seeds, transition=transition, **conditions,
    )  # fmt: skip
    parse_methods(seeds, n_people=1)
    if further.get("discovery") is not None:
        Discovery.parse(further["discovery"])
    plan = {
        "attacks": parse_attacks(attacks, code("attacks")) if attacks else (),
        "seeds": seeds,
        "transition": _parse_counts(transition),
    }
    if (evidence == "traces") != (within is not None):
        raise UnmaskError("traces need `within`, and networks have no times; give evidence='traces' within='3600'")
    graph = (
        SocialGraph.read(release, **columns)
        if within is None
        else read_co_location(release, within=within, times=times)
    )
    tables = _read_tables(graph, auxiliary, columns, truth=truth, similarity=similarity, seeds=seeds_file)
    if (watched := further.get("watched")) is not None:
        watched.rows = f"id_in_{'release' if auxiliary is None else 'auxiliary'}"
    return audit({name_files((release,))[0]: graph}, **{**choice, **plan, **tables, **further})


def _read_tables(
    graph: SocialGraph, auxiliary: Path | None, columns: Mapping[str, Any], **pairs: Path | None
) -> dict[str, Any]:
    """Return the adversary's network, and the given tables of pairs of people."""
    if auxiliary is None:
        return {}
    auxiliary_graph = SocialGraph.read(auxiliary, **columns)
    kinds: dict[str, Any] = {"truth": Pair, "similarity": Similarity, "seeds": SeedPairs}
    tables = {name: kinds[name].read(auxiliary_graph, graph, path) for name, path in pairs.items() if path is not None}
    return {"auxiliary": auxiliary_graph, **tables}


def _parse_overlaps(texts: Iterable[str]) -> tuple[tuple[float, float], ...]:
    """Parse texts NODES,EDGES into overlaps."""
    overlaps: dict[str, tuple[float, float]] = {}
    for text in texts:
        try:
            nodes, edges = (float(part) for part in text.split(","))
        except ValueError:
            raise UnmaskError(f"`overlaps` is {text!r}, expected two shares NODES,EDGES such as 0.5,0.75") from None
        if not (0 <= nodes <= 1 and 0 < edges <= 1):
            raise UnmaskError(f"`overlaps` is {text!r}, expected shares from 0 to 1, that of edges above 0")
        if f"{nodes:g}/{edges:g}" in overlaps:
            raise UnmaskError(f"`overlaps` {text} is given twice, expected overlaps that differ within 6 digits")
        overlaps[f"{nodes:g}/{edges:g}"] = nodes, edges
    return tuple(overlaps.values())


def _parse_counts(values: Iterable[str | int]) -> tuple[int, ...]:
    """Return distinct numbers of seeds in ascending order."""
    texts = list(map(str, values))
    if not all(map(is_count, texts)):
        raise UnmaskError(
            f"`transition` is {','.join(texts)!r}, expected whole numbers of seeds from 1, as in 5,25,100"
        )
    return tuple(sorted(set(map(int, texts))))
