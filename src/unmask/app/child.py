"""A command as a process that ends when the server does: its standard input is a pipe, whose end is that of the server.

It loads what it needs, waits for one byte, and begins.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from importlib import import_module

from unmask.toml_text import DOCUMENT

LATE = ("scipy.sparse.csgraph", "unmask.reports.page", "unmask.reports.result")
"""What the audit of a table imports once it comes to it, a third of a second: the release is made meanwhile."""


def main() -> None:
    """Run the command line, or count columns; the end of the standard input is heard as a termination."""
    command, pipe = _loaded(*sys.argv[1:]), sys.stdin.fileno()
    if not os.read(pipe, 1):
        sys.exit("the server ended before the command began")
    threading.Thread(target=_ended_with, args=(pipe,), daemon=True).start()
    command()


def _loaded(name: str, *rest: str) -> Callable[[], object]:
    """What does the work, with what it needs."""
    if name == "count":
        from unmask.app.counting import count

        return lambda: count(*rest)
    import unmask_command

    unmask_command.load(name, *rest)
    if (name, *rest[:1]) == ("audit", DOCUMENT):
        for module in LATE:
            import_module(module)
    return unmask_command.main


def _ended_with(pipe: int) -> None:
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
