"""`unmask price`: what a rational attacker does to groups of given sizes, without any attack on data."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.files import print_json
from unmask.cli.generated import Command, Input
from unmask.cli.options import attacker_option, optional_table_options
from unmask.cli.reading import read_table
from unmask.cli.terminal import print_line, print_text
from unmask.core.errors import UnmaskError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unmask.economics import Attacker
    from unmask.economics.prices import Prices

MOST_SIZES = 10_000_000
"""Groups that a list on the command line may stand for."""

SHOWN = 12
"""Sizes in the table that people see; --json has them all."""


@click.command("price", cls=Command)
@click.argument("target", type=Input())
@attacker_option
@optional_table_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def price(target: str, attacker: str | None, as_json: bool, **reading: Any) -> None:
    r"""Price the attack on groups of candidates: TARGET is a list of sizes, or a release.

    Sizes are numbers and ranges, "1,2,5-20", one for each target. Of a release, the sizes of its classes are taken, one
    for each row; fewer than 10 rows of one size are not counted out. One attacker faces all targets: the campaign
    against them comes first, then what each would be worth alone.

    \b
    unmask price 1-100 --attacker attacker.toml
    unmask price release.csv -q age,sex,zip --attacker case-study --json
    """
    from unmask.economics import read_attacker
    from unmask.economics.profile import EMBEDDED

    planner = read_attacker(attacker or EMBEDDED)
    listed = bool(re.fullmatch(r"[\d,\s-]+", target)) and not os.path.lexists(target)
    sizes = _listed(target) if listed else _of_release(target, reading)
    about = {"attacker": EMBEDDED if attacker is None else Path(attacker).name, "assumed": attacker in (None, EMBEDDED)}
    result = {**about, **_priced(planner, sizes, exact=listed)}
    if as_json:
        print_json(results=result["sizes"], tables=_tables(result), warnings=planner.warnings)
    else:
        print_text(_said(result, planner))
    if result["assumed"]:
        print_line(f"the attacker is {EMBEDDED}, an assumption: give --attacker FILE with what you know", err=True)


def _priced(planner: Attacker, sizes: NDArray[np.int64], *, exact: bool) -> dict[str, Any]:
    """What attacks on targets in groups of these sizes are worth: in one campaign, one by one, and by size."""
    import numpy as np

    from unmask.economics import exploitation_table, price_records
    from unmask.pricing import reach

    prices = price_records(planner, sizes)
    groups, first = np.unique(sizes, return_index=True)
    rows = _by_size(planner, prices.take(first), sizes, exact=exact)
    known = exploitation_table(planner, reach(planner, [int(groups[prices.access[first]].max(initial=1))]))
    return {
        "records": len(sizes),
        "campaign": _campaign(planner, sizes),
        "one_by_one": {
            "attacked": float(prices.access.mean()),
            "success_probability": float(prices.success_probability.mean()),
            "payoff": float(prices.payoff.sum()),
            "stopping_fine": max(row["break_even_fine"] for row in rows),
        },
        "thresholds": known.thresholds._asdict(),
        "sizes": rows,
        "warnings": list(planner.warnings),
    }


def _by_size(planner: Attacker, prices: Prices, sizes: NDArray[np.int64], *, exact: bool) -> list[dict[str, Any]]:
    """A row for each size; prices : of one target of each. exact : whether it is told how many few are."""
    import numpy as np

    from unmask.economics import break_even
    from unmask.results.suppression import FEWEST, hide_few

    groups, counts = np.unique(sizes, return_counts=True)
    columns: dict[str, Any] = {
        "size": groups.tolist(),
        "records": [n if exact else hide_few(n, FEWEST) for n in counts.tolist()],
        **{name: column.tolist() for name, column in vars(prices).items()},
        "break_even_fine": break_even(planner, groups).tolist(),
    }
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _tables(result: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    about = {name: result[name] for name in ("attacker", "assumed", "records")}
    return {"about": [about], **{name: [result[name]] for name in ("campaign", "one_by_one", "thresholds")}}


def _campaign(planner: Attacker, sizes: NDArray[np.int64]) -> dict[str, Any]:
    """One campaign against all targets: bounds, and the fines up to which it pays and from which none does."""
    from unmask.pricing import together

    found = together(planner, sizes, lambda values: float(values.mean()))
    if found.not_run:
        return {"not_run": found.not_run}
    return {
        "payoff": found.payoff,
        "payoff_at_most": found.upper,
        "success_probability": found.success,
        "success_at_most": found.most,
        "fine_that_pays": found.fines[0],
        "fine_that_stops": found.fines[1],
    }


def _of_release(target: str, reading: dict[str, Any]) -> NDArray[np.int64]:
    """The size of the class of each row of a release."""
    import numpy as np

    if not reading["quasi_identifiers"]:
        raise UnmaskError(
            f"{target!r} is no list of group sizes such as 1,2,5-20, and a release needs --quasi-identifiers; give them"
        )
    classes = read_table(Path(target), reading).classes
    return np.asarray(classes.sizes[classes.of_row], dtype=np.int64)


def _listed(text: str) -> NDArray[np.int64]:
    """The sizes of a list on the command line."""
    import numpy as np

    parts, total = [], 0
    for part in text.replace(" ", "").split(","):
        found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part)
        low, high = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if low > high:
            raise UnmaskError(f"{part!r} is no group size, expected a whole number or a range such as 5-20")
        total += high - low + 1
        if total > MOST_SIZES:
            break
        parts.append(np.arange(low, high + 1))
    if total > MOST_SIZES:
        raise UnmaskError(
            f"the sizes stand for more than {MOST_SIZES:,} groups, expected fewer; give a release instead"
        )
    return np.concatenate(parts)


def _said(result: dict[str, Any], planner: Attacker) -> str:
    """Sentences and a short table for people."""
    from unmask.reports.findings.price import thresholds_sentence
    from unmask.results.formats import number, percent

    rows, alone = result["sizes"], result["one_by_one"]
    limits = tuple(result["thresholds"].values())
    lines = [
        *_together(result["campaign"], result["records"], planner.fine),
        "one by one, the outside data and the fines paid for each: "
        + (
            f"{percent(alone['attacked'])} are worth an attack, {percent(alone['success_probability'])} re-identified"
            if alone["attacked"]
            else "no attack pays"
        ),
        thresholds_sentence(limits),
        f"{'size':>9}{'records':>17}{'payoff':>12}{'success':>9}{'tries':>8}{'fine that stops it':>22}   (alone)",
    ]
    lines += [
        f"{row['size']:>9,}{_count(row['records']):>17}{number(row['payoff'], 0):>12}"
        f"{percent(row['success_probability']):>9}{number(row['expected_tries'], 1):>8}"
        f"{number(row['break_even_fine'], 0):>22}"
        for row in _shown(rows, limits)
    ]
    return "\n".join([*lines, *(f"warning: {text}" for text in result["warnings"])])


def _shown(rows: list[dict[str, Any]], limits: tuple[int | None, ...]) -> list[dict[str, Any]]:
    """Every so many rows, and the sizes on both sides of each threshold."""
    step = max(1, -(-len(rows) // SHOWN))
    edges = {size for limit in limits if limit is not None for size in (limit - 1, limit)}
    return [row for i, row in enumerate(rows) if i % step == 0 or row["size"] in edges]


def _together(found: dict[str, Any], records: int, now: float) -> list[str]:
    """What one campaign against all records brings, and the fine that stops it."""
    from unmask.reports.findings.price import amount, between, least
    from unmask.results.formats import percent

    who = f"all {records:,} records" if records > 1 else "1 record"
    if "not_run" in found:
        return [f"one campaign against {who} was not computed: {found['not_run']}"]
    low, high, stops = found["payoff"], found["payoff_at_most"], found["fine_that_stops"]
    if high == 0:
        return [f"no campaign against {who} pays"]
    gains = f"gains {between(low, high, amount)}" if low else f"gains {amount(high)} at most"
    share = between(found["success_probability"], found["success_at_most"], percent)
    fine = f"a fine of {least(stops)} would stop every campaign" if stops < math.inf else "no fine stops it"
    due = f"it is {amount(now)}" if now else "none is due"
    return [
        f"one campaign against {who}, the outside data paid once, {gains}, {share} re-identified",
        f"{fine}; {due}",
    ]


def _count(records: int | str) -> str:
    return records if isinstance(records, str) else f"{records:,}"
