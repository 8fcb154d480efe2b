"""A command as a process that ends when the server does: its standard input is a pipe, whose end is that of the server.

It loads what it needs, waits for one byte, and begins.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable


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
    return unmask_command.main


def _ended_with(pipe: int) -> None:
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
