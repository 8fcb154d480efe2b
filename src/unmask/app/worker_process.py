"""A process that runs commands of a job, and ends with the server: its standard input is a pipe from the server."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Sequence

from unmask.app.jobs import END, SUCCESS_CODES


def main() -> None:
    """Run commands, a JSON list with a file for each standard output, until one fails; report each exit code."""
    threading.Thread(target=_end_with_pipe, args=(sys.stdin.fileno(),), daemon=True).start()
    for command, output in json.loads(sys.argv[1]):
        _redirect_stdout(output or os.devnull)
        code = _run(command)
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(2, END + str(code).encode() + b"\n")
        if code not in SUCCESS_CODES:
            sys.exit(code)


def _run(command: Sequence[str]) -> int:
    """Run a command line, or count columns; return the exit code."""
    import unmask_command

    for number in unmask_command.ENDING:  # the previous command ignores them since its end
        signal.signal(number, signal.SIG_DFL)
    sys.argv = ["unmask", *command]
    try:
        if command[0] == "count":
            from unmask.app.column_profile import write_profile

            write_profile(*command[1:])
        else:
            unmask_command.main()
    except SystemExit as exit_:
        if isinstance(exit_.code, str):
            print(exit_.code, file=sys.stderr)  # noqa: T201
            return 1
        return exit_.code or 0
    return 0


def _redirect_stdout(path: str) -> None:
    """Make a private file the standard output."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(file, 1)
    os.close(file)


def _end_with_pipe(pipe: int) -> None:
    """Wait for the end of the pipe, then end this process."""
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
