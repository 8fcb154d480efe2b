"""What an audit keeps, one row for each measure of each adversary on each release, and how every command prints it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, Literal

from unmask.version import __version__

SCHEMA = 1
"""Version of the JSON that `envelope` makes, described by the JSON Schema in `envelope.schema.json`."""

DIGITS = 14
"""Significant digits of a number in JSON: a belief holds a tenth by its logarithm."""


@dataclass(frozen=True)
class Row:
    """One measure of one adversary on one release.

    release, adversary : who attacked what, as the caller named them
    target             : what they are after: "identity", or the name of a sensitive column
    measure, unit      : the quantity
    direction          : whether the adversary wants it "high" or "low"
    prior, posterior   : its mean over the targets before and after they saw the release
    gain               : what the release gave them, positive when they profit, whatever the direction
    low, high          : 95 % interval of `posterior`, None where there is none
    interval           : what the interval is over, and how it was made
    n, n_observations  : targets, and distinct observations they produced
    worst              : the value at the worst-off target, and the observation that attains it
    quantiles          : of the value over targets, at 5, 25, 50, 75 and 95 %
    status, note       : what the belief has earned, see `Posterior.status`, or `refuted` where the truth took it away;
                         what a reader must know about this number
    linked_to          : the other data about people that names are taken from, such as "register"; "" for none
    control            : what the same attack reaches on control people, who are not in the release; None without any
    baseline           : the most that any adversary with the same knowledge reaches on control people
    n_people, n_drawn, n_judged : people of the file, those drawn from them at random to stand for all, and those of
                         the drawn who were judged; None where the number is not about people of a file
    excess, excess_low, excess_high : what members have more, as the adversary profits, and its 95 % interval, which is
                         for members and control people like these
    """

    release: str
    adversary: str
    target: str
    measure: str
    unit: str
    direction: Literal["high", "low"]
    prior: float
    posterior: float
    gain: float
    low: float | None
    high: float | None
    interval: str
    n: int
    n_observations: int
    worst: float
    worst_observation: int
    quantiles: tuple[float, ...]
    status: str
    note: str = ""
    linked_to: str = ""
    control: float | None = None
    baseline: float | None = None
    excess: float | None = None
    excess_low: float | None = None
    excess_high: float | None = None
    n_people: int | None = None
    n_drawn: int | None = None
    n_judged: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The row as plain values, ready for JSON, every digit kept."""
        return {name: plain(value, digits=17) for name, value in asdict(self).items()}


def plain(value: Any, *, digits: int = DIGITS) -> Any:
    """A value as strict JSON holds it: an infinity is "Infinity" or "-Infinity", an undefined number (NaN) is null.

    >>> plain({"fine": math.inf, "gain": math.nan, "share": (0.1 + 0.2,)})
    {'fine': 'Infinity', 'gain': None, 'share': [0.3]}

    The two texts are those of the JSON mapping of Protocol Buffers; Python, JavaScript and SQL read them as numbers.
    """
    if isinstance(value, float):
        if math.isfinite(value):
            return float(f"{value:.{digits}g}")
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if is_dataclass(value) and not isinstance(value, type):
        value = vars(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item, digits=digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, digits=digits) for item in value]
    return value


def envelope(
    command: str,
    *,
    inputs: Iterable[Mapping[str, Any]] = (),
    results: Iterable[object] = (),
    tables: Mapping[str, Iterable[object]] | None = None,
    not_run: Iterable[tuple[str, str]] = (),
    warnings: Iterable[str] = (),
) -> dict[str, Any]:
    """What every command prints with `--json`, as one value; `envelope.schema.json` is its JSON Schema.

    inputs  : files that the command read, see `unmask.cli.files.inputs`
    results : rows, values or mappings: those that the command is about
    tables  : name -> more rows; a table without rows is left out
    not_run : (what, why) of everything that was left out or failed

    >>> envelope("advise", results=[{"worst": "success_probability"}], not_run=[("k", "no table")])["not_run"]
    [{'what': 'k', 'why': 'no table'}]
    """
    listed = {name: list(rows) for name, rows in (tables or {}).items()}
    return {
        "schema": SCHEMA,
        "unmask": __version__,
        "command": command,
        "inputs": plain(list(inputs)),
        "results": plain(list(results)),
        "tables": {name: plain(rows) for name, rows in listed.items() if rows},
        "not_run": [{"what": what, "why": why} for what, why in not_run],
        "warnings": list(warnings),
    }


def as_json(command: str, **parts: Any) -> str:
    """The same as text; parts : those of `envelope`."""
    return json.dumps(envelope(command, **parts), allow_nan=False)
