"""From a plan to what its study found."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unmask.reports.result import Result


def study(
    plan: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    workers: int = 1,
    retry: bool = False,
    allow_code: bool = False,
) -> Result:
    """Run every protection against every adversary of a plan, as `unmask study` does, and return what was found; of a
    plan with a publisher the game, too.

    plan   : the file of the plan, see the reference
    output : folder of the results; what it holds already is not run again. Without it nothing is kept on disk.
    allow_code : let the plan run code, classes that it names as "module:Class"
    """
    from unmask.core.errors import UnmaskError
    from unmask.reports.result import Result
    from unmask.studies.game import priced, write_game
    from unmask.studies.page import study_page
    from unmask.studies.reading import read_plan
    from unmask.studies.run import run_study

    source = Path(plan)
    with tempfile.TemporaryDirectory(prefix="unmask-") as scratch:
        folder = Path(scratch) / "results" if output is None else Path(output)
        read = read_plan(source, allow_code=allow_code)
        game = priced(read, source)
        outcome = run_study(read, folder, workers=workers, retry=retry, source=source, priced=game or ())
        if game is not None and outcome.complete and outcome.done:
            with suppress(UnmaskError):  # an adversary who asks something else has no game
                write_game(source, folder, allow_code=allow_code)
        return Result(study_page(folder))
