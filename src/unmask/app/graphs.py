"""Networks: people and their contacts, released under new numbers, some people under several identities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from unmask.app.jobs import Command
from unmask.app.kind import Asked, Card, Field, Kind, Limit, Parameter, Sample, Trials, steps_of, value_at
from unmask.app.project import AT_RISK, ATTACK, ORIGIN, RELEASE, STUDIED, Project
from unmask.core.errors import UnmaskError
from unmask.toml_text import DOCUMENT

FIRST = ("Nar09", "Rematch")
"""Attacks that are run unless others are chosen."""

RUNS = 4

USUAL = {"adopters": 0.1, "identities": 2}

SHARES, IDENTITIES = (0.05, 0.1, 0.25, 0.5, 0.75), (2, 5)
"""Shares of people that are tried, and numbers of identities; USUAL : what holds where nothing is said."""

ALIKE = 0.1
"""Share of the ids of one column that stand in the other, from which on both are of the same people."""

FEW = 20
"""Values in two columns up to which they are no ids: answers from 1 to 5 are alike as well."""


# --- what a file looks like -------------------------------------------------------------------------------------------


def _guess(sample: Sample) -> str:
    if not sample.columns:
        return "its name ends as files of networks do"
    from unmask.graphs.files.end_columns import are_ends

    names = tuple(sample.columns)
    if len(names) > 1 and are_ends(*names[:2]) and not _are_series(names):
        return f"columns {' and '.join(list(sample.columns)[:2])} look like both ends of a link"
    if len(names) != 2:
        return ""
    one, other = (set(cells) for cells in sample.columns.values())
    shared = len(one & other) >= ALIKE * min(len(one), len(other)) and len(one | other) > FEW
    return "it has two columns, and ids of one stand in the other: links between people" if shared else ""


def _are_series(names: Sequence[str]) -> bool:
    """Return whether names are numbers of a series, as those of questions and of columns without names are.

    >>> _are_series(["q1", "q2", "q3"]), _are_series(["column 1", "column 2"]), _are_series(["node1", "node2"])
    (True, True, False)
    """
    stems = {name.rstrip("0123456789") for name in names[:3]}
    return len(stems) == 1 and (len(names) > 2 or stems == {"column "})


def _begin(sample: Sample) -> dict[str, Any]:
    return {
        "data": {"use": "graphs.file", "file": sample.name},
        "protections": [{"use": "graphs.IdentitySeparation", "with": {"adopters": 0.1}}],
        "graph": {"release": RELEASE, "auxiliary": sample.name, "truth": ORIGIN, "attacks": list(FIRST)},
    }


def _read(project: Project) -> str:
    return _counted(project)[1]


def _seeds(project: Project) -> str:
    """How many are leaked where nothing is said."""
    from unmask.graphs.audit.scenes import usual_seeds

    return usual_seeds(_counted(project)[0])


def _counted(project: Project) -> tuple[int, str]:
    """How many people there are, and what was read, in a sentence."""
    assert project.file is not None
    return _counted_in(project.file, project.file.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _counted_in(path: Path, _changed: int) -> tuple[int, str]:
    from unmask.graphs import SocialGraph

    graph = SocialGraph.read(path)
    if not graph.n_edges:
        raise UnmaskError(
            f"file {path.name!r} links nobody with anybody else, expected at least one link of two people"
        )
    most = f"at most {graph.degree.max(initial=0):,} of one person"
    told = f"{graph.n_nodes:,} people, {graph.n_edges:,} links between them; {most}"
    dropped = str(graph.dropped)
    return graph.n_nodes, f"{told}. {dropped[:1].upper()}{dropped[1:]}." if dropped else f"{told}."


# --- what is run ------------------------------------------------------------------------------------------------------


def is_protected(given: Mapping[str, Any]) -> bool:
    """Whether the release is made here."""
    return value_at(given, "graph.release") == RELEASE and bool(_with(given)) and "file" in given.get("data", {})


def _commands(given: Mapping[str, Any]) -> tuple[Command, ...]:
    attack = ("audit", "graph", DOCUMENT, *ATTACK, "--at-risk", AT_RISK)
    return (protect(given), attack) if is_protected(given) else (attack,)


def protect(given: Mapping[str, Any]) -> Command:
    """The command that makes the release."""
    files = ("-o", RELEASE, "--origin", ORIGIN, "--force")
    return ("protect", "graph", given["data"]["file"], *_options(_with(given)), *files)


def _with(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the protection is asked; nothing where there is none."""
    (one,) = given.get("protections", [])[:1] or [{}]
    return dict(one.get("with", {}))


def _options(asked: Mapping[str, Any]) -> Iterator[str]:
    for key, value in asked.items():
        yield from (f"--{key.replace('_', '-')}", str(value))


# --- what is asked ----------------------------------------------------------------------------------------------------

SEPARATION = "unmask.graphs:IdentitySeparation"

RELEASED = Asked(
    "What is released?",
    "Everybody gets a new number. Some people appear under several identities that nobody can put together.",
    (
        Card("Network", _read, foot="Contacts alone are released, and contacts alone give people away."),
        Card(
            "Several identities", "Each contact of such a person is shown to one of their identities.",
            (
                Field("protections.adopters", "People who take several", "percent", needed=True),
                Field("protections.identities", "Identities of each of them", "whole", SEPARATION),
                Field("protections.model", "Contacts", source=SEPARATION, options={
                    "basic": "stay all", "best": "may be dropped", "worst": "may be doubled",
                    "realistic": "may be dropped or doubled", "realistic_minimal": "doubled, dropped if need be",
                }),
                Field("protections.cooperation", "Who takes them", source=SEPARATION, options={
                    "none": "anybody, singly", "local": "groups of neighbors", "degree": "those of most contacts",
                    "lta": "those least like their friends",
                }),
            ),
            "Without anybody the release is the network under new numbers. Step 5 shows what other settings give.",
            is_protected,
        ),
    ),
)  # fmt: skip


def _is_given(given: Mapping[str, Any]) -> bool:
    return not is_protected(given)


ADVERSARIES = Asked(
    "Who might attack, and what do they know?",
    "They have a network with names in it, know some people in the release, and go on from there by contacts.",
    (
        Card(
            "Their network", "Who knows all contacts of everybody is the worst case.",
            (Field("graph.auxiliary", "A network with the same ids as yours", "file", needed=True),),
            "Yours stands there first.", is_protected,
        ),
        Card(
            "Files", "The release as it is, what the adversary has, and who is who.",
            (
                Field("graph.release", "Network that is released", "file", needed=True),
                Field("graph.auxiliary", "Network of the adversary", "file"),
                Field("graph.truth", "Who is who in both", "file"),
                Field("graph.seeds_file", "People they know in both", "file"),
                Field("graph.similarity", "Who is alike by anything else", "file"),
            ),
            "Without a network of the adversary both are made from the release, as the document says.", _is_given,
        ),
        Card(
            "People they know", "Leaked identities: people whom they have found in the release before.",
            (
                Field("graph.seeds", "How many, drawn of the quarter with most contacts", "whole", usual=_seeds,
                      before="random.25:"),
                Field("graph.runs", "Runs, each with other leaked identities"),
                Field("graph.seed", "Random seed of these draws"),
            ),
            "The more, the further an attack goes. Unless you change it: 5 % of the people, 100 at most.",
        ),
        Card(
            "Attacks", "Which is strongest depends on the network; without a choice all are run, which takes longest.",
            (Field("graph.attacks", "Run only", "several", options=lambda _: _attacks()),),
            "Whatever is not run is listed as not run.",
        ),
    ),
    (Limit("recall<="), Limit("precision<=")),
)  # fmt: skip


def _attacks() -> dict[str, str]:
    from unmask.graphs.audit.written import STANDARD

    return {name: name for name in STANDARD}


def _percent(share: float) -> str:
    return f"{100 * share:.3g}\u00a0%"


TRIALS = Trials(
    "A study gives several identities to more and more people. Every attack of step 3 is run on every release, by an "
    "adversary who has the whole network.",
    "Up: utility, 1 less the greatest loss: of contacts, or of what an analyst finds in the release, where who has "
    "several identities is several people.",
    "Squares have more identities for each person.",
    (
        Parameter("adopters", "adopters: people who take several identities", _percent),
        Parameter("identities", "identities of each of them"),
    ),
    lambda given: {**USUAL, **{key: one for key, one in _with(given).items() if key in USUAL}},
    lambda given, changed: _used(given, changed),
    lambda project: plan_of(project),
    lambda: _losses(),
)


def _losses() -> Sequence[str]:
    from unmask.graphs.utility import LOSSES

    return LOSSES


def _used(given: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """The document with a protection that has other parameters, and an audit of what it makes."""
    kept = {key: one for key, one in {**_with(given), **changed}.items() if one is not None}
    graph = given["graph"]
    made = {**graph, "release": RELEASE, "auxiliary": graph.get("auxiliary", graph["release"]), "truth": ORIGIN}
    return {**given, "graph": made, "protections": [{"use": "graphs.IdentitySeparation", "with": kept}]}


def plan_of(project: Project) -> dict[str, Any]:
    """The document of the study: many protections in the place of one, and every attack as an adversary of its own."""
    given = project.given
    own = {**USUAL, **_with(given)}
    grid = {"adopters": sorted({*SHARES, own["adopters"]}), "identities": sorted({*IDENTITIES, own["identities"]})}
    plain = {key: one for key, one in own.items() if key not in USUAL}
    seeds = str(value_at(given, "graph.seeds") or _seeds(project)).rpartition(":")
    knows = {"node_overlap": 1.0, "edge_overlap": 1.0, "seeds": seeds[0], "n_seeds": int(seeds[2]), "who": "anybody"}
    attacks = [name for name in value_at(given, "graph.attacks") or _attacks() if name in _attacks()]
    return {
        "title": given["title"],
        "seeds": int(value_at(given, "graph.runs") or RUNS),
        "data": {"name": "network", **given["data"]},
        "protections": [
            {"name": "unprotected", "use": "none"},
            {"name": "identities", "use": "graphs.IdentitySeparation", "with": plain, "grid": grid},
        ],
        "adversaries": [{"name": name, "use": f"graphs.{name}", "knows": knows} for name in attacks],
        "policy": given["policy"],
    }


KIND = Kind(
    "graph", "a network", "People and their contacts: a list of links, or a file of a network.",
    steps_of("Release", RELEASED, ADVERSARIES, _commands, STUDIED), _guess, _begin, _commands, TRIALS, _read,
)  # fmt: skip
