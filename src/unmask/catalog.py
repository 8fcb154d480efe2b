"""The catalog of attacks, protections, datasets and measures by name, as `unmask list` shows it and plans use it.

A name is that of the class or function behind its domain: "tables.Mondrian". What others wrote is reached in the same
places: by the name of an entry point (group "unmask") of an installed package, or as "module:Class". The latter runs a
module, and only callers that were allowed to run one pass the folder that it is looked for in.
"""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass, replace
from difflib import get_close_matches
from functools import cache, lru_cache, wraps
from importlib import import_module, metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Literal, get_type_hints

from unmask.core.errors import FailedError, UnmaskError, nearest
from unmask.domains import DOMAINS
from unmask.domains import domain_of as domain_of_class
from unmask.measures import Quantity, registry
from unmask.plan import Part, Plugin, check_keys
from unmask.policy.policies import read_shipped_policies
from unmask.protection_specs import Spec
from unmask.schema import check, describe, parameter_types
from unmask.scoring import STANDARD, campaign_measures, price_measures

Kind = Literal["attacks", "protections", "datasets"]

KINDS: tuple[Kind, ...] = ("attacks", "protections", "datasets")


def examples(kind: Kind, domains: Iterable[str] = DOMAINS) -> dict[str, Any]:
    """Name -> an example of each attack or protection, or the function of each dataset (`rng` is given to those that
    draw), of all domains or of some: no other is imported, since that takes a while.

    >>> examples("protections")["tables.Mondrian"]
    Mondrian(k=10)
    """
    return {
        f"{domain}.{getattr(item, '__name__', type(item).__name__)}": item
        for domain in domains
        for item in getattr(import_module(f"{DOMAINS[domain].packages[0]}.examples"), kind.upper())
    }


@cache
def list_measures() -> Mapping[str, Quantity]:
    """Return the measures of a belief, a clustering or a matching, and of the attacker of the published case study."""
    from unmask.economics import read_attacker  # here: attacks are found by name without prices
    from unmask.economics.profile import EMBEDDED

    case = read_attacker(EMBEDDED)
    measures = (*STANDARD, *price_measures(case), *campaign_measures(case))
    return registry.MEASURES | {measure.name: measure for measure in measures}


def list_catalog() -> dict[str, dict[str, str]]:
    """Return a line for each name of each kind, installed plug-ins included."""
    catalog = {str(kind): {name: sentence(item) for name, item in examples(kind).items()} for kind in KINDS}
    for name in list_plugins().names:
        kind, line = _of_plugin(name)
        catalog.setdefault(kind, {})[name] = line
    words = {"measures": list_measures(), "criteria": registry.CRITERIA, "utilities": registry.UTILITIES}
    meanings = {kind: {name: item.meaning for name, item in of_kind.items()} for kind, of_kind in words.items()}
    return catalog | meanings | {"policies": {name: item.title for name, item in read_shipped_policies().items()}}


def sentence(thing: object) -> str:
    """Return the first sentence of a docstring on one line; a question with its answer.

    >>> sentence(examples("protections")["tables.Identity"])
    'No protection: the table itself, sorted by its cells.'
    """
    described = thing if inspect.isclass(thing) or inspect.isroutine(thing) else type(thing)
    paragraph = " ".join((inspect.getdoc(described) or "").partition("\n\n")[0].split())
    match = re.match(r"""(.*?\? )?.*?[.!?](?= [A-Z"'(`]|$)""", paragraph)
    return match[0] if match else paragraph


def _of_plugin(name: str) -> tuple[str, str]:
    """Return the kind of an installed plug-in, and its line."""
    try:
        thing = _installed(name)
    except UnmaskError as error:
        return "not loaded", str(error)
    return kind_of(thing), sentence(thing)


def kind_of(thing: Any) -> Kind:
    """Return the kind of a plug-in.

    Objects called with (release, knowledge) attack, those called with (population, rng=) protect; a function is a
    dataset.
    """
    if not inspect.isclass(thing):
        return "datasets"
    ours = thing in map(type, examples("attacks").values())
    return "attacks" if ours or _takes(thing, None, None) else "protections"


def _generates(kind: type) -> bool:
    """Return whether the objects of a class have fit and sample, as generators of synthetic tables do."""
    return all(callable(getattr(kind, name, None)) for name in ("fit", "sample"))


def _takes(kind: type, *arguments: None, **keywords: None) -> bool:
    """Return whether the objects of a class can be called with these arguments."""
    call = next((vars(base)["__call__"] for base in kind.__mro__ if "__call__" in vars(base)), None)
    try:
        return call is not None and bool(inspect.signature(call).bind(None, *arguments, **keywords))
    except TypeError:
        return False


def find(use: str, kind: Kind, code: Path | None = None) -> Any:
    """Return the class, or for a dataset the function, that a name stands for.

    use  : a name that `unmask list` shows, or "module:Class"
    code : folder where the module is looked for before Python's path; None runs no module

    >>> find("tables.Mondrian", "protections").__name__, find("unmask.tables:ClassAttack", "attacks", Path()).__name__
    ('Mondrian', 'ClassAttack')
    """
    domain = use.partition(".")[0]
    ours = examples(kind, (domain,) if domain in DOMAINS else DOMAINS)
    if use in ours:
        return ours[use] if kind == "datasets" else type(ours[use])
    if is_plugin(use):
        return _guarded(_checked(_installed(use) if ":" not in use else load(use, _allowed(use, code)), use, kind), use)
    near = [name for name in ours if name.startswith(domain)] or list(examples(kind))
    near += [f"{domain}.file"] if kind == "datasets" and domain in DOMAINS else []
    raise UnmaskError(f"the {kind.removesuffix('s')} {use!r} is unknown; {nearest(use, near)}")


Writing = Callable[[str, Iterable[str]], str]
"""Function that writes a name with parameters, as an example."""

_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _write_keys(_use: str, names: Iterable[str]) -> str:
    return f"with = {{ {', '.join(f'{name} = ...' for name in names)} }}"


def _write_spec(use: str, names: Iterable[str]) -> str:
    return ":".join([use, *(f"{name}=..." for name in names)])


def instantiate(part: Part, kind: Kind, *, write: Writing = _write_keys) -> Any:
    """Return the object that a part describes: its class with the plan's parameters."""
    factory = find(part.use, kind, part.code)
    check_parameters(part, factory, part.use, write=write)
    types = parameter_types(factory) if is_dataclass(factory) else {}
    parameters = dict(part.parameters)
    for key in parameters.keys() & types:
        check(parameters[key], types[key], f"{key} of {part.use.rpartition('.')[2]}")
        name = f"{part.domain}.{parameters[key]}"
        if types[key] is Any and name in examples(kind, [part.domain]):  # attack = "Climb"
            parameters[key] = {"use": name}
    try:
        return factory(**{key: _instantiate_value(value, part, kind) for key, value in parameters.items()})
    except UnmaskError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  # of whatever class the plan names
        raise UnmaskError(f"{part.use} cannot be made with these parameters: {error}") from None


def check_parameters(
    part: Part,
    function: Callable[..., object],
    use: str,
    *,
    excluded: tuple[str, ...] = (),
    write: Writing = _write_keys,
) -> None:
    """Raise an error for a parameter that a function does not have, or needs and does not get.

    excluded : parameters that are not the part's
    write    : writes parameters as an example, in the form of the place where the part stands
    """
    parameters = {name: item for name, item in list_parameters(function).items() if name not in excluded}
    check_keys(part.parameters, list(parameters), use)
    required = [name for name, item in parameters.items() if item.default is item.empty and item.kind not in _VARIABLE]
    if missing := [name for name in required if name not in part.parameters]:
        types = parameter_types(function) if is_dataclass(function) else {}
        needs = " and ".join(f"{name} ({describe(types[name])})" if name in types else name for name in missing)
        raise UnmaskError(f"{use!r} needs {needs}; expected for example {write(use, required)}")


@lru_cache
def list_parameters(function: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function or a class by name."""
    return inspect.signature(function).parameters


def _instantiate_value(value: Any, part: Part, kind: Kind) -> Any:
    """Return a parameter: lists of TOML become tuples, and a table with `use` becomes the object of such a part.

    `parts = [[0.5, { use = "graphs.Decoy", with = { adopters = 0.5 } }]]`
    """
    if isinstance(value, list):
        return tuple(_instantiate_value(item, part, kind) for item in value)
    if not isinstance(value, dict) or "use" not in value:
        return value
    check_keys(value, ("use", "with"), f"a part of {part.use}")
    use, parameters = value["use"], value.get("with", {})
    if not isinstance(use, str):
        raise UnmaskError(f"use is {use!r} in a part of {part.use}, expected a name that `unmask list` shows")
    inner = replace(part, use=use, parameters=parameters, settings={})
    if domain_of(use, find(use, kind, part.code)) not in ("", part.domain):
        raise UnmaskError(f"use is {use!r} in a part of {part.use}, which has another domain")
    if not isinstance(parameters, dict):
        raise UnmaskError(f"`with` is not a table in a part of {part.use}; expected for example with = {{ k = 10 }}")
    return instantiate(inner, kind)


def make(spec: Spec, kind: Kind, domain: str, code: Path | None) -> Any:
    """Return the object that a spec describes, of one domain, whose name may be left out.

    code : folder whose modules it may run, see `find`

    >>> make(Spec.parse("Mondrian:k=3"), "protections", "tables", None)
    Mondrian(k=3)
    """
    ours, (name, _, suffix) = examples(kind, [domain]), spec.use.partition(":")
    if suffix and not {name, f"{domain}.{name}"}.isdisjoint(ours):
        raise UnmaskError(f"{suffix!r} is not a parameter of {name}, expected PARAMETER=VALUE after the colon")
    is_full = "." in spec.use or (f"{domain}.{spec.use}" not in ours and is_plugin(spec.use))
    use = spec.use if is_full else f"{domain}.{spec.use}"
    if (home := domain_of(use, find(use, kind, code))) != domain:
        example = next(iter(examples(kind, [domain])))
        place = home or "no domain"
        raise UnmaskError(f"{use} belongs to {place}, expected one of the {kind} of {domain}, such as {example}")
    part = Part(use, use, spec.parameters, {}, plugin=Plugin(domain, ""), code=code)
    return instantiate(part, kind, write=_write_spec)


def find_any(use: str, folder: Path | None = None) -> Any:
    """Return what a name stands for, of any kind; a measure by its name, or as "module:measure"."""
    ours = {**{name: item for kind in KINDS for name, item in examples(kind).items()}, **list_measures()}
    if use in ours:
        return ours[use]
    if is_plugin(use):
        return load(use, folder) if ":" in use else _installed(use)
    near = get_close_matches(use, ours, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "expected module:Class, or a name that `unmask list` shows"
    raise UnmaskError(f"there is no {use!r}; {hint}")


def _allowed(use: str, code: Path | None) -> Path:
    if code is None:
        raise UnmaskError(
            f"{use!r} names code, and a document runs none by itself; read the module, then give --allow-code to "
            "study, protect, audit or game, or install it as a plug-in"
        )
    return code


@cache
def list_plugins() -> metadata.EntryPoints:
    """Return the entry points of installed packages; finding them reads a file of each package."""
    return metadata.entry_points(group="unmask")


def is_plugin(use: str) -> bool:
    """Return whether a name is "module:Class", or that of an installed package."""
    return ":" in use or use in list_plugins().names


def load(use: str, folder: Path | None = None) -> Any:
    """Import what "module:Class" names; the module is looked for in a folder first, then in Python's path."""
    name, _, attribute = use.partition(":")
    try:
        module = _module(name, folder)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0] and error.name != name:
            raise UnmaskError(f"module {name!r} needs {error.name!r}, which is not installed") from None
        place = "in Python's path" if folder is None else "next to the plan or in Python's path"
        raise UnmaskError(
            f"there is no module {name!r} {place}; expected module:Class, and {use!r} was given"
        ) from None
    except (Exception, SystemExit) as error:  # noqa: BLE001  # somebody else's code is run here
        raise UnmaskError(f"module {name!r} cannot be imported: {place_of(error)}: {error}") from None
    try:
        return getattr(module, attribute)
    except AttributeError:
        public = [member for member in vars(module) if not member.startswith("_")]
        raise UnmaskError(f"module {name!r} has no {attribute!r}; {nearest(attribute, public)}") from None


def _module(name: str, folder: Path | None) -> Any:
    file = None if folder is None else folder.joinpath(*name.split(".")).with_suffix(".py").resolve()
    if file is None or not file.is_file():
        return import_module(name)
    if getattr(sys.modules.get(name), "__file__", None) == str(file):
        return sys.modules[name]
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _installed(name: str) -> Any:
    return load(list_plugins()[name].value)


def _checked(thing: Any, use: str, kind: Kind) -> Any:
    """Return the thing, if it can be called as its kind is."""
    if kind == "datasets":
        fits, expected = callable(thing), "a function that returns the data"
    elif kind == "attacks":
        fits = inspect.isclass(thing) and _takes(thing, None, None)
        expected = "a class whose objects can be called with (release, knowledge, *, rng=None)"
    else:
        fits = inspect.isclass(thing) and (_takes(thing, None, rng=None) or _generates(thing))
        expected = "a class whose objects can be called with (population, *, rng=None), or have fit and sample"
    if not fits:
        raise UnmaskError(f"{use!r} does not belong to {kind}; expected {expected}")
    return thing


def place_of(error: BaseException) -> str:
    """Return the type of an error of third-party code, and its last line in the first file outside unmask."""
    files = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    theirs = next((file for file in files if file.is_file() and Path(__file__).parent not in file.parents), None)
    if theirs is None:
        return type(error).__name__
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == theirs]
    return f"{type(error).__name__} in {theirs.name}, line {lines[-1]}"


def _guarded(thing: Any, use: str) -> Any:
    """Return a plug-in whose errors are its own, and never quote a cell."""
    if not inspect.isclass(thing):
        return _guard(thing, use)
    for name in ("__call__", "fit", "sample"):
        call = getattr(thing, name, None)
        if inspect.isfunction(call) and not hasattr(call, "guarded") and not call.__module__.startswith("unmask."):
            setattr(thing, name, _guard(call, use))
    return thing


def _guard(call: Any, use: str) -> Any:
    @wraps(call)
    def guarded(*arguments: Any, **keywords: Any) -> Any:
        try:
            result = call(*arguments, **keywords)
        except UnmaskError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001  # somebody else's code is run here
            raise FailedError(f"plug-in {use!r} failed: {place_of(error)}; try `unmask check {use}`") from None
        if call.__name__ in ("__call__", "sample") and isinstance(result, str | int | float | None):
            raise FailedError(f"plug-in {use!r} returned {type(result).__name__}; try `unmask check {use}`")
        return result

    guarded.guarded = True  # type: ignore[attr-defined]
    return guarded


def domain_of(use: str, thing: Any) -> str:
    """Return the domain of a name, or of a plug-in by the annotation of its first argument, or "".

    The annotation of a dataset is that of its return value.
    """
    first = use.partition(".")[0]
    if first in DOMAINS and ":" not in use:
        return first
    try:
        hints = get_type_hints(thing.__call__ if inspect.isclass(thing) else thing)
    except (NameError, TypeError):
        return ""
    hint = next(iter(hints.values()), None) if inspect.isclass(thing) else hints.get("return")
    return domain_of_class(hint) if inspect.isclass(hint) else ""
