"""Reading of files: their encoding, dialect and header, a proof that every line was read, and engines for their rows.

`decode_text` makes a file UTF-8, `read_sample` reads its first lines, `score_dialects` and `score_header` rank the ways
to read them, and `verify_reading` accounts for every line of the whole file or raises `AmbiguousInput`. `open_engine`
opens DuckDB or Spark for rows that may exceed memory.
"""

from unmask.data.dialects import MISSING, Dialect, Sample, cut, kind_of, read_sample, score_dialects
from unmask.data.encodings import TextFile, check_encoding, decode_text, open_binary, open_text
from unmask.data.engine import Engine, open_engine
from unmask.data.readings import (
    LineAccount,
    Reading,
    account_lines,
    check_comments,
    iterate_rows,
    read_rows,
    refuse_comments,
    score_header,
    verify_reading,
)

__all__ = [
    "MISSING",
    "Dialect",
    "Engine",
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
    "open_engine",
    "open_text",
    "read_rows",
    "read_sample",
    "refuse_comments",
    "score_dialects",
    "score_header",
    "verify_reading",
]
