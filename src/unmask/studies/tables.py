"""The standard audit of tables: which adversaries, knowing what, against which releases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from unmask.audit import STANDARD, audit, price_measures
from unmask.cases.at_risk import Watched
from unmask.cases.exposure import ORDERS, by_columns, by_order, exposure, knowing
from unmask.cases.exposure import words as more_words
from unmask.cases.foreign import foreign, nobodys, of_nobody
from unmask.cases.price import Motive, campaigns_not_run, price_releases
from unmask.cases.values import by_value
from unmask.errors import UnmaskError
from unmask.measures import success_probability
from unmask.posterior import Posterior
from unmask.reports import APART, LIMITS, ORDER, ORIGINAL, ColumnRisk, Distribution, ReportData, ValueRisk
from unmask.results import Row
from unmask.tables import criteria, utility
from unmask.tables.attacks import AttributeInference, ClassAttack, RegisterAttack
from unmask.tables.attacks.possible import overlapping
from unmask.tables.background import Background
from unmask.tables.counts import class_counts
from unmask.tables.knowledge import Knowledge, Known, attribute_truth
from unmask.tables.release import Table
from unmask.truth import ABSENT, UNKNOWN, Truth

PROSECUTOR = "prosecutor"
REGISTER = "register"

EDGES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Success probabilities between which people are counted."""


OWN_PRIOR = (
    "The prior of a value is the release's own share of it: no original says what was believed before, and the gain "
    "leaves out what suppression or sampling did to the shares."
)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the auditor has besides the releases.

    original : the table before protection: gives the targets, and their true sensitive values
    origins  : release -> (n_released,) the row of the original behind each released record: gives the true record.
               Without it the realized identity success cannot be measured and is said not to be run.
    register : named people with quasi-identifiers, for the adversary who links records to people
    coverage : probability that the person behind a record is in the register
    register_origin : (n_register,) the row of the original that each person of the register is, below 0 for others:
               gives the realized success of the register's holder
    targets  : people attacked, drawn from the original; None: everyone
    seed     : of that draw
    """

    original: Table | None = None
    origins: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    register: Table | None = None
    coverage: float = 1.0
    register_origin: NDArray[np.int64] | None = None
    targets: int | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Attack:
    """One belief on its way into the report.

    rows : (n_targets,) the row of each target: of the original where the release's origin is known, else of the
           release; None where they are not told apart
    """

    release: str
    adversary: str
    target: str
    belief: Posterior
    truth: Truth | None
    rows: NDArray[np.int64] | None = None
    note: str = ""

    @property
    def linked_to(self) -> str:
        """The other data that his names are from, as in `Row`."""
        return REGISTER if self.adversary == REGISTER else ""


def study_tables(
    releases: Mapping[str, Table],
    evidence: Evidence | None = None,
    *,
    title: str = "Audit of a table",
    reproduce: Mapping[str, object] | None = None,
    motive: Motive | None = None,
    watched: Watched | None = None,
) -> ReportData:
    """Attack every release as prosecutor (identity and each sensitive column), as those who know every released column,
    by the order of its rows (with an original) and, with a register, as its holder.

    The same people are attacked in every release. With an original, the original itself is attacked too, as the case
    without protection. With a motive, the strongest knowledge about identity, the register's if there is one, is also
    priced: what a rational attacker does with it. All results are in the rows; nothing in them identifies a person. Who
    is at risk goes to `watched` alone.
    """
    if not releases:
        raise UnmaskError("0 releases were given, expected at least 1 table to attack")
    evidence = evidence or Evidence()
    everything = dict(releases)
    if evidence.original is not None:
        everything = {ORIGINAL: evidence.original, **everything}
        evidence = replace(evidence, origins={**evidence.origins, ORIGINAL: np.arange(evidence.original.n_rows)})
    own = foreign(releases, evidence.original, evidence.origins)
    rows: list[Row] = []
    not_run: dict[tuple[str, str], None] = {}
    spread: list[Distribution] = []
    values: list[ValueRisk] = []
    motive = None if motive is None else facing(motive, evidence)
    priced: dict[str, Posterior] = {}
    for attack in _attacks(everything, evidence, own):
        if attack.release in own:
            if attack.target == "identity":
                continue
            attack = replace(attack, belief=replace(attack.belief, status="model"))
        pricing = motive is not None and (attack.adversary, attack.target) == (priced_adversary(evidence), "identity")
        found = audit(
            attack.belief,
            attack.truth,
            release=attack.release,
            adversary=attack.adversary,
            target=attack.target,
            note=attack.note,
            drawn_from=None if evidence.original is None or attack.linked_to else evidence.original.n_rows,
            measures=STANDARD + (price_measures(motive.attacker) if motive is not None and pricing else ()),
        )
        if pricing:
            priced[attack.release] = attack.belief
        if watched is not None and attack.release != ORIGINAL and attack.adversary not in APART:
            assert attack.rows is not None
            names = {"release": attack.release, "adversary": attack.adversary, "target": attack.target}
            watched.see(attack.belief, attack.rows, **names)
        rows.extend(replace(row, linked_to=attack.linked_to) for row in found.rows)
        not_run |= dict.fromkeys((f"{name}, {attack.adversary}, {attack.target}", why) for name, why in found.not_run)
        spread.append(distribution(attack))
        if attack.adversary == PROSECUTOR and attack.target != "identity" and attack.release != ORIGINAL:
            values += by_value(attack.belief, release=attack.release, target=attack.target)
    first = next(iter(releases.values()))
    played = {row.release: row.posterior for row in rows if row.measure == "realized_rational_success"}
    price = None if motive is None else price_releases(motive, priced_adversary(evidence), priced, played=played)
    return ReportData(
        title=title,
        who=" ".join((who(first, evidence), *of_nobody(own))),
        rows=tuple(rows),
        criteria={name: _criteria(table, evidence.original, nobodys=name in own) for name, table in everything.items()},
        utility=_utilities(releases, evidence),
        column_risk=tuple(
            risk
            for name, table in releases.items()
            for risk in _column_risks(name, table)
            if name not in own or risk.target != "identity"
        ),
        values=tuple(values),
        distribution=tuple(spread),
        assumptions=(*assumptions(first, evidence), _KNOWN_COLUMNS),
        not_run=(
            *nobodys(own),
            *_missing_evidence(evidence, releases),
            *_grouped(not_run),
            *campaigns_not_run(price),
        ),
        reproduce=reproduce or {},
        adversaries=adversaries(first, evidence) | more_words(first, evidence.original),
        price=price,
        exposure=exposure(
            {name: table for name, table in releases.items() if name not in own}, evidence.original, evidence.origins
        ),
    )


def priced_adversary(evidence: Evidence) -> str:
    """The adversary whose knowledge is priced: to hold a register costs money, and so does every name tried."""
    return PROSECUTOR if evidence.register is None else REGISTER


def facing(motive: Motive, evidence: Evidence) -> Motive:
    """The chance that a target is among the candidates is known here: the coverage of the register, or 1."""
    inside = 1.0 if evidence.register is None else evidence.coverage
    return replace(motive, attacker=replace(motive.attacker, prior=inside))


def _attacks(releases: Mapping[str, Table], evidence: Evidence, own: Collection[str]) -> Iterator[Attack]:
    """The people attacked are drawn once, so that releases are compared on the same targets.

    own : releases whose rows are nobody's of the original: no register and no order says whose they are
    """
    known = None
    if evidence.original is not None:
        known = Knowledge(evidence.targets)(evidence.original, rng=np.random.default_rng(evidence.seed))
    people_known = None if known is None else known.background
    for name, published in releases.items():
        kept = published.taking_part
        table = published if len(kept) == published.n_rows else published.take(kept)
        origin = evidence.origins.get(name)
        records = kept if origin is None else origin[kept]
        truth = known.truth_in(records) if known is not None and origin is not None else None
        people = records if known is None else known.person
        link = ClassAttack()(table, people_known)
        yield Attack(name, PROSECUTOR, "identity", link, truth, people)
        for column in table.sensitive:
            population = knowing(evidence.original, column.name)
            belief = AttributeInference(column.name).through(link, table, Background(population=population))
            value = _value_truth(column.name, belief, known, evidence)
            yield Attack(name, PROSECUTOR, column.name, belief, value, people, prior_note(belief))
        for adversary, target, belief in by_columns(table, known, evidence.original):
            about = truth if target == "identity" else _value_truth(target, belief, known, evidence)
            yield Attack(name, adversary, target, belief, about, people, prior_note(belief))
        if name in own:
            continue
        if evidence.register is not None:
            belief = RegisterAttack(coverage=evidence.coverage)(table, Background(evidence.register))
            owners = None if origin is None else _owners(evidence, records)
            yield Attack(name, REGISTER, "identity", belief, owners, records)
        if known is not None and evidence.original is not None:
            belief = by_order(table, known, evidence.original)
            yield Attack(name, ORDER, "identity", belief, truth, people, ORDERS[belief.provenance["order"]])


def _owners(evidence: Evidence, origin: NDArray[np.int64]) -> Truth | None:
    """The person of the register behind each record; ABSENT where the register lacks them."""
    if evidence.original is None or evidence.register_origin is None:
        return None
    person = np.full(evidence.original.n_rows, ABSENT, dtype=np.int64)
    known = np.flatnonzero(evidence.register_origin >= 0)
    person[evidence.register_origin[known]] = known
    return Truth(person[origin])


def _value_truth(sensitive: str, belief: Posterior, known: Known | None, evidence: Evidence) -> Truth | None:
    original = knowing(evidence.original, sensitive)
    if known is None or original is None:
        return None
    truth = attribute_truth(original, known.person, belief, sensitive)
    return truth if np.any(truth.candidate != UNKNOWN) else None


def prior_note(belief: Posterior) -> str:
    """What must be said of a value's prior that no other source than the release gives."""
    return OWN_PRIOR if belief.provenance.get("prior") == "release" else ""


def distribution(attack: Attack, people: int | None = None) -> Distribution:
    """People by the adversary's chance of being right about them, self-assessed.

    people : how many there are, where a target stands for several; else the targets
    """
    assert success_probability.self_assessed is not None
    chance = np.round(success_probability.self_assessed(attack.belief), 9)  # 1 / 10 by its logarithm is not below 0.1
    weight, people = attack.belief.observation_weight, people or attack.belief.n_targets
    counts, _ = np.histogram(chance, bins=np.array(EDGES), weights=weight)
    shares = tuple(float(share) for share in counts / counts.sum())
    above = {limit: round(people * float(weight[chance > limit].sum())) for limit in LIMITS.values()}
    return Distribution(attack.release, attack.adversary, attack.target, EDGES, shares, people, above)


_OF_PEOPLE = frozenset({"prosecutor_average", "prosecutor_max"})
"""Criteria that take every row for somebody's; k counts rows, whosever they are."""


def _criteria(table: Table, original: Table | None, *, nobodys: bool) -> dict[str, float | int | str | None]:
    """nobodys : no row is somebody's."""
    found = criteria.evaluate(table, reference=original)
    told = {item.name: getattr(found, item.name) for item in fields(found) if item.name != "columns"}
    return {name: None if nobodys and name in _OF_PEOPLE else value for name, value in told.items()}


def _utilities(releases: Mapping[str, Table], evidence: Evidence) -> dict[str, dict[str, float]]:
    if evidence.original is None:
        return {}
    found = {}
    for name, table in releases.items():
        if name in evidence.origins:
            lost = utility.evaluate(evidence.original, table, evidence.origins[name])
            found[name] = {
                "gcp": lost.gcp,
                "suppressed": 1.0 - table.n_rows / evidence.original.n_rows,
                "average_class_size": table.n_rows / len(table.classes.sizes),
                **{f"width_{width.unit or 'number'} ({column})": width.mean for column, width in lost.width.items()},
            }
    return found


def _column_risks(release: str, table: Table) -> Iterator[ColumnRisk]:
    """Mean success of the adversary who sees classes, with every quasi-identifier and without each of them."""
    if len(table.quasi_identifiers) < 2:
        return
    table = table.take(table.taking_part)
    if overlapping(table):
        return
    complete = _class_success(table)
    for left_out in table.quasi_identifiers:
        rest = tuple(column for column in table.quasi_identifiers if column is not left_out)
        for target, success in _class_success(replace(table, quasi_identifiers=rest)).items():
            yield ColumnRisk(release, target, left_out.name, complete[target], success)


def _class_success(table: Table) -> dict[str, float]:
    classes = table.classes
    found = {"identity": len(classes.sizes) / table.n_rows}
    for column in table.sensitive:
        counts = class_counts(classes.of_row, len(classes.sizes), column.codes, len(column.levels))
        found[column.name] = 1.0 - criteria.map_error(counts)
    return found


def _names(table: Table) -> str:
    names = [column.name for column in table.quasi_identifiers]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def adversaries(table: Table, evidence: Evidence) -> dict[str, str]:
    """What each adversary knows, in words."""
    words = {PROSECUTOR: f"knows {_names(table)} of people who are in the table"}
    if evidence.register is not None:
        shared = {column.name for column in evidence.register.quasi_identifiers}
        both = tuple(column for column in table.quasi_identifiers if column.name in shared)
        known = _names(replace(table, quasi_identifiers=both))
        words[REGISTER] = f"holds a register of {evidence.register.n_rows:,} people with {known}"
    return words


def who(table: Table, evidence: Evidence) -> str:
    """The first line of the report: who attacks what, knowing what."""
    after = " and ".join(["which record is theirs", *(f"what their {column.name} is" for column in table.sensitive)])
    text = f"An adversary who knows {_names(table)} of people in the table asks {after}"
    if evidence.register is None:
        return text + "."
    return text + f"; another links every record to a register of {evidence.register.n_rows:,} people."


def assumptions(table: Table, evidence: Evidence) -> tuple[str, ...]:
    """What the numbers take for granted, a sentence each."""
    rule = {
        "own": "a missing quasi-identifier is a value of its own",
        "wildcard": "a missing quasi-identifier may be any value",
        "excluded": "rows with a missing quasi-identifier are left out",
    }[table.missing]
    prior = "the release's own" if evidence.original is None else "the original's"
    found = [
        f"Missing cells: {rule}.",
        "The prosecutor knows that his target is in the table and reads generalized cells by containment.",
        f"Attribute inference uses the sensitive values of the records that fit; its prior is {prior}.",
        _EXCHANGEABLE,
    ]
    if evidence.original is None:
        found.append("Without the original, every row is taken as a target whose class the adversary sees.")
    if evidence.register is not None:
        found.append(
            f"The person behind a record is in the register with probability {evidence.coverage:g}, on average over "
            "all records; nobody there is behind two of them."
        )
    return tuple(found)


_EXCHANGEABLE = (
    "It is exact for an adversary to whom the people of a class are exchangeable; one who learns from other classes "
    "who of them has which value may do better."
)

_KNOWN_COLUMNS = "Every released column may be known; those that leave unchanged are compared as exact values."

_NEEDS_ORIGIN = "needs the origin of the records (--origin)"


def _missing_evidence(evidence: Evidence, releases: Mapping[str, Table]) -> Iterator[tuple[str, str]]:
    if evidence.original is None:
        yield "Realized success", "needs the original table (--original)"
    without = [name for name in releases if name not in evidence.origins]
    if evidence.original is None:
        yield "The order of the rows", "needs the original table (--original)"
    if without:
        yield f"Which generalized cells of {', '.join(without)} other columns restore", _NEEDS_ORIGIN
    if evidence.original is not None and without:
        yield f"Realized identity success and utility of {', '.join(without)}", _NEEDS_ORIGIN
    if evidence.register is None:
        yield "Linkage to a register of named people", "needs a register (--register)"
    yield "Population uniqueness", "not part of this audit: unmask.tables.population estimates it"


def _grouped(not_run: Mapping[tuple[str, str], None]) -> Iterator[tuple[str, str]]:
    """Measures that were not taken, one line for each adversary and reason."""
    names: dict[tuple[str, str], list[str]] = {}
    for what, why in not_run:
        measure, _, whose = what.partition(", ")
        names.setdefault((whose, why), []).append(measure)
    for (whose, why), measures in names.items():
        yield f"{', '.join(measures)} ({whose})", why
