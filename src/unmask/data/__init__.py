"""Read and write files and frames: encodings, dialects, headers, line accounts, and database engines.

`decode_text` converts a file to UTF-8, and `read_sample` reads its first lines. `score_dialects` and `score_header`
rank the possible readings. `account_lines` accounts for all lines of a file, or raises `UnmaskError`. `open_engine`
opens DuckDB or Spark for tables that may exceed memory; `open_database` lends an in-memory database. `replace_file`
writes a file atomically.
"""
