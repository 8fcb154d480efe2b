"""Step 6: what to release, and what to ask for it; plain questions, and the page of `unmask game`, as it wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unmask.app import pages
from unmask.app.counting import seen
from unmask.app.forms import number
from unmask.app.jobs import Command, shown
from unmask.app.progress import busy_with
from unmask.app.project import GAME, PRICED, STUDIED, Project
from unmask.app.protection import asked
from unmask.app.studying import plan_of
from unmask.plan import NOTHING
from unmask.studies.questions import ATTACKER, INSTEAD, QUESTIONS, Question, answer, told
from unmask.studies.run import JOURNAL
from unmask.toml_text import format_document

LADDER = (2, 5, 10, 20, 50)
"""Values of k that are weighed, besides that of the document."""

TWO = ("range", "share", "tries")
"""What is answered by two numbers."""

PERCENT = ("share", "part")
"""What is answered in percent."""


def show(project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
    """The questions, and once they are answered the page of the game."""
    job = project.jobs.find("game")
    fresh = job is not None and job.of == _digest(project)
    found = fresh and job is not None and job.state == "finished" and (project.folder / GAME).exists()
    return {
        "job": job if fresh else None,
        "busy": busy_with(project, job),
        "body": pages.report_body(project, GAME) if found else "",
        "asked": [(title, [_shown(project, one) for one in own]) for title, own in _cards()],
        "adversaries": list(_identifying(project.given)),
        "whose": _first_attacker(project.given).get("adversary", ""),
        "others": max(len(project.given.get("attackers", [])) - 1, 0),
        "commands": (shown(_command(project)),),
    }


def take(project: Project, form: Mapping[str, Any]) -> str:
    """Keep the answers, and weigh what to release."""
    if form.get("do") != "again":
        project.save(_answered(project.given, form))
    (project.folder / PRICED).write_text(format_document(_document(project)), encoding="utf-8")
    project.jobs.stop("game")
    project.jobs.start("game", [_command(project)], of=_digest(project))
    return "game"


def _digest(project: Project) -> str:
    """Of all that decides the game: what decides a verdict, and the answers."""
    return project.digest + pages.digest({key: project.given.get(key) for key in ("publisher", "attackers")})


def _command(project: Project) -> Command:
    """The game, of what the study believed where one ran."""
    studied = ("--study", STUDIED) if (project.folder / STUDIED / JOURNAL).exists() else ()
    return ("game", PRICED, *studied, "-o", GAME, "--force")


def _document(project: Project) -> dict[str, Any]:
    """The document of the game: what was opened, where it has several protections, else with some values of k."""
    given = {key: one for key, one in project.given.items() if key != "releases"}
    if len(given.get("protections", [])) > 1:
        return given
    plan = plan_of(given, seen(project).facts[0].rows)
    bare, mondrian = plan["protections"][:2]
    few = [k for k in mondrian["grid"]["k"] if k in (*LADDER, asked(given).get("k"))]
    return {**plan, "protections": [{**bare, "name": NOTHING}, {**mondrian, "grid": {"k": few}}]}


# --- questions --------------------------------------------------------------------------------------------------------


def _cards() -> Iterator[tuple[str, list[Question]]]:
    """Questions under their titles."""
    for table, title in (("publisher", "What you win, lose and may ask"), ("attackers", "Who attacks")):
        yield title, [one for one in QUESTIONS if one.table == table]


def _shown(project: Project, one: Question) -> dict[str, Any]:
    """A question with what the document answers: one value, both ends of a range, or two counts; "" for no answer."""
    said, unit = answer(project.given, one), "%" if one.holds in PERCENT else ""
    ends = [said["from"], said["to"]] if isinstance(said, dict) else [said]
    ends = [max(said)] if one.holds == "most" and isinstance(said, list) else ends
    ends = list(said) if one.holds == "tries" and isinstance(said, list) else ends
    if one.holds in TWO:
        ends = [ends[0], ends[-1]]
    plain = all(value is None or isinstance(value, int | float) for value in ends)
    values = ["" if value is None else f"{100 * value if unit else value:.9g}" for value in ends] if plain else []
    return {"one": one, "values": values, "unit": unit, "told": told(one)}


def _answered(given: dict[str, Any], form: Mapping[str, Any]) -> dict[str, Any]:
    """The document with the answers of a form; what it does not ask for stays."""
    publisher = {**given.get("publisher", {})}
    first = {"name": ATTACKER, **_first_attacker(given)}
    for one in QUESTIONS:
        own = publisher if one.table == "publisher" else first
        if (value := _said(form, one, answer(given, one))) is not None:
            own[one.name] = value
        elif one.assumed is None and f"{one.key} from" in form:  # emptied
            own.pop(one.name, None)
    for key, instead in INSTEAD.items():
        if instead in first:
            first.pop(key.partition(".")[2], None)
    if whose := str(form.get("adversary", "")):
        first["adversary"] = whose
    return {**given, "publisher": publisher, "attackers": [first, *given.get("attackers", [])[1:]]}


def _identifying(given: Mapping[str, Any]) -> Iterator[str]:
    """The adversaries who ask whose record is whose."""
    asked = [one for one in given.get("adversaries", []) if "sensitive" not in one.get("with", {})]
    return (one.get("name", one.get("use", "").rpartition(".")[2]) for one in asked)


def _first_attacker(given: Mapping[str, Any]) -> dict[str, Any]:
    return dict(next(iter(given.get("attackers", [])), {}))


def _said(form: Mapping[str, Any], one: Question, before: Any) -> Any:
    """An answer as a document has it, with what it had below the most that may be asked; None where the form has none.

    before : what it had, or what is assumed
    """
    of = int if one.holds == "whole" else float
    ends = [number(form, f"{one.key} {end}", one.asks, of) for end in ("from", "to")]
    values = [_plain(value / 100 if one.holds in PERCENT else value) for value in ends if value is not None]
    if not values:
        return None
    if one.holds == "tries":
        return values if len(values) == len(ends) else None
    if one.holds == "most":
        less = before if isinstance(before, list) else [0]
        return sorted({*(value for value in less if value < values[0]), values[0]})
    return values[0] if values[0] == values[-1] else {"from": min(values), "to": max(values)}


def _plain(value: float) -> float:
    """A whole number without a point, any other without the rounding of percent."""
    return int(value) if value == int(value) else round(value, 9)
