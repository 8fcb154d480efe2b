"""Text files of rows: how they are encoded, cut into cells and headed, and a proof that every line was read.

`decode_text` makes a file UTF-8, `read_sample` reads its first lines, `score_dialects` and `score_header` rank the ways
to read them, and `verify_reading` accounts for every line of the whole file or raises `AmbiguousInput`.
"""

from unmask.data.ambiguity import AmbiguousInput
from unmask.data.dialects import MISSING, Dialect, cut, kind_of, score_dialects
from unmask.data.encodings import TextFile, check_encoding, decode_text, open_binary, open_text
from unmask.data.headers import score_header
from unmask.data.readings import (
    LineAccount,
    Reading,
    account_lines,
    check_comments,
    iterate_rows,
    read_rows,
    refuse_comments,
    verify_reading,
)
from unmask.data.samples import Sample, read_sample

__all__ = [
    "MISSING",
    "AmbiguousInput",
    "Dialect",
    "LineAccount",
    "Reading",
    "Sample",
    "TextFile",
    "account_lines",
    "check_comments",
    "check_encoding",
    "cut",
    "decode_text",
    "iterate_rows",
    "kind_of",
    "open_binary",
    "open_text",
    "read_rows",
    "read_sample",
    "refuse_comments",
    "score_dialects",
    "score_header",
    "verify_reading",
]
