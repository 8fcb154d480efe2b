"""Criteria of a released network: people with equal surroundings, before any attack."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.findings import people_at_risk
from unmask.findings.people_at_risk import MIN_EXCESS, Watched
from unmask.graphs import SocialGraph
from unmask.graphs.audit.cautions import describe_two_sides, describe_unused
from unmask.graphs.audit.network_pairs import left_out, list_ids
from unmask.graphs.criteria import (
    class_sizes,
    color_classes,
    degree_anonymity,
    local_anonymity,
    neighborhood_anonymity,
    structural_equivalence,
)
from unmask.graphs.protections import new_ties
from unmask.languages import gettext as _
from unmask.languages import mark
from unmask.measures.registry import MEASURES
from unmask.results import Advice, AtRisk, Block, Chart, Column, Fact, Result, Row, Table, View
from unmask.results.formats import number, percent
from unmask.results.names import IDENTITY, LIMITS
from unmask.results.suppression import mark_group, mark_people
from unmask.results.words import plural

NO_ATTACK = "it needs an attack: add --overlap or --auxiliary"
"""Reason why a measure of an attack is not computed."""

SURROUNDINGS = "surroundings"
"""Adversary of all criteria."""

TOP_SHARES = (0.01, 0.05, 0.1, 0.25)
"""Shares of people with most edges that are compared with the people of lowest local anonymity."""

CONTACTS = (2, 3, 5, 10)
"""Contacts of a new identity that is to be (2, 2)-anonymous."""

MAX_SAMPLE = 150
"""Number of people in the sample for (2, 2)-anonymous identities."""

PERCENTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class PeopleClasses(NamedTuple):
    """People with equal surroundings, as far as an adversary knows them.

    measure : name of the smallest class in rows and policies
    name : short name of the known fact
    knowledge : words that complete "an adversary who knows ..."
    size : (n_people,) people in the class of each person, the person included
    n_open : people whose class may be smaller than its size
    """

    measure: str
    name: str
    knowledge: str
    size: NDArray[np.int64]
    n_open: int = 0

    @property
    def n_unique(self) -> int:
        """Number of people without an equal."""
        return int(np.count_nonzero(self.size == 1))


def audit_criteria(
    name: str, graph: SocialGraph, *, watched: Watched | None = None, measures: Sequence[str] = ()
) -> Result:
    """Return the criteria of a network: classes of people with equal surroundings, and local anonymity.

    Parameters
    ----------
    name : str
        Name of the network.
    graph : SocialGraph
        Released network, with at least one person.
    watched : Watched, optional
        Receives the people that an adversary finds with a probability above 9 %, for the owner.
    measures : sequence of str
        Requested measures of an attack, which are listed as not run.
    """
    if not graph.n_nodes:
        raise UnmaskError("the network has 0 people, expected at least 1; check the file")
    classes, anonymity = tuple(_count_classes(graph)), local_anonymity(graph)
    if watched is not None:
        watched.found += _list_people_at_risk(name, graph, classes)
    tables = (
        _criteria_table(classes),
        _class_size_table(classes),
        _degree_table(graph),
        _overlap_table(graph, anonymity),
        _identity_table(graph),
    )
    filled = {table.name: table for table in tables if table.rows}
    return Result(
        title=_("Criteria of the network {name}", name=name),
        kind="Network criteria",
        command="audit graph",
        setting="An adversary knows a fact about the surroundings of a person, and looks for people with this fact.",
        headline=_describe_smallest(classes),
        rows=tuple(_list_rows(name, classes, anonymity)),
        facts=tuple(filled.values()),
        blocks=tuple(_list_blocks(graph, classes, anonymity, filled)),
        at_risk=_describe_risk(classes),
        advice=ATTACK,
        adversaries={SURROUNDINGS: "knows the surroundings of a person at any distance"},
        preferred_measures=("success_probability",),
        described_measures=("success_probability",),
        sample_condition="k_degree >= 5",
        assumptions=(EXACT, *left_out("the network", graph)),
        cautions=(*describe_unused(graph), *describe_two_sides(graph)),
        not_run=tuple((measure, NO_ATTACK) for measure in measures),
    )


ATTACK = Advice(
    mark("Attacks that start from leaked identities may find people that no criterion singles out:"),
    "unmask audit graph \u2026 --overlap 0.5,0.75 --report page.html",
)

EXACT = (
    "Each adversary knows their facts exactly and nothing else. They pick each person of a class with equal "
    "probability."
)


def _count_classes(graph: SocialGraph) -> Iterator[PeopleClasses]:
    """Yield the classes of people, from the least knowledge to the most."""
    neighborhood = neighborhood_anonymity(graph)
    candidates = [class_sizes(color_classes(graph, rounds)) for rounds in (1, 2, None)]
    twins = class_sizes(structural_equivalence(graph))
    yield PeopleClasses("k_degree", "degree", "the number of edges of a person", degree_anonymity(graph))
    yield PeopleClasses(
        "k_neighborhood", "neighborhood", "the edges among the contacts of a person", neighborhood.size,
        int(np.count_nonzero(~neighborhood.exact)),
    )  # fmt: skip
    knowledge = "the numbers of edges of a person and of"
    yield PeopleClasses("k_candidate_1", "candidates, 1 round", f"{knowledge} their contacts", candidates[0])
    yield PeopleClasses("k_candidate_2", "candidates, 2 rounds", f"{knowledge} people two edges away", candidates[1])
    yield PeopleClasses("k_candidate", "candidates, all rounds", f"{knowledge} people at any distance", candidates[2])
    yield PeopleClasses("k_twins", "structural twins", "each contact of a person", twins)


def _list_people_at_risk(
    name: str, graph: SocialGraph, classes: Sequence[PeopleClasses]
) -> Iterator[people_at_risk.AtRisk]:
    """Yield the people that an adversary finds with a probability above the limit."""
    people = list_ids(graph)
    for item in classes:
        for person in np.flatnonzero(1 / item.size > LIMITS["identity"] + MIN_EXCESS).tolist():
            n = int(item.size[person])
            reason = _("1 candidate fits") if n == 1 else _("{n} candidates fit", n=n)
            yield people_at_risk.AtRisk(name, people[person], item.name, IDENTITY, 1 / n, reason)


# --- rows and tables -------------------------------------------------------------------------------------------------


def _list_rows(name: str, classes: Sequence[PeopleClasses], anonymity: NDArray[np.float64]) -> Iterator[Row]:
    """Yield the success by surroundings at any distance, the smallest classes, and the lowest local anonymity."""
    candidates = next(item.size for item in classes if item.measure == "k_candidate")
    yield _make_row(name, "success_probability", 1 / candidates, 1 / len(candidates), _count(candidates), "")
    for item in classes:
        note = f"an upper bound for {plural(item.n_open, 'person', 'people')} with many contacts" if item.n_open else ""
        yield _make_row(name, item.measure, item.size, len(item.size), _count(item.size), note)
    if len(finite := anonymity[np.isfinite(anonymity)]):
        note = "people without friends of friends are left out" if len(finite) < len(anonymity) else ""
        yield _make_row(name, "lta_a", finite, 1.0, len(np.unique(finite)), note)


def _count(size: NDArray[np.int64]) -> int:
    """Return the number of classes."""
    return round(float((1 / size).sum()))


def _make_row(release: str, measure: str, values: NDArray[Any], prior: float, n_classes: int, note: str) -> Row:
    """Return the row of the mean success, or of the smallest value over people."""
    quantity = MEASURES[measure]
    is_success = quantity.direction == "high"
    worst = float(values.max() if is_success else values.min())
    posterior = float(values.mean()) if is_success else worst
    return Row(
        release=release, adversary=SURROUNDINGS, target=IDENTITY, measure=measure, unit=quantity.unit,
        direction=quantity.direction, prior=prior, posterior=posterior,
        gain=posterior - prior if is_success else prior - posterior, low=None, high=None, interval="none",
        n=len(values), n_observations=n_classes, worst=worst, worst_observation=0,
        quantiles=tuple(_quantile(values, share) for share in PERCENTILES), status="exact", note=note,
    )  # fmt: skip


def _criteria_table(classes: Sequence[PeopleClasses]) -> Table:
    columns = (
        Column("criterion", "Criterion"),
        Column("name", "Known fact"),
        Column("knowledge", "Meaning"),
        Column("smallest", "Smallest class", "number", places=0),
        Column("median", "Class of the median person", "number", places=0),
        Column("unique", "People without an equal", "share_of_people", of="people"),
        Column("people", "People", "number", places=0),
    )
    records = (
        (item.measure, item.name, item.knowledge, int(item.size.min()), _median(item.size),
         item.n_unique / len(item.size), len(item.size))
        for item in classes
    )  # fmt: skip
    return Table.from_records("graph_criteria", columns, records)


def _median(size: NDArray[np.int64]) -> int:
    return int(_quantile(size, 0.5))


def _quantile(values: NDArray[Any], share: float) -> float:
    """Return the smallest value that at least this share of people do not exceed."""
    return float(np.sort(values)[math.ceil(share * len(values)) - 1])


def _class_size_table(classes: Sequence[PeopleClasses]) -> Table:
    """Return the share of people in classes of at most each size."""
    columns = (
        Column("name", "Known fact"),
        Column("size", "People in a class, at most", "number", places=0),
        Column("share", "People", "share_of_people", of="people"),
        Column("people", "People", "number"),
    )
    n = len(classes[0].size)
    limits = [step * 10**power for power in range(len(str(n))) for step in (1, 2, 5) if step * 10**power < n]
    records = (
        (item.name, limit, np.count_nonzero(item.size <= limit) / n, n) for item in classes for limit in (*limits, n)
    )
    return Table.from_records("graph_class_sizes", columns, records)


def _degree_table(graph: SocialGraph) -> Table:
    """Return the share of people with at least each number of edges."""
    columns = (
        Column("edges", "Edges of a person, at least", "number", places=0),
        Column("share", "People", "share_of_people", of="people"),
        Column("people", "People", "number"),
    )
    highest, n = int(graph.degree.max()), graph.n_nodes
    lows = [2**power for power in range(highest.bit_length())]
    records = ((low, np.count_nonzero(graph.degree >= low) / n, n) for low in lows)
    return Table.from_records("graph_degree_distribution", columns, records)


def _overlap_table(graph: SocialGraph, anonymity: NDArray[np.float64]) -> Table:
    """Return the share of people with most edges who have the lowest local anonymity, too."""
    columns = (
        Column("top", "People with most edges", "share"),
        Column("overlap", "Of these, among as many with lowest LTA A", "share"),
        Column("people", "People", "group", exact=True),
    )
    is_finite = np.isfinite(anonymity)
    degree, lowest = graph.degree[is_finite].astype(np.float64), -anonymity[is_finite]
    counts = {share: round(share * len(degree)) for share in TOP_SHARES}
    records = ((share, float(_among_top(degree, n) @ _among_top(lowest, n)) / n, n) for share, n in counts.items() if n)
    return Table.from_records("graph_top_overlap", columns, records)


def _among_top(values: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the probability that each value is among the n largest if ties are broken at random.

    >>> _among_top(np.array([3.0, 1.0, 2.0, 2.0]), 2)
    array([1. , 0. , 0.5, 0.5])
    """
    border = np.sort(values)[-n]
    above, ties = values > border, values == border
    probability: NDArray[np.float64] = above + ties * (n - above.sum()) / ties.sum()
    return probability


def _identity_table(graph: SocialGraph) -> Table:
    """Return the share of a sample of people who can have a new identity with the contacts of another person."""
    columns = (
        Column("contacts", "Contacts of the new identity", "number", places=0),
        Column("free", "Possible without a new contact", "share"),
        Column("possible", "Possible", "share"),
        Column("people", "People", "group", exact=True),
    )
    able = np.flatnonzero(graph.degree >= max(CONTACTS))
    sample = np.random.default_rng(0).permutation(able)[:MAX_SAMPLE]
    ties = {contacts: new_ties(graph, sample, contacts=contacts, k=2) for contacts in CONTACTS if len(sample)}
    records = (
        (contacts, float(np.mean(new == 0)), float(np.mean(new >= 0)), len(sample)) for contacts, new in ties.items()
    )
    return Table.from_records("graph_new_identities", columns, records)


# --- findings --------------------------------------------------------------------------------------------------------


def _describe_smallest(classes: Sequence[PeopleClasses]) -> str:
    """Return the class sizes for the number of edges, and the people without an equal by all edges."""
    degree, candidates = (next(i for i in classes if i.measure == name) for name in ("k_degree", "k_candidate"))
    n = len(degree.size)
    unique = _(
        "{n} of {total} people are the only one with their number of edges; the median person shares it with {others} "
        "others.",
        n=mark_people(degree.n_unique),
        total=n,
        others=_median(degree.size) - 1,
    )
    return f"{unique} By their surroundings at any distance, {mark_people(candidates.n_unique)} people have no equal."


def _describe_risk(classes: Sequence[PeopleClasses]) -> AtRisk:
    """Return the people without an equal by surroundings at any distance, and the smallest class by each criterion."""
    candidates = next(item for item in classes if item.measure == "k_candidate")
    facts = tuple(
        Fact(MEASURES[item.measure].label, _("{n}, median {median}", n=int(item.size.min()), median=_median(item.size)))
        for item in classes
        if item.measure not in ("k_candidate_1", "k_candidate_2")
    )
    sentence = _("of {n} people have no equal by their surroundings at any distance", n=len(candidates.size))
    return AtRisk(mark_people(candidates.n_unique), sentence, facts)


SIZE_CHART = Chart(
    "lines", "graph_class_sizes", "size", "share", by="name", title="People in classes of at most a size", log="x"
)

DEGREE_CHART = Chart("lines", "graph_degree_distribution", "edges", "share", title="People by number of edges", log="x")

CANDIDATES = (
    "Candidates agree under vertex refinement: in the numbers of edges of all people within a distance of one, two or "
    "any number of edges."
)

TWINS = "Structural twins have the same contacts: no attack tells them apart."

LOCAL_ANONYMITY = (
    "LTA A is the mean similarity of a person's edges to those of friends of friends. A person with a low value is "
    "easy to find."
)

NEW_IDENTITIES = (
    "Such an identity is (2, 2)-anonymous: no attack tells it from the other person. Some need contacts that the "
    "person does not have. Shares are of up to {most} people with at least {least} contacts."
)

UNRELATED = "If number of edges and LTA A were unrelated, the second column would equal the first."


def _list_blocks(
    graph: SocialGraph,
    classes: Sequence[PeopleClasses],
    anonymity: NDArray[np.float64],
    tables: Mapping[str, Table],
) -> Iterator[Block]:
    least = min(classes, key=lambda item: (int(item.size.min()), _median(item.size)))
    size = plural(int(least.size.min()), "person", "people")
    yield Block(
        "criteria",
        "People with equal surroundings",
        f"The smallest classes are those of an adversary who knows {least.knowledge}: {size} at least, "
        f"{_median(least.size):,} for the median person.",
        (SIZE_CHART,),
        (View("graph_criteria", ("name", "knowledge", "smallest", "median", "unique")),),
        f"The network has {plural(graph.n_nodes, 'person', 'people')} and {plural(graph.n_edges, 'edge')}. The "
        "adversary knows one of these facts about a person, and finds the class of all people with the same fact.",
        (CANDIDATES, TWINS),
        open=True,
    )
    if "graph_top_overlap" in tables:
        yield _local_block(anonymity, tables)
    if "graph_new_identities" in tables:
        row = tables["graph_new_identities"].rows[1]
        yield Block(
            "new_identities",
            "New identities with the contacts of others",
            mark_group(
                f"For {percent(row['free'])} of the people, a new identity with {row['contacts']} of their contacts "
                "can have the contacts of another person.",
                row["people"],
            ),
            tables=(View("graph_new_identities", ("contacts", "free", "possible")),),
            notes=(NEW_IDENTITIES.format(most=MAX_SAMPLE, least=max(CONTACTS)),),
        )


def _local_block(anonymity: NDArray[np.float64], tables: Mapping[str, Table]) -> Block:
    """Return local anonymity, next to the number of edges."""
    finite = anonymity[np.isfinite(anonymity)]
    row = tables["graph_top_overlap"].rows[-2:][0]
    return Block(
        "local_anonymity",
        "Local anonymity and number of edges",
        f"LTA A is {number(float(finite.min()))} at least and {number(_quantile(finite, 0.5))} for the median person. "
        f"Of the {percent(row['top'], 0)} of people with most edges, {percent(row['overlap'])} are among as many with "
        "the lowest LTA A.",
        (DEGREE_CHART,) if len(tables["graph_degree_distribution"]) > 1 else (),
        (View("graph_top_overlap", ("top", "overlap")),),
        notes=(LOCAL_ANONYMITY, UNRELATED),
    )
