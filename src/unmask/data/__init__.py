"""Files and frames, in and out: encodings, dialects, headers, an account of every line, and engines for their rows.

`decode_text` makes a file UTF-8, `read_sample` reads its first lines, `score_dialects` and `score_header` rank the ways
to read them, and `account_lines` accounts for every line of the whole file or raises `UnmaskError`. `open_engine`
opens DuckDB or Spark for rows that may exceed memory; `open_database` lends a database in memory. `replace_file` writes
a file completely or not at all.
"""
