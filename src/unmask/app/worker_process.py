"""A process that runs a command of a job, and ends with the server: its standard input is a pipe from the server."""

from __future__ import annotations

import os
import signal
import sys
import threading


def main() -> None:
    """Run a command line, or count columns."""
    threading.Thread(target=_end_with_pipe, args=(sys.stdin.fileno(),), daemon=True).start()
    if sys.argv[1] == "count":
        from unmask.app.column_profile import write_profile

        write_profile(*sys.argv[2:])
    else:
        import unmask_command

        sys.argv[0] = "unmask"
        unmask_command.main()


def _end_with_pipe(pipe: int) -> None:
    """Wait for the end of the pipe, then end this process."""
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
