"""Audits of tables: adversaries attack releases, and their beliefs are compared with the truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from numpy.typing import ArrayLike

import unmask
from unmask.core.errors import UnmaskError, nearest
from unmask.core.signatures import with_parameters
from unmask.domains import name_releases
from unmask.languages import gettext as _
from unmask.measures import Measure
from unmask.measures.requested import parse_measures, select_requested
from unmask.policy.coverage import coverage_notes
from unmask.ranges import MeasureNames, Option, Range
from unmask.results import Result, Row
from unmask.results.names import COLLECTOR, FORMER_NAMES
from unmask.results.rows import ORIGINAL
from unmask.scoring import STANDARD
from unmask.tables.attacks.linkability import check_parts
from unmask.tables.audit.assumptions import describe_adversaries, describe_setting, list_assumptions
from unmask.tables.audit.attack_scores import AttackScores, Scorer
from unmask.tables.audit.attacked_release import OPTIONAL
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, Release, check_row_numbers, list_releases
from unmask.tables.audit.cautions import list_bands, list_cautions, list_readings
from unmask.tables.audit.column_shapes import column_bins
from unmask.tables.audit.control_comparison import WORDS
from unmask.tables.audit.generalization_steps import try_steps
from unmask.tables.audit.not_run import group_by_reason, list_not_run
from unmask.tables.audit.person_explanation import PersonExplainer
from unmask.tables.audit.published_analyses import add_analyses, measure_analyses
from unmask.tables.audit.release_attacks import attack_release, check_attacks
from unmask.tables.audit.release_facts import ReleaseFacts, measure_exposure, measure_release, measure_utility
from unmask.tables.audit.result import TableFacts, add_steps, make_result
from unmask.tables.audit.several_releases import attack_together
from unmask.tables.audit.threads import MIN_ROWS, two_at_once
from unmask.tables.criteria import SUBSETS
from unmask.tables.knowledge import read_knowledge
from unmask.tables.reading import check_columns
from unmask.tables.reinterpret import apply_readings, find_readings, unify_spelling
from unmask.tables.sensitive_bands import band_sensitive_values
from unmask.tables.table import Table

if TYPE_CHECKING:
    from unmask.economics.audit import AttackerSource


ATTACKER = Option(metavar="PATH|case-study", names=("case-study",), key="audit.attacker")
"""Form of the parameter `attacker` on a command line and in a document."""

ANALYSES = Option("Output", "--analysis", metavar="KIND:COLUMNS")
"""Form of the parameter `analyses`."""

KNOWS = Option("Knowledge", metavar="KEY=VALUE,...", key="audit.knows")
"""Form of the parameter `knows`."""

Knows = str | Mapping[str, Any]
"""Knowledge of the standard adversaries, see `read_knowledge`."""


@with_parameters(
    AuditorKnowledge,
    only=("original", "register", "coverage", "control", "synthetic", "parts", "targets", "seed",
          "without", "together", "watched", "population"),
)  # fmt: skip
def audit(
    release: Table | Mapping[str, Table],
    *,
    truth: None = None,
    origin: ArrayLike | Mapping[str, ArrayLike] | None = None,
    register_origin: ArrayLike | None = None,
    hold_back: Annotated[float, Range(0, 1, below=True), Option(key="data.hold_back")] = 0.0,
    protection: Any = None,
    knows: Annotated[Knows | None, KNOWS] = None,
    attacks: Mapping[str, Any] = MappingProxyType({}),
    attacker: Annotated[str | unmask.economics.Attacker | None, ATTACKER] = None,
    steps: bool = False,
    attack_original: bool = True,
    measures: MeasureNames = (),
    analyses: Annotated[Sequence[str], ANALYSES] = (),
    **settings: Any,
) -> Result:
    """Attack releases of a table: how many people are re-identified, and which values are inferred.

    Parameters
    ----------
    release : Table or mapping of Table
        Releases in memory, or counted by an engine.
    truth : None
        Not allowed: the truth is the original and the origin of its rows.
    origin : array or mapping, optional
        row of the original behind each record, of one release or by release. Without it the realized identity success
        is not computed
    register_origin : (n_register,) array, optional
        row of the original that each person of the register is, below 0 for others
    hold_back : float
        share of the original that was withheld at random: withheld people in no release are the control group
    protection : object or mapping, optional
        protection that made the release, which another adversary knows. One for all, or by release
    knows : str or mapping, optional
        knowledge of the standard adversaries about people: missing=RATE of unknown cells, error=RATE of wrong ones, and
        columns=NUMBER of known quasi-identifiers of each person or columns=NAME+NAME, separated by commas. By default
        every cell. See `read_knowledge`
    attacks : mapping
        further attacks on people's records or values, by the name of their adversary
    attacker : str or Attacker, optional
        rational attacker: a TOML file with [attacker], or case-study, the embedded assumption
    steps : bool
        try one step of generalization of each quasi-identifier, of releases whose original and origin are given
    attack_original : bool
        attack the original, too, as the case without protection. No verdict about a release needs it
    measures : sequence of str
        further measures, such as renyi_entropy_bits:2 or k_pairs. A policy that names one takes it, too
    analyses : sequence of str
        published analysis to compare before and after protection: table: sex, job, or mean: income by region,
        or correlation: age, income, or regression: income ~ age + sex, or propensity (needs --original, repeatable)
    **settings
        Fields of `AuditorKnowledge`.

    Returns
    -------
    Result
        Rows, tables and findings.
    """
    if truth is not None:
        raise UnmaskError("the truth of a table is its original and the origin of its rows; give original and origin")
    releases = name_releases(release)
    original = settings.get("original")
    if analyses and original is None:
        raise UnmaskError("an analysis is compared with the original, and no original was given; give both")
    compared = measure_analyses(original, releases, analyses) if original is not None and analyses else None
    origins = {
        name: check_row_numbers("origin", rows, releases[name])
        for name, rows in _by_release("origin", origin, releases).items()
    }
    protections = _by_release("protection", protection, releases)
    knowledge = AuditorKnowledge(
        origins=origins, protections=protections, knowledge=read_knowledge(knows), attacks=attacks, **settings
    )
    if register_origin is not None:
        rows = check_row_numbers("register_origin", register_origin, knowledge.register)
        knowledge = replace(knowledge, register_origin=rows)
    _check_knowledge(knowledge, releases)
    if hold_back and (knowledge.control is not None or len(origins) < len(releases)):
        reason = "a release has no origin" if knowledge.control is None else "a control group was given, too"
        raise UnmaskError(
            f"hold_back finds the control group by the origin of the records, but {reason}; give one of the two"
        )
    knowledge, releases, readings = _harmonize(knowledge.without_unlinked_register(), releases)
    knowledge = knowledge.hold_back(hold_back) if hold_back else knowledge
    source = None if attacker is None else _read_attacker(attacker)
    knowledge = replace(knowledge, criteria=[name for name in measures if name in SUBSETS])
    requested = parse_measures(name for name in measures if name not in SUBSETS)
    title = _("Audit of {releases}", releases=", ".join(releases))
    result = audit_tables(
        releases,
        knowledge,
        title=title,
        attacker=source,
        measures=requested,
        steps=steps,
        attack_original=attack_original,
    )
    result = replace(result, cautions=(*result.cautions, *readings))
    return result if compared is None else add_analyses(result, compared)


def _by_release(name: str, value: Any, releases: Mapping[str, Table]) -> dict[str, Any]:
    """Return an argument by release; a single value holds for all releases."""
    values = value if isinstance(value, Mapping) else dict.fromkeys(releases, value)
    for release in values:
        if release not in releases:
            raise UnmaskError(f"{name} names a release that was not given; the releases are {', '.join(releases)}")
    return {release: value for release, value in values.items() if value is not None}


def _check_knowledge(knowledge: AuditorKnowledge, releases: Mapping[str, Table]) -> None:
    """Refuse settings that need others, or that contradict them."""
    original, origins = knowledge.original, knowledge.origins
    if original is None:
        settings = {
            "origin": bool(origins), "targets": knowledge.targets, "register_origin": knowledge.register_origin,
            "knows": not knowledge.knowledge.is_complete, "attacks": bool(knowledge.attacks),
        }  # fmt: skip
        for name in (name for name, value in settings.items() if value is not None and value is not False):
            raise UnmaskError(f"{name} is about rows of the original, and no original was given; give both")
        if knowledge.protections:
            raise UnmaskError("protection needs the original of the release, and no original was given; give both")
    if knowledge.synthetic and (original is None or origins):
        reason = "no original was given, whose people it may tell about" if original is None else "an origin says whose"
        raise UnmaskError(f"synthetic says that no row is anybody's, but {reason}; give the original and no origin")
    if knowledge.register is None and knowledge.coverage != 1:
        raise UnmaskError(f"coverage is {knowledge.coverage:g} of a register, and no register was given; give both")
    for name in knowledge.without:
        if name not in OPTIONAL:
            raise UnmaskError(f"without is {name!r}; {nearest(FORMER_NAMES.get(name, name), OPTIONAL)}")
    check_attacks(knowledge.attacks)
    n_rows = 0 if knowledge.population is None else max(table.n_rows for table in releases.values())
    if knowledge.population is not None and knowledge.population < n_rows:
        raise UnmaskError(f"population is {knowledge.population}, expected at least the {n_rows} rows of a release")
    if knowledge.parts is not None:
        check_parts(knowledge.parts)
        for table in (*releases.values(), *(() if original is None else (original,))):
            check_columns(table.names, [*knowledge.parts[0], *knowledge.parts[1]], place="the table")


def _harmonize(
    knowledge: AuditorKnowledge, releases: dict[str, Table]
) -> tuple[AuditorKnowledge, dict[str, Table], tuple[str, ...]]:
    """Return all tables in one spelling, and how cells of releases are read that stand for several values.

    Cells of releases with a known protection stay as they are. Sensitive values of people become as coarse as those of
    the releases.
    """
    original, control = knowledge.original, knowledge.control
    if original is not None:
        control_tables = [] if control is None else [control]
        original, spelled = unify_spelling(original, [*control_tables, *releases.values()])
        control = spelled.pop(0) if control_tables else None
        releases = dict(zip(releases, spelled, strict=True))
        knowledge = replace(knowledge, original=original, control=control)
    people = knowledge.register if original is None else original
    if people is None or people.counts is not None:
        return knowledge, releases, ()
    plain = {n: table for n, table in releases.items() if table.counts is None and n not in knowledge.protections}
    readings = {name: find_readings(people, table, knowledge.origins.get(name)) for name, table in plain.items()}
    releases = releases | {name: apply_readings(plain[name], reading) for name, reading in readings.items()}
    if original is None:
        return knowledge, releases, tuple(list_readings(readings))
    in_memory = [table for table in releases.values() if table.counts is None]
    original, bands = band_sensitive_values(original, in_memory)
    control = None if control is None else band_sensitive_values(control, in_memory)[0]
    knowledge = replace(knowledge, original=original, control=control)
    return knowledge, releases, (*list_readings(readings), *list_bands(bands))


def audit_tables(
    tables: Mapping[str, Table],
    knowledge: AuditorKnowledge | None = None,
    *,
    title: str = "Audit of a table",
    attacker: AttackerSource | None = None,
    measures: Sequence[Measure] = (),
    steps: bool = False,
    attack_original: bool = True,
) -> Result:
    """Attack every release with the standard adversaries, and the original as the case without protection.

    The same people are attacked in every release. With an attacker, the strongest knowledge about identity is priced.
    No row of the result identifies a person; people at risk are listed in `AuditorKnowledge.watched` only.

    Parameters
    ----------
    tables : mapping of Table
        Releases by name. One that an engine counts has no original, and is attacked by those who need no rows. Its
        numbers equal those of the same table in memory to 1e-12, and to 1e-6 if beliefs about many records are held in
        single precision.
    knowledge : AuditorKnowledge, optional
        Tables that the auditor has; by default none.
    title : str
        Heading.
    attacker : AttackerSource, optional
        Rational attacker.
    measures : sequence of Measure
        Measures beyond those of all audits.
    steps : bool
        Try one step of generalization of each quasi-identifier.
    attack_original : bool
        Attack the original, too. No verdict about a release needs it.
    """
    knowledge = knowledge or AuditorKnowledge()
    _check(tables, knowledge)
    releases, original = tuple(list_releases(tables, knowledge)), knowledge.original
    sources = () if original is None or not attack_original else (Release(ORIGINAL, original),)
    attacked = (*sources, *releases)
    complete = knowledge.complete
    _ = complete.known, complete.shift  # once: threads would compute them twice
    names = {measure.name for measure in STANDARD}
    chosen = (*STANDARD, *(measure for measure in measures if measure.name not in names))
    scorer = Scorer(complete, _with_prior(attacker, knowledge), chosen)

    def attack(release: Release) -> tuple[ReleaseFacts, AttackScores]:
        return measure_release(release, knowledge), scorer.score(release, attack_release(release, complete))

    is_large = original is not None and original.n_rows >= MIN_ROWS
    measured, scored = zip(*(two_at_once if is_large else map)(attack, attacked), strict=True)
    people = [release for release in releases if release.has_rows and not release.is_foreign]
    combined = [scorer.score(release, runs) for release, runs in attack_together(people, complete)]
    if knowledge.watched is not None:
        knowledge.watched.by_release(tuple(tables))
    scores = [*scored, *combined]
    price = scorer.price(scores, people)
    rows = tuple(_rows_by_release(scores, attacked))
    by_name = {release.name: facts for release, facts in zip(attacked, measured, strict=True)}
    criteria = {name: facts.criteria for name, facts in by_name.items()}
    adversaries = {row.adversary for row in rows}
    words = describe_adversaries(releases[0], knowledge) | dict(WORDS)
    traced = [(release, original) for release in releases if original is not None and release.origin is not None]
    facts = TableFacts(
        criteria=criteria,
        utility={release.name: measure_utility(release, source) for release, source in traced},
        calibration=_join(scores, "calibration"),
        values=_join(scores, "values"),
        classes=_join(scores, "classes"),
        contributions={name: facts.contributions for name, facts in by_name.items() if facts.contributions},
        column_risks=tuple(risk for facts in measured for risk in facts.column_risks),
        bins=[item for release, source in traced for item in column_bins(release, source)],
        exposure=measure_exposure(people, original),
        price=price,
    )
    result = make_result(title, rows, facts, words)
    result = replace(
        result,
        setting=describe_setting(releases, knowledge),
        unit=attacked[0].table.unit,
        distribution=_join(scores, "distributions"),
        assumptions=tuple(list_assumptions(releases, knowledge, crossed=COLLECTOR in adversaries)),
        cautions=(
            *coverage_notes(row for row in rows if row.release != ORIGINAL),
            *list_cautions(releases, knowledge, criteria),
            *result.cautions,
        ),
        not_run=(
            *list_not_run(releases, knowledge),
            *chain.from_iterable(facts.not_run for facts in measured),
            *dict.fromkeys(_join(scores, "not_run")),
            *group_by_reason(_join(scores, "unmeasured")),
            *price.not_run,
        ),
        adversaries={name: text for name, text in words.items() if name in adversaries},
        explainer=PersonExplainer(releases, knowledge),
    )
    return add_steps(result, try_steps(result, releases, knowledge)) if steps else result


def _check(releases: Mapping[str, Table], knowledge: AuditorKnowledge) -> None:
    """Refuse tables that do not fit together."""
    if not releases:
        raise UnmaskError("0 releases were given, expected at least 1 table to attack")
    if knowledge.together and len(releases) < 2:
        raise UnmaskError("1 release was given, and together=True combines at least two; give another release")
    n_counted = sum(table.counts is not None for table in releases.values())
    if knowledge.original is not None and n_counted:
        raise UnmaskError("an original was given, and its audit needs every row of a release; read the releases")
    if knowledge.original is None and knowledge.control is not None:
        raise UnmaskError("a control group was given, and no original to compare it with; give both")
    if n_counted < len(releases) and knowledge.register is not None and knowledge.register.counts is not None:
        raise UnmaskError("the register is counted, and a release in memory is linked row by row; read the register")


def _read_attacker(attacker: str | unmask.economics.Attacker) -> AttackerSource:
    from unmask.economics.audit import AttackerSource  # here: most audits price nothing

    return AttackerSource.read(attacker)


def _with_prior(source: AttackerSource | None, knowledge: AuditorKnowledge) -> AttackerSource | None:
    """Return the attacker with the probability that a target is a candidate: the coverage of the register, or 1."""
    prior = 1.0 if knowledge.register is None else knowledge.coverage
    return None if source is None else replace(source, attacker=replace(source.attacker, prior=prior))


def _join(scores: Sequence[AttackScores], name: str) -> tuple[Any, ...]:
    return tuple(chain.from_iterable(getattr(score, name) for score in scores))


def _rows_by_release(scores: Sequence[AttackScores], releases: Iterable[Release]) -> Iterator[Row]:
    """Yield the rows of all attacks, release by release."""
    rows = _join(scores, "rows")
    for release in releases:
        yield from add_excluded_people([row for row in rows if row.release == release.name], release)


def add_excluded_people(rows: Sequence[Row], release: Release) -> Iterator[Row]:
    """Yield the rows of a release with the number of people that remain after its rule for missing cells."""
    n_people, n_complete = release.table.n_people, release.complete.n_people
    for row in rows:
        if n_complete == n_people:
            yield row
            continue
        n_drawn = n_people if row.n_drawn is None else row.n_drawn
        n_judged = round(n_drawn * n_complete / n_people)
        yield replace(row, n_people=row.n_people or n_people, n_drawn=n_drawn, n_judged=n_judged)


def further_measures(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the named measures that an audit of tables computes only on request."""
    names = tuple(dict.fromkeys(names))
    return (*(name for name in names if name in SUBSETS), *select_requested(names, STANDARD))
