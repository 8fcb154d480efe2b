"""Workflow of networks: people and their contacts, released under new numbers, some with several identities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from unmask.app.fields import Field, get_value, protection_parameters
from unmask.app.jobs import Command
from unmask.app.project import AT_RISK, AUDIT_OPTIONS, ORIGIN, RELEASE, STUDY_FOLDER, Project
from unmask.app.workflow import Form, Limit, Parameter, Sample, Trials, Workflow
from unmask.core.errors import UnmaskError
from unmask.languages import mark
from unmask.toml_text import DOCUMENT

FIRST_ATTACKS = ("Nar09", "Rematch")
"""Attacks of a first document."""

RUNS = 4
"""Seeds of a study."""

DEFAULTS = {"adopters": 0.1, "identities": 2}
"""Parameters of a protection that a document leaves out."""

ADOPTERS, IDENTITIES = (0.05, 0.1, 0.25, 0.5, 0.75), (2, 5)
"""Shares of people, and numbers of identities, that a study tries."""

MIN_SHARED_IDS = 0.1
"""Share of the ids of one column that occur in the other, from which on both are ids of the same people."""

MAX_CATEGORIES = 20
"""Values of two columns up to which they are categories: answers from 1 to 5 occur in both as well."""

SEEDS = "random.25:"
"""Prefix of leaked identities that are drawn from the quarter with most contacts."""

SEPARATION = "unmask.graphs:IdentitySeparation"


# --- files ------------------------------------------------------------------------------------------------------------


def _guess(sample: Sample) -> str:
    from unmask.graphs.files.end_columns import are_ends

    names = tuple(sample.columns)
    if not names:
        return "the name has an ending of network files"
    if len(names) > 1 and are_ends(*names[:2]) and not _are_series(names):
        return f"columns {names[0]} and {names[1]} look like both ends of a link"
    if len(names) != 2:
        return ""
    first, second = (set(cells) for cells in sample.columns.values())
    is_shared = len(first & second) >= MIN_SHARED_IDS * min(len(first), len(second))
    has_ids = is_shared and len(first | second) > MAX_CATEGORIES
    return "it has two columns that share ids: links between people" if has_ids else ""


def _are_series(names: Sequence[str]) -> bool:
    """Return whether names are numbers of a series, such as names of questions, or of columns without a name.

    >>> _are_series(["q1", "q2", "q3"]), _are_series(["column 1", "column 2"]), _are_series(["node1", "node2"])
    (True, True, False)
    """
    stems = {name.rstrip("0123456789") for name in names[:3]}
    return len(stems) == 1 and (len(names) > 2 or stems == {"column "})


def _begin(sample: Sample) -> dict[str, Any]:
    return {
        "data": {"use": "graphs.file", "file": sample.name},
        "protections": [{"use": "graphs.IdentitySeparation", "with": {"adopters": DEFAULTS["adopters"]}}],
        "graph": {"release": RELEASE, "auxiliary": sample.name, "truth": ORIGIN, "attacks": list(FIRST_ATTACKS)},
    }


def _default_seeds(project: Project) -> str:
    """Return the leaked identities if the document has none."""
    from unmask.graphs.audit.attack_plan import default_seeds

    return default_seeds(_read(project)[0])


def _read(project: Project) -> tuple[int, str]:
    """Return the number of people, and a description of the network."""
    assert project.file is not None
    return _read_file(project.file, project.file.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _read_file(path: Path, _changed: int) -> tuple[int, str]:
    from unmask.graphs import SocialGraph

    graph = SocialGraph.read(path)
    if not graph.n_edges:
        raise UnmaskError(f"file {path.name!r} has no link between two people, expected at least one")
    people, links, largest = graph.n_nodes, graph.n_edges, graph.degree.max(initial=0)
    size = f"{people:,} people, {links:,} links between them; at most {largest:,} per person."
    dropped = str(graph.dropped)
    note = f" {dropped[0].upper()}{dropped[1:]}." if dropped else ""
    return people, f"{size}{note}"


# --- commands ---------------------------------------------------------------------------------------------------------


def _has_protection(document: Mapping[str, Any]) -> bool:
    """Return whether the document makes the release."""
    is_release = get_value(document, "graph.release") == RELEASE
    return is_release and bool(protection_parameters(document)) and "file" in document.get("data", {})


def _list_commands(document: Mapping[str, Any]) -> tuple[Command, ...]:
    attack = ("audit", "graph", DOCUMENT, *AUDIT_OPTIONS, "--at-risk", AT_RISK)
    return (protect_command(document), attack) if _has_protection(document) else (attack,)


def protect_command(document: Mapping[str, Any]) -> Command:
    """Return the command that makes the release."""
    parameters = (f"{key}={value}" for key, value in protection_parameters(document).items())
    protection = ":".join(("IdentitySeparation", *parameters))
    files = ("-o", RELEASE, "--origin", ORIGIN, "--force")
    return ("protect", "graph", document["data"]["file"], "--with", protection, *files)


# --- forms ------------------------------------------------------------------------------------------------------------


def _list_attacks() -> dict[str, str]:
    from unmask.graphs.audit.attack_plan import STANDARD

    return {name: name for name in STANDARD}


def _list_file_fields(document: Mapping[str, Any]) -> list[Field]:
    if not _has_protection(document):
        return []
    return [
        Field("protections.adopters", "People with several identities", "percent", SEPARATION, required=True),
        Field("protections.identities", box="integer", source=SEPARATION),
        Field("protections.model", source=SEPARATION),
        Field("protections.cooperation", source=SEPARATION),
    ]


def _list_adversary_fields(document: Mapping[str, Any]) -> list[Field]:
    is_protected = _has_protection(document)
    files = [
        Field("graph.release", "Released network", "file", required=True),
        Field("graph.truth", "Who is who in both", "file"),
        Field("graph.seeds_file", "People they know in both", "file"),
        Field("graph.similarity", "Who is alike by other attributes", "file"),
    ]
    return [
        *([] if is_protected else files),
        Field("graph.auxiliary", "Network with the same ids as yours", "file", required=is_protected),
        Field("graph.seeds", "Number, drawn from the quarter with most contacts", "integer", default=_default_seeds,
              prefix=SEEDS),
        Field("graph.runs"),
        Field("graph.time_limit", "Seconds after which no further run starts"),
        Field("graph.seed"),
        Field("graph.attacks", "Run only", "choices", options=lambda _: _list_attacks()),
    ]  # fmt: skip


FILES = Form(_list_file_fields)

ADVERSARIES = Form(_list_adversary_fields, (Limit("recall<="), Limit("precision<=")))


# --- study ------------------------------------------------------------------------------------------------------------


def _read_parameters(document: Mapping[str, Any]) -> dict[str, Any]:
    parameters = protection_parameters(document)
    return {**DEFAULTS, **{key: value for key, value in parameters.items() if key in DEFAULTS}}


def _list_losses() -> Sequence[str]:
    from unmask.graphs.utility import LOSSES

    return LOSSES


def _apply_parameters(document: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with other parameters of its protection, and an audit of that release."""
    parameters = {**protection_parameters(document), **values}
    parameters = {key: value for key, value in parameters.items() if value is not None}
    graph = document["graph"]
    files = {"release": RELEASE, "auxiliary": graph.get("auxiliary", graph["release"]), "truth": ORIGIN}
    protection = {"use": "graphs.IdentitySeparation", "with": parameters}
    return {**document, "graph": {**graph, **files}, "protections": [protection]}


def build_plan(project: Project) -> dict[str, Any]:
    """Return the document of the study: many protections, and every attack as an adversary."""
    document = project.document
    parameters = {**DEFAULTS, **protection_parameters(document)}
    adopters = sorted({*ADOPTERS, parameters.pop("adopters")})
    numbers = {*IDENTITIES, parameters.pop("identities")}
    identities = sorted(numbers, key=lambda number: (isinstance(number, str), number))  # a text is a power law
    seeds = get_value(document, "graph.seeds") or _default_seeds(project)
    method, _, count = str(seeds[0] if isinstance(seeds, list) else seeds).rpartition(":")
    knows = {"node_overlap": 1.0, "edge_overlap": 1.0, "seeds": method, "n_seeds": int(count), "who": "anybody"}
    attacks = _list_attacks()
    selected = [name for name in get_value(document, "graph.attacks") or attacks if name in attacks]
    grid = {"adopters": adopters, "identities": identities}
    return {
        "title": document["title"],
        "seeds": int(get_value(document, "graph.runs") or RUNS),
        "data": {"name": "network", **document["data"]},
        "protections": [
            {"name": "unprotected", "use": "none"},
            {"name": "identities", "use": "graphs.IdentitySeparation", "with": parameters, "grid": grid},
        ],
        "adversaries": [{"name": name, "use": f"graphs.{name}", "knows": knows} for name in selected],
        "policy": document["policy"],
    }


TRIALS = Trials(
    STUDY_FOLDER,
    (
        Parameter("adopters", "adopters: people with several identities", lambda share: f"{100 * share:.3g}\u00a0%"),
        Parameter("identities", "identities of each of them"),
    ),
    _read_parameters,
    _apply_parameters,
    build_plan,
    _list_losses,
)

WORKFLOW = Workflow(
    word="graph",
    title=mark("a network"),
    meaning=mark("People and their contacts: a list of links, or a file of a network."),
    roles_title=mark("Release"),
    is_described=FILES.is_complete,
    is_attacked=ADVERSARIES.is_complete,
    guess=_guess,
    begin=_begin,
    commands=_list_commands,
    forms={"roles": FILES, "adversaries": ADVERSARIES},
    trials=TRIALS,
    describe=lambda project: _read(project)[1],
    file_keys=("release", "truth", "seeds_file", "similarity", "auxiliary"),
)
