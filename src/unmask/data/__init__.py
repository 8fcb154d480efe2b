"""Reading of files: their encoding, dialect and header, a proof that every line was read, and engines for their rows.

`decode_text` makes a file UTF-8, `read_sample` reads its first lines, `score_dialects` and `score_header` rank the ways
to read them, and `account_lines` accounts for every line of the whole file or raises `UnmaskError`. `open_engine`
opens DuckDB or Spark for rows that may exceed memory.
"""

from unmask.data.dialects import MISSING, Dialect, Sample, cut, read_sample, score_dialects
from unmask.data.encodings import TextFile, decode_text, open_binary, open_text
from unmask.data.engine import open_engine
from unmask.data.readings import (
    Reading,
    account_lines,
    check_comments,
    iterate_rows,
    read_rows,
    refuse_comments,
    score_header,
)

__all__ = [
    "MISSING",
    "Dialect",
    "Reading",
    "Sample",
    "TextFile",
    "account_lines",
    "check_comments",
    "cut",
    "decode_text",
    "iterate_rows",
    "open_binary",
    "open_engine",
    "open_text",
    "read_rows",
    "read_sample",
    "refuse_comments",
    "score_dialects",
    "score_header",
]
