"""Steps 2 and 3 of all but tables: the cards that a kind declares, drawn and taken alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from unmask.app.forms import number, share
from unmask.app.jobs import shown
from unmask.app.judging import bounds, take_bounds, used
from unmask.app.kind import Asked, Card, Field, Options, is_said, value_at, with_value
from unmask.app.kinds import kind_of
from unmask.app.project import Project, opened
from unmask.core.errors import UnmaskError
from unmask.domains import audited_by
from unmask.measures.registry import CRITERIA, described
from unmask.policy import Condition, Requirement
from unmask.reports.findings.verdict import called
from unmask.schema import check
from unmask.toml_text import DOCUMENT


@dataclass(frozen=True)
class Asking:
    """A screen of cards. name : of its step"""

    asked: Asked
    name: str

    def show(self, project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
        """The cards, with what the document says."""
        given = project.given
        word = kind_of(given).word
        known, others = bounds(given, [limit.condition for limit in self.asked.limits])
        return {
            "asked": self.asked,
            "cards": [_card(project, card) for card in self.asked.cards if card.when(given)],
            "limits": [
                _limit(one.condition, one.unit_in(given), known.get(one.condition)) for one in self.asked.limits
            ],
            "used": used(given, project.folder, audited_by(word)) if self.asked.limits else [],
            "others": others,
            "commands": (shown(["audit", word, DOCUMENT, "--as-plan"]),),
        }

    def take(self, project: Project, form: Any) -> str:
        """Keep what was said, once the command understands it."""
        before = project.given
        given = self._said(project, form)
        goes_on = form.get("do") == "continue"
        self._check(given, whole=goes_on)
        project.save(given)
        if not goes_on:
            return self.name
        try:
            project.jobs.ask(["audit", kind_of(given).word, DOCUMENT, "--as-plan"])
        except UnmaskError:
            project.save(before)
            raise
        project.passed = {*project.passed, self.name}
        steps = [step.name for step in kind_of(given).steps]
        return steps[steps.index(self.name) + 1]

    def _said(self, project: Project, form: Any) -> dict[str, Any]:
        """The document with what the form says."""
        given = project.given
        for field in self.asked.fields(project.given):
            value = _taken(project, field, form, value_at(given, field.key))
            given = with_value(given, field.key, None if value == field.usual_in(project) else value)
        if self.asked.limits:
            take_bounds(dict(self._bounds(form, given)), str(form.get("require", "")), given)
        return given

    def _check(self, given: Mapping[str, Any], *, whole: bool) -> None:
        """Refuse what has no file, and where it is to be whole, what is not."""
        for field in self.asked.fields(given) if whole else ():
            if field.needed and not is_said(given, field.key):
                raise UnmaskError(f"{field.words}: nothing is chosen, and nothing goes on without it")
        if not opened(given):
            raise UnmaskError("nothing would be left of what was opened; give another file in its place")

    def _bounds(self, form: Any, given: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
        for limit in self.asked.limits:
            value = number(form, limit.condition, _words(limit.condition), float)
            share = value is not None and limit.unit_in(given) == "%"
            yield limit.condition, round(value / 100, 9) if share else value


# --- showing ----------------------------------------------------------------------------------------------------------


def _card(project: Project, card: Card) -> dict[str, Any]:
    text = card.text if isinstance(card.text, str) else card.text(project)
    return {
        "title": card.title,
        "text": text,
        "foot": card.foot,
        "fields": [_field(project, field) for field in card.fields],
    }


def _field(project: Project, field: Field) -> dict[str, Any]:
    value = value_at(project.given, field.key)
    said = field.usual_in(project) if value is None else value
    options = _options(project, field)
    if field.holds == "one" and said not in (None, *options):
        options = {said: said, **options}  # what a document brought along
    return {
        "key": field.key,
        "words": field.words,
        "holds": field.holds,
        "value": _typed(field, said),
        "options": options,
        "chosen": said if isinstance(said, list | tuple) else [said],
    }


def _typed(field: Field, said: Any) -> str:
    """A value as it stands in its box."""
    if field.holds == "percent" and isinstance(said, int | float):
        return f"{100 * said:.9g}"
    return "" if said is None else str(said).removeprefix(field.before)


def _options(project: Project, field: Field) -> Options:
    return dict(field.options(project) if callable(field.options) else field.options)


def _limit(limit: str, unit: str, bound: float | None) -> dict[str, str]:
    value = "" if bound is None else f"{100 * bound if unit == '%' else bound:.9g}"
    side = "at most" if "<" in limit else "at least"
    name = _condition(limit).measure
    known = described(name) or CRITERIA.get(name)
    meaning = known.meaning if known else ""
    return {"key": limit, "words": _words(limit), "side": side, "value": value, "unit": unit, "meaning": meaning}


def _words(limit: str) -> str:
    return called(Requirement(_condition(limit)))


def _condition(limit: str) -> Condition:
    return Condition.parse(f"{limit}0")


# --- taking -----------------------------------------------------------------------------------------------------------


def _taken(project: Project, field: Field, form: Any, old: Any) -> Any:
    """What the form says of a field; None for nothing."""
    if field.holds == "flag":
        return True if form.get(field.key) else None
    if field.holds in ("file", "files"):
        return _files(project, field, form, old)
    if field.holds == "several":
        options = _options(project, field)
        return [one for one in _listed(form, field.key) if one in options] or None
    if field.holds == "one":
        options = _options(project, field)
        return next((one for one in (str(form.get(field.key, "")),) if one in options), old)
    if field.holds == "text":
        return str(form.get(field.key, "")).strip()[:100] or None
    return _number(field, form)


def _number(field: Field, form: Any) -> Any:
    if not str(form.get(field.key, "")).strip():
        return None
    if field.holds == "percent":
        value: Any = share(form, field.key, field.words.lower())
    else:
        value = number(form, field.key, field.words, int if field.holds == "whole" else float)
    if field.before:
        return f"{field.before}{value}"
    check(value, field.hint, field.words)
    return value


def _files(project: Project, field: Field, form: Any, old: Any) -> Any:
    """The file that was sent, else the one there was; of several those that are kept, and those that were sent.

    What is needed stays until there is another.
    """
    sent = [one for one in _listed(form, f"{field.key} file") if getattr(one, "filename", "")]
    kept = [project.keep(one.filename, one.file) for one in sent]
    there = old if isinstance(old, list) else [] if old is None else [old]
    stay = [one for one in there if one in _listed(form, field.key)]
    if field.needed and not (kept or stay):
        stay = there
    if field.holds == "file":
        return (kept or stay or [None])[0]
    return [*stay, *kept] or None


def _listed(form: Any, key: str) -> list[Any]:
    return list(form.getlist(key)) if hasattr(form, "getlist") else [form[key]] if key in form else []
