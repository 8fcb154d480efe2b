"""Runs of the command line inside the process of a test."""

import re

from click.testing import CliRunner, Result

from unmask.cli import main


def invoke(*arguments: object, answers: str | None = None) -> Result:
    """Run a command, and fail if it ends with anything but an exit status."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=answers)
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result


def run(*arguments: object) -> tuple[int, str, str]:
    """Run a command; return its exit status, output and messages."""
    result = invoke(*arguments)
    return result.exit_code, result.stdout, result.stderr


def check_one_sentence(result: Result, message: str) -> None:
    """Check that a command failed with one error, which contains a message, and without output."""
    assert result.exit_code != 0
    assert message in result.stderr
    assert result.stdout == ""
    assert sum(line.startswith("Error:") for line in result.stderr.splitlines()) == 1
    assert "Traceback" not in result.stderr


def read_page(text: str) -> str:
    """Return the HTML of a page whose commands are plain texts, without the elements of their words."""
    return re.sub(r'<span class="word">(.*?)</span>', r"\1", text)
