"""`unmask audit graph`: who is re-identified in a released network by an adversary who knows another part of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.documents import DomainCommand, allow_code_option, code_folder
from unmask.cli.generated import FILE, NAMES, grouped, join_names, options
from unmask.cli.output import Output, at_risk_option, audit_output
from unmask.cli.separation import column_options, reading_options
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError
from unmask.domains import name_files

if TYPE_CHECKING:
    from unmask.graphs import SocialGraph


def _overlaps(texts: tuple[str, ...]) -> tuple[tuple[float, float], ...]:
    """NODES,EDGES, given any number of times."""
    overlaps: dict[str, tuple[float, float]] = {}
    for text in texts:
        nodes, edges = _overlap(text)
        if f"{nodes:g}/{edges:g}" in overlaps:
            raise UnmaskError(f"{text} is given twice, expected overlaps that differ within 6 digits")
        overlaps[f"{nodes:g}/{edges:g}"] = nodes, edges
    return tuple(overlaps.values())


def _overlap(text: str) -> tuple[float, float]:
    try:
        nodes, edges = (float(part) for part in text.split(","))
    except ValueError:
        raise UnmaskError(f"expected two shares NODES,EDGES such as 0.5,0.75, given {text!r}") from None
    if not (0 <= nodes <= 1 and 0 < edges <= 1):
        raise UnmaskError(f"expected shares from 0 to 1, that of edges above 0, given {text!r}")
    return nodes, edges


def _seeds(text: str | None) -> str | None:
    """METHOD:COUNT."""
    from unmask.graphs.audit.attack_plan import parse_seeds

    if text is not None:
        parse_seeds(text)
    return text


def _counts(values: tuple[tuple[str, ...], ...]) -> tuple[int, ...]:
    """Numbers of seeds, separated by commas."""
    from unmask.graphs.audit.attack_plan import is_count

    texts = join_names(values)
    if not all(map(is_count, texts)):
        raise UnmaskError(f"expected whole numbers of seeds from 1, as in 5,25,100, given {','.join(texts)!r}")
    return tuple(sorted(set(map(int, texts))))


@click.command("audit graph", cls=DomainCommand)
@click.argument("release", type=FILE)
@grouped("Knowledge", options(
    "unmask.graphs.audit:audit",
    auxiliary={"type": FILE},
    truth={"type": FILE},
    truth_partial={},
    truth_sampled={},
    similarity={"type": FILE},
    overlaps={"flags": ("--overlap",), "multiple": True, "parse": _overlaps, "metavar": "NODES,EDGES"},
    largest_component={},
    attacks={"flags": ("--attack",), **NAMES},
    seeds={"parse": _seeds, "metavar": "METHOD:COUNT"},
))  # fmt: skip
@grouped("Knowledge", click.option(
    "--with", "protections", multiple=True, metavar="NAME:KEY=VALUE",
    help="Attack once more after this protection of unmask list, such as KDegree:k=10 (needs --overlap). Repeatable.",
))  # fmt: skip
@grouped("Knowledge", click.option("--seeds-file", type=FILE, help="Leaked identities: a table like --truth."))
@grouped("Knowledge", options("unmask.graphs.audit:audit", runs={}, transition={**NAMES, "parse": _counts}, seed={}))
@column_options
@options("unmask.graphs.audit:audit", checkpoint={"type": FILE, "metavar": "FOLDER"})
@allow_code_option
@at_risk_option
@audit_output
def audit_graph(
    release: Path,
    auxiliary: Path | None,
    truth: Path | None,
    seeds_file: Path | None,
    similarity: Path | None,
    protections: tuple[str, ...],
    attacks: tuple[str, ...],
    output: Output,
    **settings: Any,
) -> None:
    r"""Attack a released network: how many people are re-identified by their edges alone.

    A network is a list of edges, an adjacency list or a matrix (.txt, .csv, .tsv, also compressed), Parquet, Pajek
    (.net), GraphML, GEXF or node-link JSON. A file with two readings is refused with the options that decide. Without
    --truth nothing can be checked: the report then says how many people are given a name. In that table a person may
    have several lines, as protect graph --origin writes them: any of the identities is right.

    \b
    unmask audit graph network.txt.gz --overlap 0.5,0.75 --seeds random.25:1000 --report out.html
    unmask audit graph network.txt.gz --overlap 0.5,0.75 --with KDegree:k=10 --with RandomWalk --report out.html
    unmask audit graph network.txt.gz --overlap 0.5,0.75 --with IdentitySeparation:model=best:identities=5
    unmask audit graph release.csv --auxiliary known.csv --truth truth.csv --attack Nar09,Rematch --transition 5,25
    unmask audit graph release.csv --auxiliary known.csv --seeds-file found.csv --attack Rematch --json
    """
    from unmask.graphs.audit import audit, check_choice
    from unmask.graphs.audit.attack_plan import parse_attacks, parse_protection

    code = code_folder("protections")
    settings["separation"] = tuple(parse_protection(text, code) for text in dict.fromkeys(protections))
    name = name_files((release,))[0]
    reading = reading_options(settings)
    choice = {key: settings[key] for key in ("overlaps", "separation", "truth_partial")}
    check_choice(auxiliary, truth, seeds_file, similarity, **choice)  # before they are read
    settings["attacks"] = parse_attacks(attacks, code_folder("attacks")) if attacks else ()
    tables = {"truth": truth, "seeds_file": seeds_file, "similarity": similarity}
    graph, known_evidence = _read(release, auxiliary, tables, **reading)
    watched = output.start_at_risk(f"id_in_{'release' if auxiliary is None else 'auxiliary'}")
    result = audit({name: graph}, **{**settings, **known_evidence}, watched=watched, progress=_progress)
    for question, reason in result.not_run:
        if reason.startswith("failed: "):
            print_line(f"Not run: {question}: {reason.removeprefix('failed: ')}", err=True)
    output.write(result, watched=watched, releases=(release,))


def _progress(text: str) -> None:
    """Print the running step, on a terminal only."""
    if sys.stderr.isatty():
        print_line(text, err=True)


def _read(
    release: Path, auxiliary: Path | None, tables: dict[str, Path | None], **columns: Any
) -> tuple[SocialGraph, dict[str, Any]]:
    """Read the released network and the tables of pairs of people that the auditor has."""
    from unmask.graphs import Pair, SeedPairs, Similarity, SocialGraph

    graph = SocialGraph.read(release, **columns)
    if auxiliary is None:
        return graph, {}
    theirs = SocialGraph.read(auxiliary, **columns)
    readers: dict[str, Any] = {"truth": Pair, "seeds_file": SeedPairs, "similarity": Similarity}
    evidence = {key: readers[key].read(theirs, graph, path) for key, path in tables.items() if path is not None}
    seeds = {"seeds": evidence.pop("seeds_file")} if "seeds_file" in evidence else {}
    return graph, {"auxiliary": theirs, **evidence, **seeds}
