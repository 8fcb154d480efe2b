"""`with_parameters` copies parameters of functions and dataclasses into a signature that passes them on."""

import inspect
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

import pytest

from unmask.core.signatures import with_parameters
from unmask.ranges import Range
from unmask.schema import help_lines

SHARE = Annotated[float, Range(0, 1)]


def attack(release: str, *, targets: SHARE = 0.5, seed: int = 0) -> str:
    """Attack a release.

    Parameters
    ----------
    release : str
        the release
    targets : float
        share of the people who are targets
    seed : int
        seed of the draw of targets
    """
    return f"{release}:{targets}:{seed}"


@dataclass(frozen=True)
class Reading:
    """Options of a file.

    Parameters
    ----------
    comment : str
        mark of comments
    """

    comment: str = "#"


@with_parameters(Reading)
@with_parameters(attack, only=("targets", "seed"))
def attack_file(path: str, *, seed: Any = 1, **options: Any) -> str:
    """Attack a release in a file.

    Parameters
    ----------
    path : str
        the file
    seed
        See `attack`.
    comment : str
        mark of comments in this file
    """
    return attack(path, targets=options["targets"], seed=seed)


def test_the_signature_has_its_own_parameters_and_those_of_the_sources_as_keywords():
    parameters = inspect.signature(attack_file).parameters
    assert list(parameters) == ["path", "targets", "seed", "comment"]
    assert [parameters[name].kind for name in ("targets", "seed", "comment")] == [inspect.Parameter.KEYWORD_ONLY] * 3
    assert [parameters[name].default for name in ("targets", "seed", "comment")] == [0.5, 0, "#"]


def test_types_and_ranges_are_those_of_the_sources():
    hints = get_type_hints(attack_file, include_extras=True)
    assert (hints["targets"], hints["seed"], hints["comment"]) == (SHARE, int, str)


def test_only_named_parameters_are_added():
    assert "release" not in inspect.signature(attack_file).parameters


def test_the_function_still_receives_the_keywords():
    assert attack_file("r.csv", targets=0.25, seed=7) == "r.csv:0.25:7"
    with pytest.raises(KeyError):
        attack_file("r.csv")  # a default of a source is described, and not passed


def test_help_is_that_of_the_function_and_else_of_the_sources():
    lines = help_lines(f"{__name__}:attack_file")
    assert lines["comment"] == "Mark of comments in this file."
    assert lines["targets"] == "Share of the people who are targets."
    assert lines["seed"] == "Seed of the draw of targets."
