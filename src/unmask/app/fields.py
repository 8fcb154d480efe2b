"""Fields of forms: a box made from a parameter, its value in a document, and its value in a sent form."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from unmask.core.errors import UnmaskError
from unmask.document import AUDIT, list_domain_words
from unmask.domains import DOMAINS
from unmask.languages import gettext as _
from unmask.ranges import Range
from unmask.schema import check, defaults, help_lines, parameters

if TYPE_CHECKING:
    from unmask.app.project import Project

BoxType = Literal["number", "integer", "percent", "text", "file", "files", "choice", "choices", "switch", "parts"]

Options = Mapping[str, str]
"""Value -> its label."""

SOURCES: Mapping[str, str] = {
    **{word: f"{DOMAINS[domain].audit}:audit_files" for domain, word in list_domain_words().items()},
    **dict.fromkeys(("data", "register", "audit"), AUDIT),
}
"""Section of a document -> function whose parameters are its keys: they decide on labels, types, ranges, defaults."""

PERCENT = Range(0, 1)

MAX_TEXT = 100
"""Characters of a text in a form."""


@dataclass(frozen=True)
class Field:
    """A value of the document with a box in a form.

    Parameters
    ----------
    key : str
        Section and name in the document, such as linkage.beta.
    label : str, optional
        Label of the box, by default the help line of the parameter.
    box : str, optional
        Type of the box, by default from the type of the parameter.
    source : str, optional
        Function with the parameter, by default that of the section in `SOURCES`.
    default : callable, optional
        Function that computes the default for a project, by default that of the parameter.
    prefix : str, optional
        Text in front of the value in a document, such as random.25:
    options : mapping or callable, optional
        Choices, or a function that lists them for a project; by default those of the parameter.
    required : bool, optional
        Refuse to continue without a value.
    """

    key: str
    label: str = ""
    box: BoxType | None = None
    source: str = ""
    default: Callable[[Project], Any] | None = None
    prefix: str = ""
    options: Options | Callable[[Project], Options] | None = None
    required: bool = False

    @property
    def name(self) -> str:
        """Name of the parameter."""
        return self.key.partition(".")[2]

    @property
    def function(self) -> str:
        """Function with the parameter; "" without one."""
        return self.source or SOURCES.get(self.key.partition(".")[0], "")

    @property
    def hint(self) -> Any:
        """Type of the parameter; Any if the function has no such parameter."""
        return parameters(self.function).get(self.name, Any) if self.function else Any

    @property
    def title(self) -> str:
        """Label of the box."""
        return self.label or help_lines(self.function).get(self.name, self.name).removesuffix(".")

    @property
    def box_type(self) -> BoxType:
        """Type of the box."""
        return self.box or choose_box(self.hint)

    def default_in(self, project: Project) -> Any:
        """Return the value if the document has none; None without a default."""
        if self.default is not None:
            return self.default(project)
        if self.required or not self.function:
            return None
        value = defaults(self.function).get(self.name)
        return value if isinstance(value, str | int | float) and value is not False else None

    def options_in(self, project: Project) -> dict[str, str]:
        """Return the choices with their labels."""
        if self.options is None:
            values = get_args(self.hint) if get_origin(self.hint) is Literal else ()
            return {value: _(value.replace("_", " ")) for value in values}
        if callable(self.options):
            return dict(self.options(project))
        return {value: _(label) for value, label in self.options.items()}


def choose_box(hint: Any) -> BoxType:
    """Return the type of the box for a type.

    >>> choose_box(bool), choose_box(Annotated[int, Range(1)]), choose_box(Annotated[float, Range(0, 1)])
    ('switch', 'integer', 'percent')
    """
    kind, *ranges = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if any(isinstance(bounds, Range) and (bounds.low, bounds.high) == (0, 1) for bounds in ranges):
        return "percent"
    boxes: Mapping[Any, BoxType] = {bool: "switch", int: "integer", float: "number", Literal: "choice"}
    return boxes.get(get_origin(kind) or kind, "text")


# --- values in a document ---------------------------------------------------------------------------------------------


def get_value(document: Mapping[str, Any], key: str) -> Any:
    """Return the value of a document at SECTION.NAME, of `protections` in the first one.

    >>> get_value({"linkage": {"beta": 0.5}}, "linkage.beta")
    0.5
    """
    section, _, name = key.partition(".")
    if section == "protections":
        return protection_parameters(document).get(name)
    return document.get(section, {}).get(name)


def has_value(document: Mapping[str, Any], key: str) -> bool:
    """Return whether a document has a value at SECTION.NAME; 0 is a value."""
    return get_value(document, key) not in (None, "", [])


def set_value(document: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """Return the document with another value at SECTION.NAME, or without it for None.

    >>> set_value({"linkage": {"beta": 0.5}}, "linkage.beta", None)
    {'linkage': {}}
    """
    section, _, name = key.partition(".")
    if section == "protections":
        first = document[section][0]
        changed = set_value({"with": first.get("with", {})}, f"with.{name}", value)
        return {**document, section: [{**first, **changed}]}
    values = {item: content for item, content in document.get(section, {}).items() if item != name}
    return {**document, section: values | ({} if value is None else {name: value})}


def protection_parameters(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the first protection; {} without a protection."""
    protections: list[dict[str, Any]] = document.get("protections", [])
    return dict(protections[0].get("with", {})) if protections else {}


# --- boxes ------------------------------------------------------------------------------------------------------------


def show_field(project: Project, field: Field) -> dict[str, Any]:
    """Return a box for the template `parts.html.j2`."""
    value = get_value(project.document, field.key)
    value = field.default_in(project) if value is None else value
    options = field.options_in(project)
    if field.box_type == "choice" and value not in (None, *options):
        options = {value: value, **options}  # a value that only the document has
    return {
        "key": field.key,
        "title": field.title,
        "type": field.box_type,
        "value": _format_value(field, value),
        "options": options,
        "selected": value if isinstance(value, list | tuple) else [value],
    }


def _format_value(field: Field, value: Any) -> str:
    if field.box_type == "percent" and isinstance(value, int | float):
        return f"{100 * value:.9g}"
    return "" if value is None else str(value).removeprefix(field.prefix)


# --- sent forms -------------------------------------------------------------------------------------------------------


def read_field(project: Project, field: Field, form: Any, previous: Any) -> Any:
    """Return the value of a field in a sent form; None for no value. previous : value of the document"""
    box, options = field.box_type, field.options_in(project)
    if box == "switch":
        return True if form.get(field.key) else None
    if box == "parts":
        return _store_parts(project, field, form, previous)
    if box in ("file", "files"):
        return _read_files(project, field, form, previous)
    if box == "choices":
        return [value for value in read_list(form, field.key) if value in options] or None
    if box == "choice":
        value = str(form.get(field.key, ""))
        return value if value in options else previous
    if box == "text":
        return str(form.get(field.key, "")).strip()[:MAX_TEXT] or None
    return _read_number_field(field, form)


def _read_number_field(field: Field, form: Any) -> Any:
    if field.box_type == "percent":
        return read_percent(form, field.key, field.title, field.hint)
    value = read_number(form, field.key, field.title, int if field.box_type == "integer" else float)
    if value is None or field.prefix:
        return value if value is None else f"{field.prefix}{value}"
    check(value, field.hint, field.title)
    return value


def read_number(form: Mapping[str, Any], name: str, label: str, kind: Callable[[str], Any] = float) -> Any:
    """Return a number of at least 0 in a sent form; None if its box is empty."""
    text = str(form.get(name, "")).strip()
    if not text:
        return None
    try:
        value = kind(text)
        if math.isfinite(value) and value >= 0:
            return value
    except (ValueError, OverflowError):
        pass
    noun = "a whole number" if kind is int else "a number"
    raise UnmaskError(f"{label} is {text[:40]!r}, expected {noun} of at least 0")


def read_percent(form: Mapping[str, Any], name: str, label: str, hint: Any = Any) -> float | None:
    """Return a share typed in percent; None if its box is empty. Errors are in percent, too."""
    value = read_number(form, name, label)
    ranges = [bounds for bounds in getattr(hint, "__metadata__", ()) if isinstance(bounds, Range)] or [PERCENT]
    for bounds in ranges:
        if value is not None and value / 100 not in bounds:
            percent = replace(bounds, low=100 * bounds.low, high=None if bounds.high is None else 100 * bounds.high)
            raise UnmaskError(f"{label} is {value:.9g} %, expected a percentage {percent}")
    return None if value is None else float(round(value / 100, 9))


def _read_files(project: Project, field: Field, form: Any, previous: Any) -> Any:
    """Return the sent files and those of the document that stay selected; of a single file, the sent one first.

    A required file stays until another one is sent.
    """
    sent = [project.store_upload(upload) for upload in read_list(form, f"{field.key} file") if is_upload(upload)]
    stored = previous if isinstance(previous, list) else [] if previous is None else [previous]
    selected = [name for name in stored if name in read_list(form, field.key)]
    if field.required and not (sent or selected):
        selected = stored
    if field.box_type == "file":
        return (sent or selected or [None])[0]
    return [*selected, *sent] or None


def _store_parts(project: Project, field: Field, form: Any, previous: Any) -> Any:
    """Store the sent parts of a file under the names that it gives them; to continue, all of them are needed."""
    names = list(field.options_in(project))
    for upload in filter(is_upload, read_list(form, f"{field.key} file")):
        name = upload.filename
        if name not in names:
            raise UnmaskError(f"{previous} names no file {name[:MAX_TEXT]!r}; expected {', '.join(names)}")
        project.write_copy(upload.file, name)
    missing = [name for name in names if not (project.folder / name).exists()]
    if missing and form.get("do") == "continue":
        raise UnmaskError(f"{len(missing)} of {len(names)} files are missing: {', '.join(missing)}; add them")
    return previous


def is_upload(value: Any) -> bool:
    """Return whether a value of a form is a file."""
    return bool(getattr(value, "filename", ""))


def read_list(form: Any, key: str) -> list[Any]:
    """Return all values of a form with a name."""
    return list(form.getlist(key)) if hasattr(form, "getlist") else [form[key]] if key in form else []


def read_index(text: object, items: Sequence[object]) -> int | None:
    """Return the index of an item that a form or an address selects; None if there is no such item."""
    indices = {str(index): index for index in range(len(items))}
    return indices.get(str(text))
