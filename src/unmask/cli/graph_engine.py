"""Networks that stay in an engine: `unmask audit graph --engine`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from unmask.cli.engine import refuse, refuse_without_engine
from unmask.cli.files import refuse_to_overwrite
from unmask.cli.terminal import say

if TYPE_CHECKING:
    from unmask.graphs import KorulaLattanzi, Nar09, Rematch
    from unmask.graphs.stored import Checkpoint, Mapped, Network
    from unmask.reports import ReportData

_TAKEN = {
    "release", "auxiliary", "truth", "seeds_file", "attacks", "pairs", "engine", "memory_limit", "temp_directory",
    "checkpoint", "dry_run", "as_json", "in_short", "report", "sarif", "export", "policies", "force", "smallest_shown",
    "source", "target", "quiet",
}  # fmt: skip


def refuse_networks_without_engine(*, pairs: Path | None, dry_run: bool, temp_directory: Path | None, **_: Any) -> None:
    """The options of an engine say nothing without one."""
    refuse_without_engine(dry_run=dry_run, temp_directory=temp_directory)
    refuse(
        {"--pairs": pairs is not None}, "is for networks that stay in an engine; add --engine duckdb, or leave it out"
    )


def audit_graph_in_engine(
    release: Path, *, pairs: Path | None, title: str, name: str, force: bool, **given: Any
) -> ReportData | None:
    """Attack a network where it is; say what it will take first. None after a dry run. given : other options"""
    from unmask.cases.graphs.stored import Stored, audit_stored
    from unmask.data.engine import open_engine
    from unmask.data.resources import limit_engine_memory
    from unmask.graphs.stored import plan, write_pairs

    adversaries = _adversaries(click.get_current_context(), given["auxiliary"], given["seeds_file"], given["attacks"])
    if pairs is not None:
        _check_pairs(pairs, len(adversaries), force=force)
    auxiliary, seeds, truth = (given[key] and str(given[key]) for key in ("auxiliary", "seeds_file", "truth"))
    room: dict[str, Any] = {name: given[name] for name in ("memory_limit", "temp_directory")}
    share = limit_engine_memory(given["memory_limit"])
    with open_engine(given["engine"], memory_limit=share, temp_directory=given["temp_directory"]) as engine:
        stored = Stored.load(engine, str(release), auxiliary, seeds, truth, given["ends"])
        say(f"{release.name}: {plan(*stored.networks, **room)}", err=True)
        if given["dry_run"]:
            return None

        def keep(mapped: Mapped) -> None:
            if pairs is not None:
                write_pairs(*stored.networks, mapped, pairs, force=force)
                say(f"wrote {pairs}", err=True)

        kept = _checkpoint(given["checkpoint"], stored.networks, adversaries)
        about: dict[str, Any] = {"title": title, "checkpoint": kept, "each": keep}
        return audit_stored(stored, adversaries, release=name, **about)


def _adversaries(
    context: click.Context, auxiliary: Path | None, seeds_file: Path | None, attacks: tuple[str, ...]
) -> dict[str, Nar09 | KorulaLattanzi | Rematch]:
    """The attacks by what was written; an error for what needs the networks in memory."""
    from unmask.cases.graphs.stored import IN_ENGINE
    from unmask.cases.graphs.written import parse_attacks
    from unmask.core.errors import UnmaskError
    from unmask.graphs import KorulaLattanzi, Nar09, Rematch
    from unmask.graphs.stored import check_adversary

    for parameter in context.command.params:
        name = str(parameter.name)
        if name not in _TAKEN and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise UnmaskError(f"{parameter.opts[0]} needs the networks in memory; leave it or --engine out")
    if auxiliary is None or seeds_file is None:
        raise UnmaskError("an engine attacks with --auxiliary and --seeds-file, expected both")
    by_default = context.get_parameter_source("attacks") is ParameterSource.DEFAULT
    found: dict[str, Nar09 | KorulaLattanzi | Rematch] = {}
    for name, attack in parse_attacks(IN_ENGINE if by_default else attacks).items():
        if isinstance(attack, Nar09):
            found[name] = replace(attack, synchronous=True)
        elif isinstance(attack, KorulaLattanzi | Rematch):
            found[name] = attack
        else:
            raise UnmaskError(
                f"{name} needs the networks in memory; the attacks of an engine are {', '.join(IN_ENGINE)}"
            )
        check_adversary(found[name])
    return found


def _check_pairs(pairs: Path, n_attacks: int, *, force: bool) -> None:
    """Before any work: whether the pairs can be written."""
    from unmask.core.errors import UnmaskError
    from unmask.data.resources import check_output

    if n_attacks != 1:
        raise UnmaskError(f"--pairs holds the names of one attack, {n_attacks} were given; choose one (--attack)")
    refuse_to_overwrite(pairs, force=force)
    check_output(pairs, force=force)


def _checkpoint(
    folder: Path | None, networks: tuple[Network, Network], adversaries: dict[str, Nar09 | KorulaLattanzi | Rematch]
) -> Checkpoint | None:
    """Where attacks are kept; before any work, what is refused, and where those that were interrupted go on."""
    from unmask.graphs.stored import Checkpoint

    if folder is None:
        return None
    kept = Checkpoint.open(folder, *networks)
    passes = {name: len(kept.progress(adversary).sweeps) for name, adversary in adversaries.items()}
    for name, n in passes.items():
        if n:
            say(f"{name}: passes made before, and not again: {n}", err=True)
    return kept
