"""Networks that stay in an engine: `unmask audit graph --engine`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from unmask.cli.files import as_text, refuse_to_overwrite
from unmask.cli.large import refuse_without_engine

if TYPE_CHECKING:
    from unmask.graphs import KorulaLattanzi, Nar09, Rematch
    from unmask.graphs.large import Checkpoint, Found, Mapped, Network

ATTACKS = ("Nar09", "KorulaLattanzi", "Rematch")
"""Those that are joins and counts."""

_TAKEN = {
    "release", "auxiliary", "truth", "seeds_file", "attacks", "pairs", "engine", "memory_limit", "temp_directory",
    "checkpoint", "dry_run", "as_json", "force", "smallest_shown", "source", "target",
}  # fmt: skip


def refuse_networks_without_engine(
    *, pairs: Path | None, checkpoint: Path | None, dry_run: bool, temp_directory: Path | None, **_: Any
) -> None:
    """The options of an engine say nothing without one."""
    from unmask.errors import UnmaskError

    refuse_without_engine(dry_run=dry_run, temp_directory=temp_directory)
    for option, value in (("--pairs", pairs), ("--checkpoint", checkpoint)):
        if value is not None:
            raise UnmaskError(f"{option} is for networks that stay in an engine; add --engine duckdb, or leave it out")


def audit_graph_in_engine(
    release: Path, *, pairs: Path | None, as_json: bool, force: bool, least: int, **given: Any
) -> None:
    """Attack a network where it is; say what it will take, then what was found.

    least : the fewest people that a class of degrees stands for. given : other options
    """
    from unmask.engines import open_engine
    from unmask.graphs import large

    adversaries = _adversaries(click.get_current_context(), given["auxiliary"], given["seeds_file"], given["attacks"])
    if pairs is not None:
        _check_pairs(pairs, len(adversaries), force=force)
    room: dict[str, Any] = {name: given[name] for name in ("memory_limit", "temp_directory")}
    share = large.engine_share(given["memory_limit"])
    with open_engine(given["engine"], memory_limit=share, temp_directory=given["temp_directory"]) as engine:
        networks = (
            large.load(engine, str(given["auxiliary"]), name="auxiliary", ends=given["ends"]),
            large.load(engine, str(release), name="released", ends=given["ends"]),
        )
        n_seeds = large.read_seeds(*networks, str(given["seeds_file"]))
        truth = given["truth"]
        common = None if truth is None else large.read_truth(*networks, str(truth))
        click.echo(f"{release.name}: {large.plan(*networks, **room)}", err=True)
        if given["dry_run"]:
            return
        kept = _checkpoint(given["checkpoint"], networks, adversaries)
        attacks = []
        for at, (name, adversary) in enumerate(adversaries.items()):
            mapped = large.attack(*networks, "seeds", adversary, name=f"attack{at}", checkpoint=kept)
            found = None if truth is None else large.evaluate(networks[0], mapped)
            attacks.append(_attack(name, mapped, found, n_seeds, networks[0].n_nodes, least))
            if pairs is not None:
                large.write_pairs(*networks, mapped, pairs, force=force)
                click.echo(f"wrote {pairs}", err=True)
    if as_json:
        click.echo(as_text(_json(networks, common, attacks)))
    else:
        for sentence in map(_sentence, attacks):
            click.echo(sentence)


def _adversaries(
    context: click.Context, auxiliary: Path | None, seeds_file: Path | None, attacks: tuple[str, ...]
) -> dict[str, Nar09 | KorulaLattanzi | Rematch]:
    """The attacks by what was written; an error for what needs the networks in memory."""
    from unmask.cases.graphs.scenes import parse_attacks
    from unmask.errors import UnmaskError
    from unmask.graphs import KorulaLattanzi, Nar09, Rematch
    from unmask.graphs.large import check_adversary

    for parameter in context.command.params:
        name = str(parameter.name)
        if name not in _TAKEN and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UnmaskError(f"{parameter.opts[0]} needs the networks in memory; leave it or --engine out")
    if auxiliary is None or seeds_file is None:
        raise UnmaskError("an engine attacks with --auxiliary and --seeds-file, expected both")
    by_default = context.get_parameter_source("attacks") is ParameterSource.DEFAULT
    found: dict[str, Nar09 | KorulaLattanzi | Rematch] = {}
    for name, attack in parse_attacks(ATTACKS if by_default else attacks).items():
        if isinstance(attack, Nar09):
            found[name] = replace(attack, synchronous=True)
        elif isinstance(attack, KorulaLattanzi | Rematch):
            found[name] = attack
        else:
            raise UnmaskError(f"{name} needs the networks in memory; the attacks of an engine are {', '.join(ATTACKS)}")
        check_adversary(found[name])
    return found


def _check_pairs(pairs: Path, n_attacks: int, *, force: bool) -> None:
    """Before any work: whether the pairs can be written."""
    from unmask.errors import UnmaskError
    from unmask.graphs.large import check_output

    if n_attacks != 1:
        raise UnmaskError(f"--pairs holds the names of one attack, {n_attacks} were given; choose one (--attack)")
    refuse_to_overwrite(pairs, force=force)
    check_output(pairs, force=force)


def _checkpoint(
    folder: Path | None, networks: tuple[Network, Network], adversaries: dict[str, Nar09 | KorulaLattanzi | Rematch]
) -> Checkpoint | None:
    """Where attacks are kept; before any work, what is refused, and where those that were interrupted go on."""
    from unmask.graphs.large import Checkpoint

    if folder is None:
        return None
    kept = Checkpoint.open(folder, *networks)
    passes = {name: len(kept.progress(adversary).sweeps) for name, adversary in adversaries.items()}
    for name, n in passes.items():
        if n:
            click.echo(f"{name}: passes made before, and not again: {n}", err=True)
    return kept


def _attack(name: str, mapped: Mapped, found: Found | None, n_seeds: int, n_nodes: int, least: int) -> dict[str, Any]:
    """What an attack found, by the names that it has in memory."""
    names, people = mapped.n_pairs - n_seeds, n_nodes - n_seeds
    result: dict[str, Any] = {
        "attack": name,
        "n_seeds": n_seeds,
        "people": people,
        "names": names,
        "coverage": names / people if people else None,
        "steps": mapped.sweeps,
        "wedges": mapped.wedges,
    }
    if found is not None:
        result |= {rate: getattr(found.rates, rate) for rate in ("recall", "precision", "error")}
        result["ghosts"] = found.rates.ghost_share
        result["by_degree"] = [asdict(one) for one in found.by_degree if one.people >= least]
    return result


def _json(networks: tuple[Network, Network], common: int | None, attacks: list[dict[str, Any]]) -> dict[str, Any]:
    sizes: Iterator[tuple[str, int]] = (
        item
        for side, network in zip(("source", "target"), networks, strict=True)
        for item in ((f"{side}_nodes", network.n_nodes), (f"{side}_edges", network.n_edges))
    )
    return {"graph": {**dict(sizes), "common": common, "truth_known": common is not None, "attacks": attacks}}


def _sentence(found: dict[str, Any]) -> str:
    said = (
        f"{found['attack']} from {found['n_seeds']:,} leaked identities names {found['names']:,} of "
        f"{found['people']:,} other people"
    )
    if "recall" not in found:
        return f"{said}; whether rightly is not known (--truth)."
    recall, precision = found["recall"], found["precision"]
    right = "nobody else is in both networks" if recall is None else f"{recall:.1%} of those in both networks rightly"
    return f"{said}: {right}; " + (
        "no name is given." if precision is None else f"{precision:.1%} of its names are right."
    )
