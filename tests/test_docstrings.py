"""Docstrings of the public API follow numpydoc: every parameter is described, and what is returned."""

import enum
import importlib
import inspect
import re

from numpydoc.validate import validate

from unmask.schema import parse_field_help

PACKAGES: tuple[str, ...] = (
    "unmask.aggregates.magnitudes",
    "unmask.aggregates.protections",
    "unmask.channels",
    "unmask.channels.attacks",
    "unmask.channels.criteria",
    "unmask.channels.datasets",
    "unmask.channels.design",
    "unmask.channels.mechanisms",
    "unmask.economics",
    "unmask.graphs.attacks",
    "unmask.graphs.ensemble",
    "unmask.graphs.criteria",
    "unmask.graphs.evaluation",
    "unmask.graphs.knowledge",
    "unmask.graphs.protections",
    "unmask.graphs.datasets",
    "unmask.graphs.files",
    "unmask.measures",
    "unmask.measures.losses",
    "unmask.measures.clustering",
    "unmask.linkage",
    "unmask.tables.attacks",
    "unmask.tables.criteria",
    "unmask.tables.utility",
)
"""Packages whose exported names are validated."""
CHECKS = frozenset({"GL08", "PR01", "PR02", "PR03", "PR04", "RT01", "SS03", "SS05", "YD01"})
"""Docstring exists; parameters are all described, by their names, in order, with types; the result is described; the
summary ends with a period and starts with an infinitive; yielded values are described.
"""


def is_documented_by_parameters(member: object) -> bool:
    """Return True for a function or a class with parameters of its own: an enumeration or a protocol has none."""
    if inspect.isclass(member):
        return not issubclass(member, enum.Enum) and not getattr(member, "_is_protocol", False)
    return inspect.isfunction(member)


def list_public_names() -> list[str]:
    """Return the qualified names of the classes and functions that the packages export."""
    modules = [importlib.import_module(package) for package in PACKAGES]
    return [
        f"{module.__name__}.{name}"
        for module in modules
        for name in module.__all__
        if is_documented_by_parameters(getattr(module, name))
    ]


def describe_inherited_fields(name: str) -> set[str]:
    """Return the fields that a docstring leaves to the bases of a dataclass, which it names."""
    module, _, attribute = name.rpartition(".")
    member = getattr(importlib.import_module(module), attribute)
    bases = [base for base in getattr(member, "__bases__", ()) if f"`{base.__name__}`" in (member.__doc__ or "")]
    return {field for base in bases for field in parse_field_help(inspect.getdoc(base) or "")}


def find_faults(name: str) -> dict[str, object]:
    """Return the checks that a docstring fails, with their messages."""
    errors: dict[str, object] = {code: message for code, message in validate(name)["errors"] if code in CHECKS}
    if undescribed := errors.pop("PR01", None):
        missing = {*re.findall(r"'(\w+)'", str(undescribed))} - describe_inherited_fields(name)
        errors |= {"PR01": missing} if missing else {}
    return errors


def test_docstrings_describe_parameters_and_results() -> None:
    names = list_public_names()
    assert len(names) > 300
    assert {name: faults for name in names if (faults := find_faults(name))} == {}
