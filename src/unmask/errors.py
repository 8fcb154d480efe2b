"""The errors of unmask: one root that is a `ValueError`, one child that the command line tells apart."""


class UnmaskError(ValueError):
    """Wrong use: an argument, a column or a cell is not what was expected.

    The message is one sentence or two: what was given, what was expected, what to do next. It names columns,
    row numbers and counts, never the content of a record. The command line exits with `exit_code`.
    """

    exit_code = 2


class FailedError(UnmaskError):
    """The request was right but could not be carried out: a file cannot be read or written, a protection has no
    solution.
    """

    exit_code = 1
