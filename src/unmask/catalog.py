"""Everything there is, under one name each: what `unmask list` shows, plans name, and the checks walk.

A name is that of the class or function behind its domain: "tables.Mondrian". What others wrote is reached in the same
places: by the name of an entry point (group "unmask") of an installed package, or as "module:Class". This is the one
file that knows all domains.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Literal, get_type_hints

from unmask import channels, graphs, pseudonyms, tables
from unmask.audit import STANDARD, campaign_measures, price_measures
from unmask.economics import read_attacker
from unmask.economics.profile import EMBEDDED
from unmask.errors import UnmaskError, nearest
from unmask.measures import Quantity, registry

DOMAINS = ("tables", "pseudonyms", "channels", "graphs")

Kind = Literal["attacks", "protections", "datasets"]


def _named(domain: str, *examples: object) -> dict[str, object]:
    return {f"{domain}.{getattr(one, '__name__', type(one).__name__)}": one for one in examples}


ATTACKS: Mapping[str, object] = {
    **_named("tables",
        tables.ClassAttack(), tables.RegisterAttack(coverage=0.2), tables.BayesAttack(), tables.NearestNeighbor(),
        tables.StringLinkage(), tables.OrderAttack(), tables.AttributeInference("diagnosis"),
        tables.MarginalRatio(), tables.ClosestRecord(), tables.ShadowMembership(tables.Mondrian(), shadows=20),
        tables.Linkability(),
    ),
    **_named("pseudonyms",
        pseudonyms.ExactMatch(), pseudonyms.Threshold(0.1), pseudonyms.FeatureClustering("kmeans", n_clusters=12),
        pseudonyms.RecordLinkage((("place",), ("x0",))), pseudonyms.SplinkLinkage((("place",), ("x0",))),
    ),
    **_named("channels",
        channels.BayesChannelAttack(), channels.MatchingAttack(), channels.HiddenMarkovAttack(),
        channels.FrequencyAttack(), channels.NearestNeighborAttack(), channels.StatisticalDisclosure(),
        channels.LeastSquaresDisclosure(), channels.RoundDisclosure(),
    ),
    **_named("graphs",
        graphs.Nar09(), graphs.Grasshopper(), graphs.Bumblebee(), graphs.Rematch(), graphs.Irma(),
        graphs.KorulaLattanzi(), graphs.GraphMatching(), graphs.DirectedNar09(), graphs.Iterated(graphs.Nar09()),
    ),
}  # fmt: skip
"""Name -> an example of each attack."""

PROTECTIONS: Mapping[str, object] = {
    **_named("tables",
        tables.Mondrian(), tables.Suppress(), tables.SuppressCells(), tables.Generalize(), tables.Identity(),
    ),
    **_named("pseudonyms",
        pseudonyms.PerItem(), pseudonyms.PerPeriod(0.25), pseudonyms.PerContext(), pseudonyms.Split(2),
    ),
    **_named("channels",
        channels.RandomizedResponse(1.0, 4), channels.Geometric(1.0, 4), channels.Coin(0.5),
        channels.Generalize(("low", "low", "high", "high")), channels.PlanarLaplace(0.001),
        channels.PlanarGaussian(1000.0), channels.Shrink(1000.0, 3000.0),
    ),
    **_named("graphs",
        graphs.IdentitySeparation(), graphs.Decoy(), graphs.EgoPatterns(),
        graphs.Together(((0.5, graphs.IdentitySeparation()), (0.5, graphs.Decoy()))),
    ),
}  # fmt: skip
"""Name -> an example of each protection."""

DATASETS: Mapping[str, Callable[..., Any]] = {
    f"{function.__module__.split('.')[1]}.{function.__name__}": function
    for function in (
        tables.datasets.synthetic_census, tables.datasets.adult, tables.datasets.fertility1980,
        tables.datasets.nist_national2019, pseudonyms.datasets.synthetic_traces, pseudonyms.datasets.gowalla,
        pseudonyms.datasets.rldata, pseudonyms.datasets.febrl, channels.datasets.alphabet, channels.datasets.grid,
        channels.datasets.gowalla, graphs.datasets.network, graphs.datasets.pair, graphs.datasets.barabasi_albert,
        graphs.datasets.erdos_renyi, graphs.datasets.watts_strogatz,
    )
}  # fmt: skip
"""Public sets and generators by name; `rng` is given to those that draw."""

_CASE = read_attacker(EMBEDDED)

MEASURES: Mapping[str, Quantity] = registry.MEASURES | {
    measure.name: measure for measure in (*STANDARD, *price_measures(_CASE), *campaign_measures(_CASE))
}
"""Everything that is measured of a belief, a clustering or a matching; what a rational attacker does, by the published
case study."""

KINDS: Mapping[Kind, Mapping[str, object]] = {"attacks": ATTACKS, "protections": PROTECTIONS, "datasets": DATASETS}


def listed() -> dict[str, dict[str, str]]:
    """Kind -> name -> one whole line: all that there is, installed plug-ins included."""
    found = {str(kind): {name: sentence(one) for name, one in known.items()} for kind, known in KINDS.items()}
    for name in metadata.entry_points(group="unmask").names:
        kind, line = _of_plugin(name)
        found.setdefault(kind, {})[name] = line
    words = {"measures": MEASURES, "criteria": registry.CRITERIA, "utilities": registry.UTILITIES}
    return found | {kind: {name: one.meaning for name, one in known.items()} for kind, known in words.items()}


def sentence(thing: object) -> str:
    """The first sentence of a docstring on one line; a question with what answers it.

    >>> sentence(tables.Identity())
    'No protection: the table itself, in the order of its cells.'
    """
    described = thing if inspect.isclass(thing) or inspect.isroutine(thing) else type(thing)
    paragraph = " ".join((inspect.getdoc(described) or "").partition("\n\n")[0].split())
    found = re.match(r"""(.*?\? )?.*?[.!?](?= [A-Z"'(`]|$)""", paragraph)
    return found[0] if found else paragraph


def _of_plugin(name: str) -> tuple[str, str]:
    """The kind of an installed plug-in, and its line."""
    try:
        thing = _installed(name)
    except UnmaskError as error:
        return "not loaded", str(error)
    return kind_of(thing), sentence(thing)


def kind_of(thing: Any) -> Kind:
    """What somebody's own class or function is: objects called with (release, knowledge) attack, those called with
    (population, rng=) protect, a function is a dataset.
    """
    if not inspect.isclass(thing):
        return "datasets"
    ours = thing in {type(one) for one in ATTACKS.values()}
    return "attacks" if ours or _takes(thing, None, None) else "protections"


def _takes(kind: type, *arguments: None, **named: None) -> bool:
    """Whether the objects of a class can be called so."""
    call = next((vars(base)["__call__"] for base in kind.__mro__ if "__call__" in vars(base)), None)
    try:
        return call is not None and bool(inspect.signature(call).bind(None, *arguments, **named))
    except TypeError:
        return False


def find(use: str, kind: Kind, folder: Path | None = None) -> Any:
    """The class, or for a dataset the function, that a name stands for.

    use    : a name that `unmask list` shows, or "module:Class"
    folder : where a module is looked for first, beside the plan that names it

    >>> find("tables.Mondrian", "protections").__name__, find("unmask.tables:ClassAttack", "attacks").__name__
    ('Mondrian', 'ClassAttack')
    """
    known = KINDS[kind]
    if use in known:
        return known[use] if kind == "datasets" else type(known[use])
    if is_plugin(use):
        return _checked(load(use, folder) if ":" in use else _installed(use), use, kind)
    near = [name for name in known if name.startswith(use.partition(".")[0])] or list(known)
    raise UnmaskError(f"use is {use!r}, which is none of the {kind}; {nearest(use, near)}")


def find_any(use: str, folder: Path | None = None) -> Any:
    """The same, of whatever kind it is; a measure by its name, or as "module:measure"."""
    of_kind = next((kind for kind, known in KINDS.items() if use in known), None)
    if of_kind is not None:
        return KINDS[of_kind][use]
    if use in MEASURES:
        return MEASURES[use]
    if is_plugin(use):
        return load(use, folder) if ":" in use else _installed(use)
    near = get_close_matches(use, [name for known in (*KINDS.values(), MEASURES) for name in known], n=1)
    hint = f"did you mean {near[0]!r}?" if near else "expected module:Class, or a name that `unmask list` shows"
    raise UnmaskError(f"there is no {use!r}; {hint}")


def is_plugin(use: str) -> bool:
    """Whether a name is "module:Class", or that of an installed package."""
    return ":" in use or use in metadata.entry_points(group="unmask").names


def load(use: str, folder: Path | None = None) -> Any:
    """What "module:Class" names; the module is looked for in a folder first, then among what is installed."""
    name, _, attribute = use.partition(":")
    try:
        module = _module(name, folder)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0] and error.name != name:
            raise UnmaskError(f"module {name!r} needs {error.name!r}, which is not installed") from None
        where = "in Python's path" if folder is None else "beside the plan or in Python's path"
        raise UnmaskError(
            f"there is no module {name!r} {where}; expected module:Class, and {use!r} was given"
        ) from None
    except Exception as error:  # noqa: BLE001 - somebody else's code is run here
        raise UnmaskError(f"module {name!r} cannot be imported: {type(error).__name__}: {error}") from None
    try:
        return getattr(module, attribute)
    except AttributeError:
        public = [one for one in vars(module) if not one.startswith("_")]
        raise UnmaskError(f"module {name!r} has no {attribute!r}; {nearest(attribute, public)}") from None


def _module(name: str, folder: Path | None) -> Any:
    file = None if folder is None else folder.joinpath(*name.split(".")).with_suffix(".py").resolve()
    if file is None or not file.is_file():
        return importlib.import_module(name)
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
    (point,) = list(metadata.entry_points(group="unmask", name=name))[:1]
    return load(point.value)


def _checked(thing: Any, use: str, kind: Kind) -> Any:
    """The thing, if it can be called as its kind is."""
    if kind == "datasets":
        fits, expected = callable(thing), "a function that returns the data"
    elif kind == "attacks":
        fits = inspect.isclass(thing) and _takes(thing, None, None)
        expected = "a class whose objects can be called with (release, knowledge, *, rng=None)"
    else:
        fits = inspect.isclass(thing) and _takes(thing, None, rng=None)
        expected = "a class whose objects can be called with (population, *, rng=None)"
    if not fits:
        raise UnmaskError(f"{use!r} is none of the {kind}; expected {expected}")
    return thing


def domain_of(use: str, thing: Any) -> str:
    """The domain of a name, or of a plug-in by the annotation of its first argument (a dataset's: of what it returns);
    "" where that says nothing.
    """
    first = use.partition(".")[0]
    if first in DOMAINS and ":" not in use:
        return first
    try:
        hints = get_type_hints(thing.__call__ if inspect.isclass(thing) else thing)
    except (NameError, TypeError):
        return ""
    hint = next(iter(hints.values()), None) if inspect.isclass(thing) else hints.get("return")
    package, _, rest = str(getattr(hint, "__module__", "")).partition(".")
    domain = rest.partition(".")[0]
    return domain if package == "unmask" and domain in DOMAINS else ""
