"""Workflow of channels: mechanisms in files, or an optimal mechanism for places or for a prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unmask.app.fields import Field, get_value
from unmask.app.jobs import Command
from unmask.app.project import AUDIT_OPTIONS, CURVE, MECHANISM
from unmask.app.workflow import Form, Limit, Parameter, Sample, Trials, Workflow
from unmask.languages import mark
from unmask.plan import DESIGN
from unmask.toml_text import DOCUMENT

COORDINATES = ({"x", "y"}, {"lat", "lon"}, {"lat", "lng"}, {"latitude", "longitude"})
"""Names of two columns of coordinates."""

LOSSES = {
    "hamming": "wrong is wrong", "absolute": "distance of two numbers", "squared": "squared distance of two numbers",
    "euclidean": "distance on a map", "haversine": "distance on the globe, in m",
    "euclidean_medoid": "distance on a map, answers are places",
    "haversine_medoid": "distance on the globe, answers are places",
}  # fmt: skip
"""Named loss -> its label."""

DESIGNER = "unmask.channels:optimal_mechanism"


def _guess(sample: Sample) -> str:
    secret, *names = sample.columns or [""]
    secrets = sample.columns.get(secret, ())
    if len(secrets) < 2 or len(set(secrets)) < len(secrets):
        return ""
    if len(names) == 2 and {name.lower() for name in names} in COORDINATES:
        return f"column {secret} names each line once, and {names[0]} and {names[1]} look like coordinates"
    columns = [_parse_numbers(sample.columns[name]) for name in names]
    if not columns or not all(columns):
        return ""
    if len(names) == 1:
        is_prior = _is_distribution(columns[0])
        return f"column {names[0]} looks like the probability of each {secret}" if is_prior else ""
    is_channel = all(map(_is_distribution, zip(*columns, strict=True)))
    return "each line has a name, and probabilities that sum to 1" if is_channel else ""


def _parse_numbers(texts: Sequence[str]) -> list[float]:
    """Return the numbers of a column; [] if a cell is not a number."""
    try:
        return list(map(float, texts))
    except ValueError:
        return []


def _is_distribution(values: Sequence[float]) -> bool:
    return min(values) >= 0 and abs(sum(values) - 1) < 1e-3


def _begin(sample: Sample) -> dict[str, Any]:
    names = {name.lower() for name in list(sample.columns)[1:]}
    if names in COORDINATES:
        return _with_design({"coordinates": sample.name, "loss": "euclidean" if "x" in names else "haversine"}, {})
    if len(names) == 1:
        return _with_design({"prior": sample.name}, {})
    return {"channel": {"channels": [sample.name]}}


def _with_design(section: Mapping[str, Any], bounds: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of an optimal mechanism. bounds : parameters of its design"""
    protection = {"use": DESIGN, "with": dict(bounds)}
    return {"channel": {"channels": [MECHANISM], **section}, "protections": [protection]}


# --- commands ---------------------------------------------------------------------------------------------------------


def _has_design(document: Mapping[str, Any]) -> bool:
    """Return whether the mechanism is designed by the document."""
    return MECHANISM in (get_value(document, "channel.channels") or ()) and bool(document.get("protections"))


def _list_commands(document: Mapping[str, Any]) -> tuple[Command, ...]:
    attack = ("audit", "channel", DOCUMENT, *AUDIT_OPTIONS)
    return (design_command(document, MECHANISM), attack) if _has_design(document) else (attack,)


def design_command(document: Mapping[str, Any], output: str, *options: str) -> Command:
    """Return the command that designs the mechanism."""
    values = {key: get_value(document, f"channel.{key}") for key in ("prior", "loss", "coordinates", "distortion")}
    values |= {key: get_value(document, f"protections.{key}") for key in ("budget", "epsilon")}
    pairs = (
        (f"--{key}", f"{value:.12g}" if isinstance(value, float) else str(value))
        for key, value in values.items()
        if value is not None
    )
    return ("design", *(word for pair in pairs for word in pair), "-o", output, *options, "--force")


# --- forms ------------------------------------------------------------------------------------------------------------


def _list_fields(document: Mapping[str, Any]) -> list[Field]:
    prior = "Probability of each secret: a CSV of secret and probability"
    design = [
        Field("protections.budget", source=DESIGNER, required=True),
        Field("protections.epsilon", source=DESIGNER),
        Field("channel.prior", prior, "file", required=True),
    ]
    files = [
        Field("channel.channels", "Files of channels of the same secrets", "files", required=True),
        Field("channel.prior", prior, "file"),
    ]
    return [
        *(design if _has_design(document) else files),
        Field("channel.loss", "Cost of an error", "choice", options=LOSSES),
        Field("channel.coordinates", box="file"),
        Field("channel.unit"),
        Field("channel.distortion", box="file"),
    ]


def _find_unit(document: Mapping[str, Any]) -> str:
    """Return the unit of an error; wrong answers are a share."""
    loss = get_value(document, "channel.loss") or "hamming"
    return get_value(document, "channel.unit") or {"hamming": "%", "haversine": "m"}.get(loss, "")


FILES = Form(_list_fields)

ADVERSARIES = Form(
    lambda _: [Field("channel.no_limit", "Omit the limit of all mechanisms, which takes time", "switch")],
    (
        Limit("estimation_error>=", _find_unit), Limit("estimation_error.worst>=", _find_unit),
        Limit("success_probability<="), Limit("success_probability.worst<="),
    ),
)  # fmt: skip

TRIALS = Trials(
    CURVE,
    (Parameter("budget", "budget: largest expected distortion", "{:.4g}".format),),
    lambda document: {"budget": get_value(document, "protections.budget")},
    lambda document, values: {**document, **_with_design({**document["channel"], "channels": [MECHANISM]}, values)},
)

WORKFLOW = Workflow(
    word="channel",
    title=mark("a channel"),
    meaning=mark("A matrix of probabilities; or places, or a prior, for which a mechanism is designed."),
    roles_title=mark("Stakes"),
    is_described=FILES.is_complete,
    is_attacked=ADVERSARIES.is_complete,
    guess=_guess,
    begin=_begin,
    commands=_list_commands,
    forms={"roles": FILES, "adversaries": ADVERSARIES},
    trials=TRIALS,
    file_keys=("channels", "prior", "coordinates", "distortion"),
)
