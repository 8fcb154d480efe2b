"""Risk against utility on the page of a study: what each protection risks, and what is left of the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from unmask.measures.registry import SHARES
from unmask.reports.facts.study import Plane, StudyData
from unmask.reports.findings.study import UNITS
from unmask.reports.marks import Key, Spot
from unmask.reports.parts import Figure, Figures, Part, lead
from unmask.reports.planes import plane
from unmask.reports.scales import linear, risks
from unmask.reports.sections.families import settings
from unmask.reports.words import lettered, number, percent, told_apart

PLANES = (
    " Filled and joined by steps: no other protection is better in both ways, for the same adversary. Hollow: another "
    "one is. A protection is named beside the adversary who does best against it. Success is what came true where that "
    "was checked, and elsewhere what the adversary expects."
)


def tradeoff(data: StudyData, planes: Sequence[Plane]) -> tuple[Part, ...]:
    """A chart of each plane, and how to read it; nothing where there is none."""
    return (lead(_which_way(planes) + PLANES), Figures(tuple(_figure(data, one) for one in planes))) if planes else ()


def _which_way(planes: Sequence[Plane]) -> str:
    """Which way in the charts is better: less success, and more error."""
    left, right = (any(plane.direction == direction for plane in planes) for direction in ("high", "low"))
    if left and right:
        return "Up keeps more; left risks less where success is drawn, right where error is."
    return f"Up keeps more, {'right' if right else 'left'} risks less."


def _figure(data: StudyData, drawn: Plane) -> Figure:
    """Success or error across, what is left of utility upwards."""
    known = dict.fromkeys((spot.adversary, spot.target) for spot in drawn.spots)
    spots, risk = list(_spots(data, drawn)), _reach(drawn)
    low, high = min(spot.y for spot in spots), max(spot.y for spot in spots)
    pad = 0.08 if high > low else 0.1 * abs(high) or 0.1
    up = linear(high, low=low, pads=(pad, pad), unit=drawn.unit, title=f"Utility: {UNITS.get(drawn.unit, drawn.unit)}")
    label = f"{risk} against utility, {drawn.dataset}. {'; '.join(spot.told for spot in spots)}."
    across = risks([spot.x for spot in spots], risk, drawn.risk_unit)
    keys = [Key(_whose(data, name, target), data.styles[name]) for name, target in known]
    aims = "; ".join(dict.fromkeys(target for _, target in known))
    svg = plane(across, up, spots, keys=keys, label=label, more=drawn.direction == "low")
    return Figure(f"{risk} against utility: {aims}", svg)


def _whose(data: StudyData, adversary: str, target: str) -> str:
    return lettered(f"{adversary}: {target}", data.styles[adversary], 2)


def _spots(data: StudyData, drawn: Plane) -> Iterator[Spot]:
    """Each protection as each adversary sees it."""
    names = _names(spot.protection for spot in drawn.spots)
    said = percent if drawn.risk_unit in SHARES else number
    kept = percent if drawn.unit in SHARES else number
    for spot in drawn.spots:
        of = _whose(data, spot.adversary, spot.target)
        told = f"{spot.protection}, {of}: {said(spot.success)}, utility {kept(spot.utility)}"
        style = data.styles[spot.adversary]
        yield Spot(spot.success, spot.utility, style, names[spot.protection], hollow=not spot.best, of=of, told=told)


def _reach(plane: Plane) -> str:
    """What the adversaries of a plane reach, with its unit."""
    if plane.direction == "high":
        return "Success"
    return "Error" if plane.risk_unit in SHARES else f"Error ({plane.risk_unit})"


def _names(protections: Iterable[str]) -> dict[str, str]:
    """Names for a plane: long ones by their parameters alone, where no other protection has any, or cut."""
    given = {name: settings(name) for name in protections}
    alone = len({stem for stem, own in given.values() if own}) == 1
    apart = told_apart(given)
    bare = {name: " ".join(f"{key}={value}" for key, value in own.items()) for name, (_, own) in given.items()}
    return {name: bare[name] if alone and bare[name] and said != name else said for name, said in apart.items()}
