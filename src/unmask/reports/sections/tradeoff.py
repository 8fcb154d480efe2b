"""Risk against utility on the page of a study: what each protection risks, and what is left of the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unmask.render import Figure
from unmask.reports.facts.study import Plane, StudyData
from unmask.reports.figures import front_figure
from unmask.reports.findings.study import UNITS
from unmask.reports.parts import Figures, Part, lead
from unmask.reports.sections.families import settings
from unmask.reports.words import lettered, told_apart
from unmask.results import Column
from unmask.results.formats import SHARES

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
    names = _names(spot.protection for spot in drawn.spots)
    risk = "Success" if drawn.direction == "high" else "Error"
    ordered = sorted(drawn.spots, key=lambda spot: (spot.success, spot.utility), reverse=drawn.direction == "low")
    records = [
        (
            _whose(data, spot.adversary, spot.target), data.styles[spot.adversary], names[spot.protection],
            "point" if spot.best else "hollow", spot.success, spot.utility,
        )
        for spot in ordered
    ]  # fmt: skip
    unit = UNITS.get(drawn.unit, drawn.unit)
    y = Column("utility", f"Utility: {unit}", "share" if drawn.unit in SHARES else "number")
    aims = "; ".join(dict.fromkeys(spot.target for spot in drawn.spots))
    label = f"{risk} against utility, {drawn.dataset}"
    x = Column("success", risk, "number", drawn.risk_unit)
    return front_figure(f"{risk} against utility: {aims}", x, y, records, label=label)


def _whose(data: StudyData, adversary: str, target: str) -> str:
    return lettered(f"{adversary}: {target}", data.styles[adversary], 2)


def _names(protections: Iterable[str]) -> dict[str, str]:
    """Names for a plane: long ones by their parameters alone, where no other protection has any, or cut."""
    given = {name: settings(name) for name in protections}
    alone = len({stem for stem, own in given.values() if own}) == 1
    apart = told_apart(given)
    bare = {name: " ".join(f"{key}={value}" for key, value in own.items()) for name, (_, own) in given.items()}
    return {name: bare[name] if alone and bare[name] and said != name else said for name, said in apart.items()}
