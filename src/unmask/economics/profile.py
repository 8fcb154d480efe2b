"""Attackers in files: the `[attacker]` table of a TOML file, and the embedded one of the package."""

from __future__ import annotations

import inspect
import math
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from unmask.core.errors import FailedError, UnmaskError, nearest
from unmask.data.files import read_toml
from unmask.economics.attacker import Attacker, list_parameters

EMBEDDED: Final = "case-study"
"""Name of the attacker that comes with the package. The figures are an assumption, taken from the paper's case."""

UNLIMITED: Final = "unlimited"

RESOURCES: Final = "resources"
"""Key of the list of outside resources of an attacker."""

RESOURCE_KEYS: Final = ("name", "access_cost", "link_cost", "prior")


def read_attacker(source: str | Path) -> Attacker:
    """Read the attacker of a TOML file, or the embedded one.

    Parameters
    ----------
    source : str or Path
        A TOML file with an `[attacker]` table, or "case-study". Keys are the names of `Attacker`, with `profile`;
        max_fines may be "unlimited".

    Returns
    -------
    Attacker
        The attacker.

    Raises
    ------
    FailedError
        If the file cannot be read.
    UnmaskError
        If the file does not describe an attacker, or has an unknown key.

    Examples
    --------
    >>> read_attacker("case-study").gain
    8000.0
    """
    return attacker_of(attacker_table(source), str(source))


def attacker_table(source: str | Path) -> dict[str, Any]:
    """Return the `[attacker]` table of a TOML file, or the embedded one, unchecked."""
    name = str(source)
    embedded = files("unmask.economics").joinpath(f"{EMBEDDED}.toml")
    document = tomllib.loads(embedded.read_text("utf-8")) if name == EMBEDDED else read_toml(Path(source), "attacker")
    table = document.get("attacker")
    if not isinstance(table, dict):
        raise UnmaskError(f"attacker {name!r} has no table [attacker]; put the parameters below that line")
    return table


def attacker_of(table: Mapping[str, Any], name: str) -> Attacker:
    """Return the attacker with the parameters of such a table; errors call it `name`."""
    parameters = list(inspect.signature(Attacker).parameters)
    if RESOURCES in table:
        raise UnmaskError(
            f"attacker {name!r} has several resources, which unmask price and unmask deter compare; give access_cost, "
            "link_cost and prior of one of them"
        )
    for key in table:
        if key not in parameters:
            raise UnmaskError(
                f"attacker {name!r} has a parameter {key!r} that does not exist; {nearest(key, parameters)}"
            )
    if "gain" not in table:
        raise UnmaskError(f"attacker {name!r} has no gain: give what re-identifying one target is worth")
    unlimited = {"max_fines": math.inf} if table.get("max_fines") == UNLIMITED else {}
    return Attacker(**{**table, **unlimited})


def read_resources(source: str | Path) -> dict[str, Attacker]:
    """Read the attacker of a TOML file with each of its `[[attacker.resources]]`.

    A resource has a name, and may have its own access_cost, link_cost and prior.

    Parameters
    ----------
    source : str or Path
        As in `read_attacker`.

    Returns
    -------
    dict of str to Attacker
        Name of the resource -> the attacker who uses it; one unnamed entry without resources.

    Raises
    ------
    FailedError
        If the file cannot be read.
    UnmaskError
        If the file does not describe an attacker, or a resource is incomplete or named twice.

    Examples
    --------
    >>> list(read_resources("case-study"))
    ['']
    """
    table, name = attacker_table(source), str(source)
    shared = {key: value for key, value in table.items() if key != RESOURCES}
    if RESOURCES not in table:
        return {"": attacker_of(shared, name)}
    entries = table[RESOURCES]
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise UnmaskError(
            f"attacker {name!r} has resources of another form, expected [[attacker.resources]] with a name"
        )
    attackers: dict[str, Attacker] = {}
    for place, entry in enumerate(entries, 1):
        for key in entry:
            if key not in RESOURCE_KEYS:
                raise UnmaskError(
                    f"resource {place} has a key {key!r} that does not exist; {nearest(key, RESOURCE_KEYS)}"
                )
        resource = entry.get("name")
        if not isinstance(resource, str) or not resource.strip() or resource in attackers:
            raise UnmaskError(f"resource {place} has no name of its own; give each resource a different name")
        costs = {key: value for key, value in entry.items() if key != "name"}
        attackers[resource] = attacker_of({**shared, **costs}, f"{name}, resource {resource}")
    return attackers


def write_attacker(attacker: Attacker, path: str | Path) -> None:
    """Write the `[attacker]` table, from which `read_attacker` reads the same attacker.

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    path : str or Path
        The file, which is overwritten.

    Raises
    ------
    FailedError
        If the file cannot be written.
    """
    import tomlkit  # not at the top: only writing needs it

    parameters = {name: UNLIMITED if value == math.inf else value for name, value in list_parameters(attacker).items()}
    try:
        Path(path).write_text(tomlkit.dumps({"attacker": parameters}), encoding="utf-8")
    except OSError as error:
        raise FailedError(f"{path} cannot be written: {error.strerror}; check the path") from None
