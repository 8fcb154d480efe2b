"""`unmask game`: the publisher's game of a document, over its protections, its terms and its attackers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unmask.core.distinct_rows import group_rows
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.document import in_document, load
from unmask.economics import (
    AttackerKind,
    Move,
    ProtectedRelease,
    Publisher,
    PublisherGame,
    Terms,
    campaign,
    one_shot,
    play_out,
    price_records,
)
from unmask.economics.attacker import Attacker, list_parameters
from unmask.economics.campaign import remove_discount
from unmask.economics.game import WITHHELD
from unmask.economics.groups import compute_inside_probability, count_candidates, find_uniform_rows
from unmask.files import read_json
from unmask.plan import NOTHING, Cell, Plan, unknown
from unmask.reports.facts.game import (
    Alone,
    GameData,
    Kind,
    Stopping,
)
from unmask.studies.advice import (
    best_of_each,
    curves_of,
    deterring_offers,
    offer_of,
    safer_offer,
    sensitive_inputs,
)
from unmask.studies.beliefs import Faced, faced
from unmask.studies.reading import read_plan
from unmask.studies.run import GAME, JOURNAL
from unmask.studies.stated import Stated, stated
from unmask.version import __version__
from unmask.writing import replace_file, write_text

SIZE_DRAWS = 16
"""Number of draws of all group sizes for a campaign that does not know them when it pays for the data."""

EQUAL_RISKS = 1e-9
"""Difference below which two probabilities are the same."""

Releases = Mapping[str, Mapping[str, Faced]]
"""Protection -> adversary -> its release, as they face it."""


def file_game(
    path: Path, study: Path, *, allow_code: bool = False, watch: Callable[[str], None] | None = None
) -> GameData:
    """Play the game of a study's document, and keep it with the results of the study."""
    found = play(path, study=study, allow_code=allow_code, watch=watch)
    with replace_file(study / GAME) as place:
        write_text(place, json.dumps(asdict(found)))
    return found


def filed_game(study: Path) -> GameData | None:
    """The game that was played of a study; None where none was."""
    path = study / GAME
    if not path.is_file():
        return None
    try:
        return GameData.of(read_json(path, "game"))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise UnmaskError(f"{GAME} of folder {study.name!r} is damaged; run unmask study again, or delete it") from None


def play(
    path: Path,
    *,
    study: Path | None = None,
    allow_code: bool = False,
    watch: Callable[[str], None] | None = None,
) -> GameData:
    """The game of a document: every protection is attacked with what the adversaries know, and every belief priced.

    study : folder of a study of the document; what it has attacked is not attacked again
    allow_code : see `read_plan`
    watch : called with each protection whose release is attacked
    """
    if study is not None and not (study / JOURNAL).is_file():
        raise UnmaskError(f"folder {study.name!r} holds no study; run unmask study, or leave --study out")
    plan, watched = read_plan(path, allow_code=allow_code), watch or (lambda _: None)
    with in_document(path):
        said = stated(load(path), path.parent)
        releases = _attacked(plan, said, study, watched)
        game = PublisherGame(said.publisher, _protected(releases, plan, said), said.attackers)
        return _played(plan, said, releases, game)


def priced(plan: Plan, path: Path) -> list[Cell] | None:
    """The cells of a study that the game of its document prices; None where it has no publisher, or several data sets.

    Raises `UnmaskError` for a document whose game says what there is not.
    """
    if "publisher" not in load(path) or len(plan.datasets) > 1:
        return None
    with in_document(path):
        return _cells(plan, stated(load(path), path.parent))


def _played(plan: Plan, said: Stated, releases: Releases, game: PublisherGame) -> GameData:
    """The game, weighed."""
    moves = game.moves(**said.terms)
    ranked = _ranked(moves)
    whose = [(name, kind, releases[name][_whose(kind, said, plan)]) for name, kind in product(ranked, said.attackers)]
    data = GameData(
        title=plan.title,
        people=whose[0][2].belief.n_targets,
        publisher={item.name: getattr(said.publisher, item.name) for item in fields(Publisher)},
        kinds=tuple(_kind(kind, said, plan) for kind in said.attackers),
        now=offer_of(game, game.move(_first(plan), Terms())),
        offers=tuple(offer_of(game, one) for one in best_of_each(moves)),
        undecided=len(game.undecided(moves)),
        looked_at=len(moves),
        stopping=tuple(_stopping(game, *one) for one in whose),
        curves=curves_of(game, said, ranked),
        reproduce={"Version": f"unmask {__version__}"},
    )
    return replace(
        data,
        deterring=deterring_offers(game) if data.taken.protection == WITHHELD else (),
        safer=safer_offer(game, said, data.taken),
        sensitivity=sensitive_inputs(game, said),
        alone=tuple(found for one in whose if (found := _alone(game, *one)) is not None),
    )


def _first(plan: Plan) -> str:
    """The protection that leaves everything as it is, or the first."""
    return next((part.name for part in plan.protections if part.use == NOTHING), plan.protections[0].name)


def _ranked(moves: Sequence[Move]) -> list[str]:
    """The protections, the best first."""
    return list(dict.fromkeys(one.protection for one in moves if one.protection != WITHHELD))


def _attacked(plan: Plan, said: Stated, study: Path | None, watch: Callable[[str], None]) -> Releases:
    """The release of each protection as the adversaries face it; of several seeds the first."""
    releases: dict[str, dict[str, Faced]] = {}
    for cell in _cells(plan, said):
        if cell.protection.name not in releases:
            watch(cell.protection.name)
        releases.setdefault(cell.protection.name, {})[cell.adversary.name] = faced(cell, study)
    return releases


def _cells(plan: Plan, said: Stated) -> list[Cell]:
    """The cells whose beliefs are priced: every protection against the adversaries whose knowledge attackers have."""
    if len(plan.datasets) > 1:
        raise UnmaskError(f"it has {len(plan.datasets)} data sets, expected 1: a game is about one release")
    named = {part.name: part for part in plan.adversaries}
    for kind, name in said.adversary.items():
        if name and name not in named:
            raise UnmaskError(unknown(name, list(named), f"adversary of {kind!r}"))
    whose = dict.fromkeys(_whose(kind, said, plan) for kind in said.adversary)
    return [
        Cell(plan.datasets[0], protection, named[name], plan.seeds[0], ())
        for protection, name in product(plan.protections, whose)
    ]


def _protected(releases: Releases, plan: Plan, said: Stated) -> dict[str, ProtectedRelease]:
    """What attackers of each kind face, and the utility, of each protection."""
    found = {}
    for name, own in releases.items():
        of = {adversary: group_rows(one.belief).posterior for adversary, one in own.items()}
        who = {kind: of[_whose(kind, said, plan)] for kind in said.adversary}
        found[name] = ProtectedRelease(who, min(max(next(iter(own.values())).utility, 0.0), 1.0))
    return found


def _whose(kind: str, said: Stated, plan: Plan) -> str:
    return said.adversary[kind] or plan.adversaries[0].name


def _kind(kind: str, said: Stated, plan: Plan) -> Kind:
    expected = said.attackers[kind]
    told = list_parameters(expected.actual or expected.attacker)
    told |= {"believed_detection": expected.attacker.detection} if expected.actual else {}
    del told["prior"]
    return Kind(kind, expected.number, _whose(kind, said, plan), told, kind in said.assumed)


def _stopping(game: PublisherGame, name: str, kind: str, found: Faced) -> Stopping:
    """What stops a kind, and whom they re-identify where nobody fines them: as they believe, and in truth."""
    free = replace(game.attackers[kind].attacker, max_fines=0, access_cost=0.0)
    unfined = replace(game, attackers={kind: AttackerKind(free)}).best_campaign(name, kind)
    return Stopping(
        name,
        kind,
        game.break_even_price(name, kind),
        game.break_even_fine(name, kind),
        unfined.re_identified.high,
        _realized(free, replace(found, belief=_in_kinds(game, name, kind))),
    )


def _in_kinds(game: PublisherGame, name: str, kind: str) -> Posterior:
    """What a kind believes of a protection, a row for each kind of observation."""
    belief = game.protections[name].targets_of(kind)
    assert isinstance(belief, Posterior)
    return belief


def _alone(game: PublisherGame, name: str, kind: str, found: Faced) -> Alone | None:
    """One person at a time beside one campaign, as far as candidates are alike and are people behind records."""
    belief = found.belief
    if game.attackers[kind].attacker.is_uncertain:
        return None  # the models of one person at a time know neither doubt
    inside, row = compute_inside_probability(belief), belief.observation
    if not (find_uniform_rows(_in_kinds(game, name, kind)).all() and inside.any()):
        return None
    share = np.bincount(row, minlength=belief.n_observations)[row] / len(row)
    sizes = count_candidates(belief)[row]
    attacker = remove_discount(replace(game.attackers[kind].attacker, prior=float(inside[row][sizes > 0].mean())))
    one_try = price_records(one_shot(attacker), sizes)
    known = price_records(attacker, sizes)
    unknown_sizes = price_records(
        attacker, sizes, population=belief.n_candidates, cell_probability=share, belief="binomial"
    )
    together = campaign(attacker, sizes)
    tries = known.clean_tries * known.access
    n_all, n_some = int(np.sum((tries > 0) & (tries >= sizes))), int(np.sum((tries > 0) & (tries < sizes)))
    change = unknown_sizes.success_probability - known.success_probability
    is_spared = known.success_probability <= EQUAL_RISKS
    return Alone(
        protection=name,
        kind=kind,
        people=len(row),
        inside=attacker.prior * float((sizes > 0).sum()),
        one_try=float(one_try.success_probability.sum()),
        known=float(known.success_probability.sum()),
        unknown=float(unknown_sizes.success_probability.sum()),
        campaign=float(together.success_probability.sum()),
        blind=_pays_without_sizes(attacker, belief.n_candidates, share),
        tried=(n_all, n_some, len(sizes) - n_all - n_some),
        changed=(int(np.sum(change < -EQUAL_RISKS)), int(np.sum(change > EQUAL_RISKS))),
        spared=(int(is_spared.sum()), float(together.success_probability[is_spared].sum())),
        reach=int(sizes[known.access].max(initial=0)),
    )


def _pays_without_sizes(attacker: Attacker, population: int, shares: NDArray[np.float64]) -> bool:
    """Return True if the outside data are worth their price to a campaign that learns the sizes by paying."""
    rng, free = np.random.default_rng(0), replace(attacker, access_cost=0.0)
    distinct, people = np.unique(shares, return_counts=True)
    payoffs = [campaign(free, rng.binomial(population, distinct), people=people).payoff for _ in range(SIZE_DRAWS)]
    return bool(np.mean(payoffs) > attacker.access_cost)


def _realized(free: Attacker, found: Faced) -> float | None:
    """People who are re-identified by somebody who fears no fine, played out against the truth."""
    if found.better is None or found.tied is None:
        return None
    return float(play_out(free, found.belief, found.better, found.tied).sum())
