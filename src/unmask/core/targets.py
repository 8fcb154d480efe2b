"""Names of targets that are not columns."""

from typing import Final

NO_ATTACK: Final = "(release)"
"""Target of rows that describe a release and no belief."""
