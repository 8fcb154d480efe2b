"""The command `unmask`, begun before anything of it is imported: a Ctrl-C is a sentence from the first moment.

It lies outside the package, since importing a module of a package imports the package first, which takes a while.
"""

import _thread
import contextlib
import os
import signal
import sys
import threading
from typing import Any, NoReturn

ENDING = [number for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if (number := getattr(signal, name, None))]
EXIT_INTERRUPTED = 1
SECONDS_TO_REPEAT = 0.01

_heard: list[int] = []


def main() -> None:
    """Run the command line; what a Ctrl-C or a termination brings about in whatever library is one sentence."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # a shell starts what runs in the background without it
            signal.signal(number, _hear)
    sys.unraisablehook = _unraisable
    try:
        from unmask.cli import main as command

        command()
    except SystemExit as ended:
        _ignore()
        if not _heard:
            raise
        _end(ended.code)
    except BaseException:
        _ignore()
        if not _heard:
            raise
        os.write(2, b"Error: interrupted before the end; run the same command again\n")
        _end(EXIT_INTERRUPTED)


def _hear(number: int, _frame: Any) -> NoReturn:
    """End the work at once; a second signal is not heard, so that what the first one cleans up is not cut in two."""
    _heard.append(number)
    _ignore()
    raise KeyboardInterrupt


def _unraisable(hook: "sys.UnraisableHookArgs") -> None:
    """Repeat an interrupt that was raised where nothing can be raised, as in a finalizer.

    A moment later, because an interrupt that is raised in this hook is lost, too.
    """
    if not _heard:
        sys.__unraisablehook__(hook)
    elif hook.exc_type is KeyboardInterrupt:
        signal.signal(signal.SIGINT, _hear)
        again = threading.Timer(SECONDS_TO_REPEAT, _thread.interrupt_main)
        again.daemon = True
        again.start()


def _ignore() -> None:
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _end(code: object) -> NoReturn:
    """End with this code. Python itself would end by SIGINT where that came in a text that it ran, as imports do."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code if isinstance(code, int) else EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
