"""`unmask protect graph` and `unmask advise identity`: protections of a network, for its owner and for a user."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.files import print_json, refuse_to_overwrite, suggest_command, write_release
from unmask.cli.generated import Command, options, output_option, pop_options
from unmask.cli.option_types import FILE, split_names
from unmask.cli.options import without_seed
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError
from unmask.data.writing import STANDARD_OUTPUT, format_csv

if TYPE_CHECKING:
    from unmask.graphs.graph import SocialGraph
    from unmask.graphs.protections import Separated


def _parse_numbers(text: str | None, is_valid: Callable[[float], bool], expected: str) -> tuple[float, ...]:
    """Return valid numbers, separated by commas."""
    try:
        numbers = tuple(map(float, split_names(text)))
    except ValueError:
        numbers = (math.nan,)
    if not all(map(is_valid, numbers)) or (text is not None and not numbers):
        raise UnmaskError(f"expected {expected}, given {text!r}")
    return numbers


def _is_probability(number: float) -> bool:
    return 0 <= number <= 1


PROBABILITIES: Mapping[str, Any] = {
    "metavar": "P1,P2",
    "parse": partial(
        _parse_numbers, is_valid=_is_probability,
        expected="a probability from 0 to 1 for each identity, such as 0.3,0.1",
    ),
}  # fmt: skip

AMOUNTS: Mapping[str, Any] = {
    "metavar": "U1,U2",
    "parse": partial(
        _parse_numbers, is_valid=lambda number: 0 < number < math.inf,
        expected="amounts above 0, one or one for each identity, such as 20,5",
    ),
}  # fmt: skip


def _parse_decision(text: str) -> str | tuple[float, ...]:
    """Return a decision rule: a word, or a probability for each identity."""
    expected = "uniform, likeliest, or a probability from 0 to 1 for each identity, such as 0.5,0.3"
    return text if text in ("uniform", "likeliest") else _parse_numbers(text, _is_probability, expected)


column_options = options("unmask.graphs:EdgeListOptions")

# --- protect graph --------------------------------------------------------------------------------------------------


@click.command("protect graph", cls=Command)
@click.argument("graph", type=FILE)
@click.option(
    "--with", "protection", default="IdentitySeparation", show_default=True, metavar="NAME:KEY=VALUE",
    help="Protection of graphs by its name in unmask list, parameters after colons.",
)  # fmt: skip
@click.option(
    "--output", "-o", required=True, type=FILE,
    help="File of the release: .txt, .tsv, .csv (.gz) or .parquet. In .net or .graphml, nodes without a contact are "
         "kept.",
)  # fmt: skip
@output_option("--origin", type=FILE, help="Write the person behind each released node. Keep it secret.")
@options("unmask.graphs.advice.seeding_loss:measure_seeding", clique={}, tolerance={}, top={})
@column_options
@output_option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@output_option("--force", is_flag=True, help="Overwrite existing files.")
@without_seed
def protect_graph(
    graph: Path,
    protection: str,
    output: Path,
    origin: Path | None,
    as_json: bool,
    force: bool,
    **settings: Any,
) -> None:
    r"""Release a network with changed edges, or with several unlinkable identities for some people.

    Released nodes have new random numbers. --origin writes original id, released number and role for `unmask audit
    graph --truth`.

    \b
    unmask protect graph friends.txt --with KDegree:k=10 -o release.txt --origin origin.csv
    unmask protect graph friends.txt --with PerturbEdges:delete=0.1:add=0.1 -o release.graphml
    unmask protect graph friends.txt --with IdentitySeparation:model=best:identities=5 -o release.txt
    unmask protect graph friends.txt --with IdentitySeparation:cooperation=degree:adopters=0.04 -o release.graphml
    unmask protect graph friends.txt --with IdentitySeparation:identities=2-18:2.31 --top 1000 -o release.txt
    unmask protect graph friends.txt --with Decoy:adopters=1.0 -o release.txt --origin origin.csv
    """
    from unmask.core.randomness import secret_unless
    from unmask.graphs.advice.seeding_loss import describe_seeding, find_border, measure_seeding
    from unmask.graphs.audit.attack_plan import parse_protection
    from unmask.graphs.files.writing import check_suffix
    from unmask.graphs.graph import SocialGraph
    from unmask.graphs.protections import IdentitySeparation, apply_protection, has_adopters
    from unmask.graphs.utility import lost, utility
    from unmask.measures import UTILITIES
    from unmask.results.formats import percent

    refuse_to_overwrite(origin, force=force, stream=output)
    if output != STANDARD_OUTPUT:
        check_suffix(output.name)
    chosen, seeding = parse_protection(protection, Path()), pop_options(settings, ("clique", "tolerance", "top"))
    people = SocialGraph.read(graph, **settings)
    find_border(people, seeding["top"])  # an error before the work
    start = time.perf_counter()
    separated = apply_protection(chosen, people, rng=secret_unless(None))
    seconds = time.perf_counter() - start
    release, nodes = _writable(separated, output)
    losses = lost(people, *separated)
    facts = {
        "nodes": release.n_nodes, "edges": release.n_edges, "people": people.n_nodes, "edges_before": people.n_edges,
        "adopters": len(separated.adopters), "left_out": separated.release.n_nodes - release.n_nodes,
        "seconds": round(seconds, 3), "utility": utility(losses), **losses,
    }  # fmt: skip
    seeding_loss = (
        measure_seeding(people, separated, chosen, **seeding) if isinstance(chosen, IdentitySeparation) else None
    )
    facts |= {} if seeding_loss is None else vars(seeding_loss)
    show = partial(print_json, results=[facts]) if as_json else None
    write_release(release.write, output, _origin_text(people, separated, nodes), origin, show=show)
    if facts["left_out"]:
        print_line(
            f"{facts['left_out']:,} released nodes have no contact, which a list of links cannot hold: left out; "
            "write .net or .graphml to keep them",
            err=True,
        )
    print_line(
        f"wrote {output}: {release.n_nodes:,} nodes and {release.n_edges:,} edges of {people.n_nodes:,} people with "
        f"{people.n_edges:,}" + f"; {len(separated.adopters):,} of them separated" * has_adopters(chosen),
        err=True,
    )
    shares = ", ".join(f"{UTILITIES[name].label.lower()} {percent(share)}" for name, share in losses.items())
    print_line(f"utility {percent(utility(losses))}: {shares}", err=True)
    for sentence in describe_seeding(seeding_loss, seeding["clique"]) if seeding_loss is not None else ():
        print_line(f"seeding: {sentence}", err=True)
    if origin is not None and not as_json:
        suggest_command("audit", "graph", output, "--auxiliary", graph, "--truth", origin)


def _writable(separated: Separated, output: Path) -> tuple[SocialGraph, Any]:
    """Return the release as the file can hold it, and the released nodes in it."""
    import numpy as np

    release = separated.release
    if output.name.lower().removesuffix(".gz").endswith((".net", ".graphml")):
        return release, np.arange(release.n_nodes)
    nodes = np.flatnonzero(release.degree > 0)
    return release.take(nodes), nodes


def _origin_text(people: SocialGraph, separated: Separated, nodes: Any) -> str:
    """Return a line for each released node: its person, its number, and its role for the person."""
    from unmask.graphs.protections import Role

    owner = separated.origin[nodes]
    names = owner if people.labels is None else people.labels[owner]
    roles = [Role(role).name.lower() for role in separated.role[nodes].tolist()]
    return format_csv(("original", "released", "role"), zip(names.tolist(), range(len(nodes)), roles, strict=True))


# --- advise identity ------------------------------------------------------------------------------------------------


@click.command("advise identity", cls=Command)
@click.option("--graph", required=True, type=FILE, help="Network, as far as it is known.")
@click.option("--node", required=True, help="Your id in it.")
@options(
    "unmask.graphs.advice.identity_advice:advise",
    "identities", "shares", "model", "clique", "tolerance", "top", "discovery", "runs", "attack", "leaked", "loss",
    "gain", "accepts", "equal_secrets", "k", "seed",
    shares=PROBABILITIES, discovery=PROBABILITIES, loss=AMOUNTS, gain=AMOUNTS,
    accepts={"parse": _parse_decision, "metavar": "uniform|likeliest|P1,P2"},
)  # fmt: skip
@column_options
@output_option("--json", "as_json", is_flag=True, help="Print the advice as one JSON object.")
def advise_identity(
    graph: Path,
    node: str,
    as_json: bool,
    **settings: Any,
) -> None:
    r"""Estimate if several identities hide one person of a network, and where to put a secret.

    Only numbers about that person are shown. State the probabilities that the identities are found (--discovery),
    simulate them (--runs), or leave them unknown.

    \b
    unmask advise identity --graph friends.txt --node 17
    unmask advise identity --graph friends.txt --node 17 --discovery 0.3,0.1 --k 3
    unmask advise identity --graph friends.txt --node 17 --shares 0.1,0.9 --tolerance 0.1 --top 1000
    unmask advise identity --graph friends.txt --node 17 --discovery 0.3,0.1 --loss 20,5 --accepts likeliest
    unmask advise identity --graph friends.txt --node 17 --identities 3 --runs 10 --attack Nar09 --leaked 1000
    """
    from unmask.graphs import EdgeListOptions
    from unmask.graphs.advice.identity_advice import advise
    from unmask.graphs.advice.identity_sentences import sentences
    from unmask.graphs.graph import SocialGraph

    columns = pop_options(settings, [field.name for field in fields(EdgeListOptions)])
    network = SocialGraph.read(graph, **columns)
    advice = advise(network, _node(network, node, graph), **settings)
    if as_json:
        print_json(results=[advice])
        return
    for sentence in sentences(advice):
        print_line(sentence)


def _node(graph: SocialGraph, name: str, path: Path) -> int:
    """Return the node with this id."""
    import numpy as np

    if graph.labels is None:
        matches = [int(name)] if name.isdecimal() and int(name) < graph.n_nodes else []
    else:
        matches = np.flatnonzero(graph.labels.astype(str) == name).tolist()
    if not matches:
        raise UnmaskError(f"the node given is not in {path.name!r}, expected an id of its people; check the id")
    return int(matches[0])
