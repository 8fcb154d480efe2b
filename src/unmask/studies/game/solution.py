"""`unmask game`: solve the publisher's game of a document for its protections, terms and attackers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from unmask.core.distinct_rows import group_rows
from unmask.core.errors import UnmaskError, explain_unknown
from unmask.core.posterior import Posterior
from unmask.data.files import read_json
from unmask.data.writing import replace_file, write_text
from unmask.document import in_document, load
from unmask.economics import (
    AttackerKind,
    ProtectedRelease,
    PublisherGame,
    Terms,
    campaign,
    one_shot,
    play_out,
    price_records,
)
from unmask.economics.attacker import Attacker, list_parameters
from unmask.economics.campaigns.campaign import remove_discount
from unmask.economics.deterrence.search import bisect_whole
from unmask.economics.game.game import WITHHELD
from unmask.economics.plans.groups import compute_inside_probability, count_candidates, find_uniform_rows
from unmask.economics.plans.records import EQUAL_RISKS
from unmask.plan import NOTHING, Cell, Part, Plan, digest
from unmask.studies.beliefs import AttackedRelease, load_or_attack
from unmask.studies.game.document import GameDocument, parse_game
from unmask.studies.game.facts import Attackers, DeterringSize, GameFacts, SingleAttacks, StoppingTerms
from unmask.studies.game.offers import (
    best_of_each,
    curves_of,
    deterring_offers,
    offer_of,
    safer_offer,
    sensitive_inputs,
)
from unmask.studies.reading import read_plan
from unmask.studies.run import GAME, JOURNAL
from unmask.version import __version__

SIZE_DRAWS = 16
"""Number of draws of all group sizes for a campaign that pays for the data before it knows the sizes."""


def write_game(
    path: Path, study: Path, *, allow_code: bool = False, watch: Callable[[str], None] | None = None
) -> GameFacts:
    """Solve the game of a study's document, and write it next to the results of the study."""
    data = play(path, study=study, allow_code=allow_code, watch=watch)
    with replace_file(study / GAME) as file:
        write_text(file, json.dumps(asdict(data)))
    return data


def read_game(study: Path) -> GameFacts | None:
    """Return the game of a study; None if it has none."""
    path = study / GAME
    if not path.is_file():
        return None
    try:
        return msgspec.convert(read_json(path, "game"), GameFacts)
    except (ValueError, msgspec.ValidationError):
        raise UnmaskError(f"{GAME} of folder {study.name!r} is damaged; run unmask study again, or delete it") from None


def play(
    path: Path,
    *,
    study: Path | None = None,
    allow_code: bool = False,
    watch: Callable[[str], None] | None = None,
) -> GameFacts:
    """Solve the game of a document: attack each protection with the adversaries' knowledge, and price each belief.

    Parameters
    ----------
    path : Path
        The document.
    study : Path, optional
        Folder of a study of the document. Its stored beliefs are priced, and no attack runs again.
    allow_code : bool
        True if the document may run code, see `read_plan`.
    watch : callable, optional
        Function that is called with the name of each attacked protection.
    """
    if study is not None and not (study / JOURNAL).is_file():
        raise UnmaskError(f"folder {study.name!r} has no study; run unmask study, or remove `study`")
    plan, watched = read_plan(path, allow_code=allow_code), watch or (lambda _: None)
    with in_document(path):
        document = parse_game(load(path), path.parent)
        releases = dict(attack(plan, document, study, watched))
        sizes: tuple[DeterringSize, ...] = ()
        if document.largest_k:
            parts, further, sizes = search_sizes(plan, document, study, watched)
            plan, releases = replace(plan, protections=(*plan.protections, *parts)), {**releases, **further}
        game = PublisherGame(document.publisher, list_releases(releases, plan, document), document.attackers)
        return replace(_collect(plan, document, releases, game), sizes=sizes)


def priced(plan: Plan, path: Path) -> list[Cell] | None:
    """Return the cells of a study that the game of its document prices.

    None if the document has no publisher, or several data sets. Raises `UnmaskError` for an inconsistent game.
    """
    if "publisher" not in load(path) or len(plan.datasets) > 1:
        return None
    with in_document(path):
        return list_cells(plan, parse_game(load(path), path.parent))


def _collect(plan: Plan, document: GameDocument, releases: Releases, game: PublisherGame) -> GameFacts:
    """Collect the facts of a game."""
    moves = game.moves(**document.terms)
    offers = best_of_each(moves)
    ranked = [move.protection for move in offers if move.protection != WITHHELD]
    faced_kinds = [
        (name, kind, releases[name][adversary_of(kind, document, plan)])
        for name, kind in product(ranked, document.attackers)
    ]
    baseline = next((part.name for part in plan.protections if part.use == NOTHING), plan.protections[0].name)
    data = GameFacts(
        title=plan.title,
        people=faced_kinds[0][2].belief.n_targets,
        kinds=tuple(_describe_kind(kind, document, plan) for kind in document.attackers),
        now=offer_of(game, game.move(baseline, Terms())),
        offers=tuple(offer_of(game, move) for move in offers),
        undecided=len(game.undecided(moves)),
        looked_at=len(moves),
        stopping=tuple(_find_stopping(game, *faced_kind) for faced_kind in faced_kinds),
        curves=curves_of(game, document, ranked),
        reproduce={"Version": f"unmask {__version__}"},
    )
    return replace(
        data,
        deterring=deterring_offers(game) if data.taken.protection == WITHHELD else (),
        safer=safer_offer(game, document, data.taken),
        sensitivity=sensitive_inputs(game, document),
        alone=tuple(row for faced_kind in faced_kinds if (row := _compare_models(game, *faced_kind)) is not None),
    )


def _describe_kind(kind: str, document: GameDocument, plan: Plan) -> Attackers:
    expected = document.attackers[kind]
    parameters = list_parameters(expected.actual or expected.attacker)
    parameters |= {"believed_detection": expected.attacker.detection} if expected.actual else {}
    del parameters["prior"]
    return Attackers(kind, expected.number, adversary_of(kind, document, plan), parameters, kind in document.assumed)


def _find_stopping(game: PublisherGame, name: str, kind: str, release: AttackedRelease) -> StoppingTerms:
    """Return the terms that deter a kind, and the people re-identified without fines: expected and counted."""
    free = replace(game.attackers[kind].attacker, max_fines=0, access_cost=0.0)
    unfined = replace(game, attackers={kind: AttackerKind(free)}).best_campaign(name, kind)
    return StoppingTerms(
        name,
        kind,
        game.break_even_price(name, kind),
        game.break_even_fine(name, kind),
        unfined.re_identified.high,
        _count_realized(free, replace(release, belief=_belief_of(game, name, kind))),
    )


def _belief_of(game: PublisherGame, name: str, kind: str) -> Posterior:
    """Return the belief of a kind about a protection, with one row for each distinct observation."""
    belief = game.protections[name].targets_of(kind)
    assert isinstance(belief, Posterior)
    return belief


def _compare_models(game: PublisherGame, name: str, kind: str, release: AttackedRelease) -> SingleAttacks | None:
    """Compare single attacks with one campaign; None if candidates are not equally likely people."""
    belief = release.belief
    if game.attackers[kind].attacker.is_uncertain:
        return None  # models of single attacks have no uncertain attackers
    inside, row = compute_inside_probability(belief), belief.observation
    if not (find_uniform_rows(_belief_of(game, name, kind)).all() and inside.any()):
        return None
    share = np.bincount(row, minlength=belief.n_observations)[row] / len(row)
    sizes = count_candidates(belief)[row]
    attacker = remove_discount(replace(game.attackers[kind].attacker, prior=float(inside[row][sizes > 0].mean())))
    one_try = price_records(one_shot(attacker), sizes)
    informed = price_records(attacker, sizes)
    unknown_sizes = price_records(
        attacker, sizes, population=belief.n_candidates, cell_probability=share, belief="binomial"
    )
    joint = campaign(attacker, sizes)
    tries = informed.clean_tries * informed.access
    n_all, n_some = int(np.sum((tries > 0) & (tries >= sizes))), int(np.sum((tries > 0) & (tries < sizes)))
    change = unknown_sizes.success_probability - informed.success_probability
    is_spared = informed.success_probability <= EQUAL_RISKS
    return SingleAttacks(
        protection=name,
        kind=kind,
        people=len(row),
        inside=attacker.prior * float((sizes > 0).sum()),
        one_try=float(one_try.success_probability.sum()),
        known=float(informed.success_probability.sum()),
        unknown=float(unknown_sizes.success_probability.sum()),
        campaign=float(joint.success_probability.sum()),
        pays_without_sizes=_pays_without_sizes(attacker, belief.n_candidates, share),
        fully_tried=n_all,
        partly_tried=n_some,
        untried=len(sizes) - n_all - n_some,
        lower_risk=int(np.sum(change < -EQUAL_RISKS)),
        higher_risk=int(np.sum(change > EQUAL_RISKS)),
        safe_alone=int(is_spared.sum()),
        safe_re_identified=float(joint.success_probability[is_spared].sum()),
        largest_attacked=int(sizes[informed.access].max(initial=0)),
    )


def _pays_without_sizes(attacker: Attacker, population: int, shares: NDArray[np.float64]) -> bool:
    """Return True if the data are worth their price to a campaign that learns the group sizes after paying."""
    rng, free = np.random.default_rng(0), replace(attacker, access_cost=0.0)
    distinct, people = np.unique(shares, return_counts=True)
    payoffs = [campaign(free, rng.binomial(population, distinct), people=people).payoff for _ in range(SIZE_DRAWS)]
    return bool(np.mean(payoffs) > attacker.access_cost)


def _count_realized(free: Attacker, release: AttackedRelease) -> float | None:
    """Return the number of people that an attacker without fines re-identifies, counted with the truth."""
    if release.better is None or release.tied is None:
        return None
    return float(play_out(free, release.belief, release.better, release.tied).sum())


Releases = Mapping[str, Mapping[str, AttackedRelease]]
"""Protection -> adversary -> attacked release."""


def attack(plan: Plan, document: GameDocument, study: Path | None, watch: Callable[[str], None]) -> Releases:
    """Attack the release of each protection; with several seeds, use the first."""
    releases: dict[str, dict[str, AttackedRelease]] = {}
    for cell in list_cells(plan, document):
        if cell.protection.name not in releases:
            watch(cell.protection.name)
        releases.setdefault(cell.protection.name, {})[cell.adversary.name] = load_or_attack(cell, study)
    return releases


def list_cells(plan: Plan, document: GameDocument) -> list[Cell]:
    """Return the cells that the game prices: each protection against the adversaries whose knowledge attackers have."""
    if len(plan.datasets) > 1:
        raise UnmaskError(f"it has {len(plan.datasets)} data sets, expected 1: a game has one release")
    adversaries = {part.name: part for part in plan.adversaries}
    for kind, name in document.adversary.items():
        if name and name not in adversaries:
            raise UnmaskError(explain_unknown(name, list(adversaries), f"adversary of {kind!r}"))
    names = dict.fromkeys(adversary_of(kind, document, plan) for kind in document.adversary)
    return [
        Cell(plan.datasets[0], protection, adversaries[name], plan.seeds[0], ())
        for protection, name in product(plan.protections, names)
    ]


def list_releases(releases: Releases, plan: Plan, document: GameDocument) -> dict[str, ProtectedRelease]:
    """Return the targets of each kind of attacker, and the utility, for each protection."""
    protected = {}
    for name, faced_by in releases.items():
        beliefs = {adversary: group_rows(release.belief).posterior for adversary, release in faced_by.items()}
        targets = {kind: beliefs[adversary_of(kind, document, plan)] for kind in document.adversary}
        utility = next(iter(faced_by.values())).utility
        protected[name] = ProtectedRelease(targets, min(max(utility, 0.0), 1.0))
    return protected


def adversary_of(kind: str, document: GameDocument, plan: Plan) -> str:
    """Return the adversary whose knowledge a kind of attacker has."""
    return document.adversary[kind] or plan.adversaries[0].name


def search_sizes(
    plan: Plan, document: GameDocument, study: Path | None, watch: Callable[[str], None]
) -> tuple[tuple[Part, ...], Releases, tuple[DeterringSize, ...]]:
    """Search the smallest k of each protection that deters all attackers at the lowest price, fine and audits.

    Return the protections with these k that the plan lacks, their releases, and the sizes. The search assumes that
    larger k deter at least as well. It verifies that attacks pay at k - 1.
    """
    lowest = {name: min(values) for name, values in document.terms.items()}
    terms = Terms(price=lowest["prices"], fine=lowest["fines"], audit=lowest["audits"])
    parts: dict[str, Part] = {}
    releases: dict[str, Mapping[str, AttackedRelease]] = {}

    def deters(part: Part) -> bool:
        faced_by = attack(replace(plan, protections=(part,)), document, study, watch)
        releases.update(faced_by)
        game = PublisherGame(document.publisher, list_releases(faced_by, plan, document), document.attackers)
        return all(game.response(part.name, kind, terms).attacks is False for kind in document.attackers)

    sizes = []
    for part in _list_families(plan):
        step = bisect_whole(lambda step: deters(_with_size(part, step + 1)), document.largest_k - 1)  # noqa: B023
        size = DeterringSize(_name_family(part), None, None, document.largest_k)
        if step is not None:
            release = _with_size(part, step + 1)
            parts[release.name], size = release, replace(size, release=release.name, k=step + 1)
        sizes.append(size)
    names = {part.name for part in plan.protections}
    added = {name: part for name, part in parts.items() if name not in names}
    return tuple(added.values()), {name: releases[name] for name in added}, tuple(sizes)


def _list_families(plan: Plan) -> list[Part]:
    """Return the first protection of each family of protections that differ only in k."""
    families: dict[str, Part] = {}
    for part in plan.protections:
        if "k" in part.parameters:
            fixed = {key: value for key, value in part.content["with"].items() if key != "k"}
            families.setdefault(digest(part.content | {"with": fixed}), part)
    return list(families.values())


def _name_family(part: Part) -> str:
    return re.sub(r" k=\d+$", "", part.name)


def _with_size(part: Part, size: int) -> Part:
    return replace(part, name=f"{_name_family(part)} k={size}", parameters={**part.parameters, "k": size})
