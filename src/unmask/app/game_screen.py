"""Step 6 of tables: questions about costs and attackers, and the page of `unmask game`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unmask.app import pages
from unmask.app.fields import protection_parameters, read_number
from unmask.app.jobs import Command, format_command
from unmask.app.project import GAME, GAME_PAGE, STUDY_FOLDER, Project
from unmask.app.table_workflow import build_plan
from unmask.app.verdict_screen import with_language
from unmask.languages import mark
from unmask.plan import NOTHING
from unmask.studies.questions import ATTACKER, QUESTIONS, REPLACED_BY, Question, answer, describe_assumption
from unmask.studies.run import JOURNAL
from unmask.toml_text import format_document

K_VALUES = (2, 5, 10, 20, 50)
"""Values of k that the game compares, besides that of the document."""

PAIRS = ("range", "share", "tries")
"""Types of answers with two numbers."""

PERCENTAGES = ("share", "part")
"""Types of answers in percent."""

TITLES = {"publisher": mark("What you win, lose and may charge"), "attackers": mark("Who attacks")}
"""Section of a document -> title of its questions."""


def show(project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
    """Return the questions, and the page of the game once they are answered."""
    job, document = project.jobs.find("game"), project.document
    is_current = job is not None and job.digest == _compute_digest(project)
    has_page = is_current and job is not None and job.state == "finished" and (project.folder / GAME_PAGE).exists()
    return {
        "job": job if is_current else None,
        "busy": pages.show_progress(project, job),
        "body": pages.read_report_body(project, GAME_PAGE) if has_page else "",
        "questions": [
            (title, [_show_question(document, question) for question in QUESTIONS if question.table == section])
            for section, title in TITLES.items()
        ],
        "adversaries": list(_list_adversaries(document)),
        "adversary": _first_attacker(document).get("adversary", ""),
        "n_others": max(len(document.get("attackers", [])) - 1, 0),
        "commands": (format_command(_build_command(project)),),
    }


def submit(project: Project, form: Mapping[str, Any]) -> str:
    """Save the answers, and start the game."""
    if form.get("do") != "again":
        project.save(_with_answers(project.document, form))
    (project.folder / GAME).write_text(format_document(_build_document(project)), encoding="utf-8")
    project.jobs.stop("game")
    project.jobs.start("game", [with_language(_build_command(project))], digest=_compute_digest(project))
    return "game"


def _compute_digest(project: Project) -> str:
    """Return a digest of the input of the game: the input of a verdict, and the answers."""
    answers = {key: project.document.get(key) for key in ("publisher", "attackers")}
    return project.digest + pages.hash_document(answers)


def _build_command(project: Project) -> Command:
    """Return the command, with the beliefs of the study if there is one."""
    has_study = (project.folder / STUDY_FOLDER / JOURNAL).exists()
    return ("game", GAME, *(("--study", STUDY_FOLDER) if has_study else ()), "-o", GAME_PAGE, "--force")


def _build_document(project: Project) -> dict[str, Any]:
    """Return the document of the game: several protections of the document, or some values of k."""
    document = {key: value for key, value in project.document.items() if key != "releases"}
    if len(document.get("protections", [])) > 1:
        return document
    plan, k_values = build_plan(project), (*K_VALUES, protection_parameters(document).get("k"))
    unprotected, mondrian = plan["protections"][:2]
    grid = {"k": [k for k in mondrian["grid"]["k"] if k in k_values]}
    return {**plan, "protections": [{**unprotected, "name": NOTHING}, {**mondrian, "grid": grid}]}


# --- questions --------------------------------------------------------------------------------------------------------


def _show_question(document: Mapping[str, Any], question: Question) -> dict[str, Any]:
    """Return a question with its answer: one number, or both ends of a range; "" without an answer."""
    value, unit = answer(document, question), "%" if question.holds in PERCENTAGES else ""
    numbers = [value["from"], value["to"]] if isinstance(value, dict) else [value]
    if isinstance(value, list):
        numbers = [max(value)] if question.holds == "most" else list(value)
    if question.holds in PAIRS:
        numbers = [numbers[0], numbers[-1]]
    is_plain = all(number is None or isinstance(number, int | float) for number in numbers)
    texts = ["" if number is None else f"{100 * number if unit else number:.9g}" for number in numbers]
    inputs, note = texts if is_plain else [], describe_assumption(question)
    return {"question": question, "numbers": inputs, "unit": unit, "note": note}


def _with_answers(document: dict[str, Any], form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with the answers of a form; everything else stays."""
    publisher = {**document.get("publisher", {})}
    attacker = {"name": ATTACKER, **_first_attacker(document)}
    for question in QUESTIONS:
        section = publisher if question.table == "publisher" else attacker
        if (value := _read_answer(form, question, answer(document, question))) is not None:
            section[question.name] = value
        elif question.assumed is None and f"{question.key} from" in form:  # the user has emptied the box
            section.pop(question.name, None)
    for key, alternative in REPLACED_BY.items():
        if alternative in attacker:
            attacker.pop(key.partition(".")[2], None)
    if adversary := str(form.get("adversary", "")):
        attacker["adversary"] = adversary
    return {**document, "publisher": publisher, "attackers": [attacker, *document.get("attackers", [])[1:]]}


def _list_adversaries(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the adversaries who re-identify people."""
    for entry in document.get("adversaries", []):
        if "sensitive" not in entry.get("with", {}):
            yield entry.get("name", entry.get("use", "").rpartition(".")[2])


def _first_attacker(document: Mapping[str, Any]) -> dict[str, Any]:
    return dict(next(iter(document.get("attackers", [])), {}))


def _read_answer(form: Mapping[str, Any], question: Question, previous: Any) -> Any:
    """Return an answer as a document has it; None if the form has none.

    previous : answer of the document, or the assumed one; its numbers below a largest one stay
    """
    kind = int if question.holds == "whole" else float
    scale = 100 if question.holds in PERCENTAGES else 1
    ends = [read_number(form, f"{question.key} {end}", question.asks, kind) for end in ("from", "to")]
    values = [_simplify(value / scale) for value in ends if value is not None]
    if not values:
        return None
    if question.holds == "tries":
        return values if len(values) == len(ends) else None
    if question.holds == "most":
        smaller = previous if isinstance(previous, list) else [0]
        return sorted({*(value for value in smaller if value < values[0]), values[0]})
    return values[0] if values[0] == values[-1] else {"from": min(values), "to": max(values)}


def _simplify(value: float) -> float:
    """Return a whole number as int, any other one without rounding errors of percentages."""
    return int(value) if value == int(value) else round(value, 9)
