"""Counts, amounts and names in sentences."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from unmask.languages import gettext as _
from unmask.languages import group
from unmask.results.formats import DASH, SHARES, SPACE, number, percent, without_noise

UNITLESS = ("", "distance")
"""Units that are not printed."""


def format_share(value: float | None) -> str:
    """Return a share in percent, or a dash if it is missing."""
    return DASH if value is None or math.isnan(value) else percent(value)


def plural(count: int, singular: str, plural_form: str = "") -> str:
    """Return a count with its noun.

    >>> plural(1, "item"), plural(1200, "item"), plural(2, "identity", "identities")
    ('1 item', '1,200 items', '2 identities')
    """
    return f"{count:,} {singular if count == 1 else plural_form or singular + 's'}"


def join_names(names: Sequence[str]) -> str:
    """Join names for a sentence.

    >>> join_names(["a", "b", "c"]), join_names(["a"])
    ('a, b and c', 'a')
    """
    if len(names) < 2:
        return names[0]
    return _("{names} and {last}", names=", ".join(names[:-1]), last=names[-1])


def short(name: str, longest: int = 18) -> str:
    """Return a name shortened to `longest` letters."""
    return name if len(name) <= longest else name[: longest - 1] + "\u2026"


def release_name(release: str) -> str:
    """Return the name of a release for a sentence: in quotes if it could be read as part of the sentence."""
    return release if re.fullmatch(r"[\w=.+-]+", release) else f"\u201c{release}\u201d"


def start_with_release(sentence: str, release: str, *, several: bool) -> str:
    """Return a sentence that begins with the release if there are several, with a capital.

    >>> (
    ...     start_with_release("no row is unique.", "k5", several=True),
    ...     start_with_release("no row is unique.", "k5", several=False),
    ... )
    ('From k5, no row is unique.', 'No row is unique.')
    """
    return f"From {release_name(release)}, {sentence}" if several else sentence[:1].upper() + sentence[1:]


def format_count(count: int | str) -> str:
    """Return a count of people, or the words in its place, such as "fewer than 10"."""
    return group(count) if isinstance(count, int) else count


def format_duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours.

    >>> format_duration(4.6), format_duration(150), format_duration(9000)
    ('5 s', '2 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def as_sentences(warnings: Iterable[str]) -> tuple[str, ...]:
    """Return warnings as sentences, each with a capital and a period.

    >>> as_sentences(["cells were changed", "Seeds are wrong."])
    ('Cells were changed.', 'Seeds are wrong.')
    """
    return tuple(f"{warning[:1].upper()}{warning[1:].removesuffix('.')}." for warning in warnings)


def amount(value: float, unit: str) -> str:
    """Return an amount without its unit; shares in percent.

    >>> amount(1.2378, "km"), amount(0.25, "probability").replace(SPACE, " "), amount(-1e-17, "km")
    ('1.24', '25.0 %', '0')
    """
    rounded = without_noise(value)
    return percent(rounded) if unit in SHARES else number(rounded)


def quantity(value: float, unit: str) -> str:
    """Return an amount with its unit.

    >>> quantity(1.2378, "km").replace(SPACE, " ")
    '1.24 km'
    """
    has_unit = unit not in SHARES and unit not in UNITLESS and math.isfinite(value)
    return f"{amount(value, unit)}{SPACE}{unit}" if has_unit else amount(value, unit)


def wrong_by(value: float, unit: str) -> str:
    """Return an error in words: "off by 1.24 km", or "wrong in 12.0 % of cases" if the loss is a probability."""
    if unit in SHARES:
        return _("wrong in {share} of cases", share=amount(value, unit))
    return _("off by {value}", value=quantity(value, unit))


def more_than(value: float, unit: str) -> str:
    """Return a limit of an error in words: "off by more than 1.24 km"."""
    return wrong_by(value, unit).replace(" in ", " in more than ").replace(" by ", " by more than ")


# --- names in charts ------------------------------------------------------------------------------------------------

ROOM = 18
"""Letters for a name in a chart."""


def shorten_names(names: Iterable[str]) -> dict[str, str]:
    """Return different names for a chart: words of a long name are cut, and end with a period.

    Values of parameters are never cut, and names stay whole where two would be alike.

    >>> shorten_names(["cells suppressed k=10", "Mondrian k=10"])
    {'cells suppressed k=10': 'cells suppre. k=10', 'Mondrian k=10': 'Mondrian k=10'}
    >>> list(shorten_names(["most exposed employees", "most exposed employers"]).values())
    ['most exposed employees', 'most exposed employers']
    """
    cut = {name: _fitted(name) for name in names}
    times = Counter(cut.values())
    return {name: short_name if times[short_name] == 1 else name for name, short_name in cut.items()}


def _fitted(name: str) -> str:
    """Return a name with the first letters of each word, at least three, as many as fit."""
    short_names = [" ".join(_begun(word, n) for word in name.split()) for n in range(ROOM, 2, -1)]
    return next((text for text in (name, *short_names) if len(text) <= ROOM), short_names[-1])


def _begun(word: str, letters: int) -> str:
    """Return a word, or its first letters; a part after an equals sign is not cut."""
    stem, sign, value = word.partition("=")
    return word if len(stem) <= letters + 1 else f"{stem[:letters]}.{sign}{value}"


def styles_of(names: Sequence[str]) -> dict[str, int]:
    """Return for each name the number of its color and shape: its position."""
    return {name: style for style, name in enumerate(names)}
