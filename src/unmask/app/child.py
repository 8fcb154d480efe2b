"""A command as a process that ends when the server does: its standard input is a pipe that nobody writes to."""

from __future__ import annotations

import os
import signal
import sys
import threading


def main() -> None:
    """Run the command line, or count columns; the end of the standard input is heard as a termination."""
    threading.Thread(target=_ended_with, args=(sys.stdin.fileno(),), daemon=True).start()
    if sys.argv[1] == "count":
        from unmask.app.counting import count

        count(*sys.argv[2:])
    else:
        from unmask_command import main as command

        command()


def _ended_with(pipe: int) -> None:
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
