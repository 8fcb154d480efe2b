"""The command `unmask`, begun before anything of it is imported: a Ctrl-C is a sentence from the first moment.

It lies outside the package, since importing a module of a package imports the package first, which takes a while.
"""

import _thread
import os
import signal
import sys
from typing import Any, NoReturn

ENDING = ("SIGINT", "SIGTERM")
EXIT_INTERRUPTED = 1

_heard: list[int] = []


def main() -> None:
    """Run the command line; what a Ctrl-C or a termination brings about in whatever library is one sentence."""
    for name in ENDING:
        number = signal.Signals[name]
        if signal.getsignal(number) is not signal.SIG_IGN:  # a shell starts what runs in the background without it
            signal.signal(number, _hear)
    sys.unraisablehook = _unraisable
    try:
        from unmask.cli import main as command

        command()
    except SystemExit as ended:
        _ignore()
        raise ended from None
    except BaseException:
        _ignore()
        if not _heard:
            raise
        _tell()


def _hear(number: int, _frame: Any) -> NoReturn:
    """End the work at once; a second signal is not heard, so that what the first one cleans up is not cut in two."""
    _heard.append(number)
    _ignore()
    raise KeyboardInterrupt


def _unraisable(hook: "sys.UnraisableHookArgs") -> None:
    """An interrupt that came where nothing can be raised, as while an object is removed, comes once more."""
    if not _heard:
        sys.__unraisablehook__(hook)
    elif hook.exc_type is KeyboardInterrupt:
        signal.signal(signal.SIGINT, _hear)
        _thread.interrupt_main()


def _ignore() -> None:
    for name in ENDING:
        signal.signal(signal.Signals[name], signal.SIG_IGN)


def _tell() -> NoReturn:
    os.write(2, b"Error: interrupted before the end; run the same command again\n")
    sys.stdout = sys.stderr = None  # nothing is left that could be written in half
    sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
