"""Origin files: the row of the original of each released record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.core.errors import FailedError, UnmaskError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


def format_origin(rows: NDArray[np.int64]) -> str:
    """Return the text of an origin file: a heading, and one row number per line."""
    return "\n".join(["row", *map(str, rows.tolist()), ""])


def read_origin(path: Path, n_released: int, n_original: int) -> NDArray[np.int64]:
    """Return (n_released,) the row of the original of each record, from a file written by `protect`."""
    import numpy as np

    from unmask.data.files import read_text

    try:
        lines = read_text(path).split()
    except OSError as error:
        raise FailedError(f"origin {path.name!r} cannot be read: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise FailedError(f"origin {path.name!r} is not UTF-8 text; expected the file that protect wrote") from None
    digits = lines[1:]
    if len(digits) != n_released:
        raise UnmaskError(
            f"origin {path.name!r} has {len(digits)} numbers for {n_released} records, "
            "expected a heading and one row number per line"
        )
    joined = "".join(digits)
    if not (joined.isascii() and joined.isdigit()):
        position = next(position for position, text in enumerate(digits) if not (text.isascii() and text.isdigit()))
        raise UnmaskError(
            f"origin {path.name!r} has something else than a number in line {position + 2}, expected a heading and one "
            "row number a line, counted from 0"
        )
    origin = np.fromstring(" ".join(digits), dtype=np.int64, sep=" ")
    beyond = max(map(len, digits)) > 18 or origin.max() >= n_original  # more digits do not fit into 64 bits
    if beyond or np.bincount(origin).max() > 1:
        raise UnmaskError(f"origin {path.name!r} must name different rows from 0 to {n_original - 1} of the original")
    return origin
