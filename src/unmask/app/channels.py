"""Channels: a secret is shown through a mechanism, given as a matrix, or designed for places or for a prior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unmask.app.jobs import Command
from unmask.app.kind import Asked, Card, Field, Kind, Limit, Parameter, Sample, Trials, steps_of, value_at
from unmask.app.project import ATTACK, CURVE, MECHANISM
from unmask.plan import DESIGN
from unmask.toml_text import DOCUMENT

PLACES = ({"x", "y"}, {"lat", "lon"}, {"lat", "lng"}, {"latitude", "longitude"})
"""How two columns of places are called."""

LOSSES = {
    "hamming": "wrong is wrong", "absolute": "how far off a number is", "squared": "the square of that",
    "euclidean": "the distance on a map", "haversine": "the distance on the globe, in m",
    "euclidean_medoid": "the distance on a map, of places alone",
    "haversine_medoid": "the distance on the globe, of places alone",
}  # fmt: skip
"""Named loss -> what an error costs."""


# --- what a file looks like -------------------------------------------------------------------------------------------


def _guess(sample: Sample) -> str:
    first, *others = sample.columns or [""]
    if len(others) == 2 and {name.lower() for name in others} in PLACES and _differ(sample.columns[first]):
        return f"column {first} names each line once, and {others[0]} and {others[1]} look like coordinates"
    table = [_numbers(sample.columns[name]) for name in others]
    if not all(table) or not table or not _differ(sample.columns[first]):
        return ""
    if len(others) == 1:
        return f"column {others[0]} looks like the probability of each {first}" if all(map(_sums, table)) else ""
    return "in each line a name, and probabilities that sum to 1" if all(map(_sums, zip(*table, strict=True))) else ""


def _differ(texts: Sequence[str]) -> bool:
    return len(texts) > 1 and len(set(texts)) == len(texts)


def _numbers(texts: Sequence[str]) -> list[float]:
    """The numbers of a column; none where one is no number."""
    try:
        return list(map(float, texts))
    except ValueError:
        return []


def _sums(line: Sequence[float]) -> bool:
    """Whether they are probabilities."""
    return min(line) >= 0 and abs(sum(line) - 1) < 1e-3


def _begin(sample: Sample) -> dict[str, Any]:
    names = {name.lower() for name in list(sample.columns)[1:]}
    if names in PLACES:
        loss = "euclidean" if "x" in names else "haversine"
        return _designed({"coordinates": sample.name, "loss": loss})
    if len(names) == 1:
        return _designed({"prior": sample.name})
    return {"channel": {"channels": [sample.name]}}


def _designed(said: Mapping[str, Any], bounds: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a document says of a channel that is made. bounds : of its design"""
    protection = {"use": DESIGN, "with": dict(bounds or {})}
    return {"channel": {"channels": [MECHANISM], **said}, "protections": [protection]}


# --- what is run ------------------------------------------------------------------------------------------------------


def is_designed(given: Mapping[str, Any]) -> bool:
    """Whether the mechanism is made here."""
    return MECHANISM in (value_at(given, "channel.channels") or ()) and bool(given.get("protections"))


def _commands(given: Mapping[str, Any]) -> tuple[Command, ...]:
    attack = ("audit", "channel", DOCUMENT, *ATTACK)
    return (design(given, MECHANISM), attack) if is_designed(given) else (attack,)


def design(given: Mapping[str, Any], output: str, *more: str) -> Command:
    """The command that makes the mechanism."""
    asked = {key: value_at(given, f"channel.{key}") for key in ("prior", "loss", "coordinates", "distortion")}
    asked |= {key: value_at(given, f"protections.{key}") for key in ("budget", "epsilon")}
    return ("design", *_options(asked), "-o", output, *more, "--force")


def _options(asked: Mapping[str, Any]) -> Iterator[str]:
    for key, value in asked.items():
        if value is not None:
            yield from (f"--{key}", f"{value:.12g}" if isinstance(value, float) else str(value))


# --- what is asked ----------------------------------------------------------------------------------------------------


def _is_given(given: Mapping[str, Any]) -> bool:
    return not is_designed(given)


DESIGNER = "unmask.channels:optimal_mechanism"

MADE = Card(
    "Mechanism",
    "Of all mechanisms within the budget, the one that leaves the adversary the largest error.",
    (
        Field("protections.budget", "Budget: what an output may cost a user on average", source=DESIGNER, needed=True),
        Field("protections.epsilon", "Largest epsilon of local privacy, if any", source=DESIGNER),
        Field("channel.prior", "How likely each secret is: a CSV of secret and probability", "file", needed=True),
    ),
    "Step 5 shows what other budgets give.",
    is_designed,
)

FILES = Asked(
    "What is shown, and what does an error cost?",
    "A channel shows an output in the place of a secret: a noisy answer, or a blurred place.",
    (
        MADE,
        Card(
            "Channels", "Each line is a secret, with the probability of every output.",
            (
                Field("channel.channels", "Files of channels of the same secrets", "files", needed=True),
                Field("channel.prior", "How likely each secret is: a CSV of secret and probability", "file"),
            ),
            "Without a file every secret is as likely as any other.",
            _is_given,
        ),
        Card(
            "Errors of the adversary", "What it costs the adversary to be wrong.",
            (
                Field("channel.loss", "An error costs", "one", options=LOSSES),
                Field("channel.coordinates", "Where secrets lie: a CSV of secret and coordinates", "file"),
                Field("channel.unit", "Unit of the loss, such as m", "text"),
            ),
            "Secrets without coordinates are numbers.",
        ),
        Card(
            "Errors of the users", "What it costs a user that an output is not their secret.",
            (Field("channel.distortion", "A CSV of secrets and outputs", "file"),),
            "The same as for the adversary where nothing is given.",
        ),
    ),
)  # fmt: skip


def _unit(given: Mapping[str, Any]) -> str:
    """Of an error: wrong answers are a share."""
    loss = value_at(given, "channel.loss") or "hamming"
    return value_at(given, "channel.unit") or {"hamming": "%", "haversine": "m"}.get(loss, "")


ADVERSARIES = Asked(
    "How well may a secret be guessed?",
    "The adversary is the best there is: nothing depends on what they are able to do.",
    (
        Card(
            "The best adversary",
            "They know the mechanism and how likely each secret is, see one output, and answer what costs them least.",
            (Field("channel.no_limit", "Leave out the limit that no mechanism passes, which takes time", "flag"),),
            "Exact: their belief is Bayes’ rule.",
        ),
    ),
    (
        Limit("estimation_error>=", _unit), Limit("estimation_error.worst>=", _unit),
        Limit("success_probability<="), Limit("success_probability.worst<="),
    ),
)  # fmt: skip

TRIALS = Trials(
    "A mechanism is designed for each of twelve budgets, up to twice that of step 2.",
    "Up: what users keep, one minus the distortion as a share of the largest that was tried.",
    "",
    (Parameter("budget", "budget: what an output may cost a user on average", "{:.4g}".format),),
    lambda given: {"budget": value_at(given, "protections.budget")},
    lambda given, changed: {**given, **_designed({**given["channel"], "channels": [MECHANISM]}, changed)},
)

KIND = Kind(
    "channel", "a channel", "A matrix of probabilities; or places, or a prior, for which a mechanism is designed.",
    steps_of("Stakes", FILES, ADVERSARIES, _commands, CURVE), _guess, _begin, _commands, TRIALS,
)  # fmt: skip
