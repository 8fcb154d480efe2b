"""SQL in the common subset of both engines, built from plain names.

The subset: plain lower-case names without quotes (an engine renames the columns of a source), types bigint, integer,
double and string, explicit nulls first or last, no `log`, `nullif` before a division, sums cast to bigint, and `is not
distinct from` if missing cells should match. Tests run all statements on both engines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind: TypeAlias = Literal["integer", "real", "text", "untyped"]
"""Content of a column of an engine: 64-bit integers; doubles; texts stored as texts; or other values as texts, such as
cells of a text file, dates, decimals and booleans.
"""

Arrays: TypeAlias = "dict[str, NDArray[Any]]"

_WHOLE = {"tinyint", "smallint", "int", "integer", "bigint", "utinyint", "usmallint", "uinteger"}
_REAL = {"float", "double"}

BLANKS = " \t\r\n"
"""Characters that are removed around a text; the engines define blanks differently."""


def quote_name(name: str, mark: str = '"') -> str:
    """Return the quoted name of a user's column. mark : quotation mark of the engine

    >>> quote_name("age"), quote_name("a`b", "`")
    ('"age"', '`a``b`')
    """
    return mark + name.replace(mark, mark * 2) + mark


def quote_text(text: str) -> str:
    """Return a text as a quoted SQL string.

    >>> quote_text("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def column_kind(type_name: str, *, typed: bool) -> Kind:
    """Return the kind of a column by the engine's type name. typed : True if the source stores types

    >>> column_kind("BIGINT", typed=True), column_kind("VARCHAR", typed=False), column_kind("date", typed=True)
    ('integer', 'untyped', 'untyped')
    """
    name = type_name.lower()
    if name in _WHOLE:
        return "integer"
    if name in _REAL:
        return "real"
    return "text" if typed and name.startswith(("varchar", "enum", "string")) else "untyped"


def clean_column(column: str, kind: str, *, repeats: bool = True) -> str:
    r"""Return SQL for a column of a source in one of three types; texts are trimmed, NaN and empty texts are NULL.

    A real number is cast through text: a 32-bit float keeps its short decimals, and NaN is recognized although the
    statistics of the file exclude it.

    repeats : True if values repeat in the column. A typed file then stores each value once for many rows, and DuckDB
        trims it once. Trimming takes longer than reading. Therefore texts that do not repeat, and texts of a text file
        ("untyped"), are trimmed only if the first or last character may be a blank: blanks sort before "!".

    >>> clean_column("x", "text")
    "nullif(trim(both ' \t\r\n' from cast(x as string)), '')"
    """
    if kind in ("text", "untyped"):
        text = f"cast({column} as string)"
        trimmed = f"nullif(trim(both {quote_text(BLANKS)} from {text}), '')"
        if kind == "text" and repeats:
            return trimmed
        return f"case when {text} > '!' and substr({text}, -1) > '!' then {text} else {trimmed} end"
    if kind == "integer":
        return f"cast({column} as bigint)"
    return f"nullif(cast(cast({column} as string) as double), cast('NaN' as double))"


def select_estimates(table: str, columns: Sequence[str], joint: Mapping[str, Sequence[str]]) -> str:
    """Select the number of rows n, and estimated numbers of combinations of each column set and of values of each
    column.

    joint : name of a set -> its columns. Combinations include missing cells; values exclude them. The engines use
    different hash functions, so estimates differ by a few per cent.

    >>> select_estimates("t", ["q0"], {"both": ["q0", "q1"]})
    'select count(*) as n, approx_count_distinct((q0, q1, 0)) as both, approx_count_distinct(q0) as q0 from t'
    """
    sets = {name: f"({', '.join([*members, '0'])})" for name, members in joint.items()}
    terms = sets | {column: column for column in columns}
    counts = "".join(f", approx_count_distinct({term}) as {name}" for name, term in terms.items())
    return f"select count(*) as n{counts} from {table}"


def select_cells(table: str, columns: Sequence[str]) -> str:
    """Select the distinct values of every column of a table and their numbers of rows n, including NULL, in one scan.

    A result row has one value, and NULL in all other columns; not_q0 is 0 if the value is one of q0.

    >>> select_cells("t", ["q0", "s0"])
    'select q0, grouping(q0) as not_q0, s0, grouping(s0) as not_s0, count(*) as n from t
    group by grouping sets ((q0), (s0))'
    """
    names = ", ".join(f"{column}, grouping({column}) as not_{column}" for column in columns)
    sets = ", ".join(f"({column})" for column in columns)
    return f"select {names}, count(*) as n from {table} group by grouping sets ({sets})"


def select_values(table: str, column: str) -> str:
    """Select the values v of a column of a table of cells, ascending, without NULL, and their numbers of rows n.

    >>> select_values("t", "q0")
    'select q0 as v, n from t where q0 is not null order by v nulls last'
    """
    return f"select {column} as v, n from {table} where {column} is not null order by v nulls last"


def select_gaps(table: str, columns: Sequence[str]) -> str:
    """Select one row from a table of cells: for each column, the number of rows with a missing cell.

    >>> select_gaps("t", ["q0"])
    'select cast(coalesce(sum(case when not_q0 = 0 and q0 is null then n end), 0) as bigint) as q0 from t'
    """
    counts = (
        f"cast(coalesce(sum(case when not_{column} = 0 and {column} is null then n end), 0) as bigint) as {column}"
        for column in columns
    )
    return f"select {', '.join(counts)} from {table}"


def pack_codes(
    table: str,
    codes_of: Mapping[str, str],
    missing: Mapping[str, int],
    words: Sequence[Mapping[str, int]],
    further: Sequence[str] = (),
    *,
    part: tuple[int, int] = (0, 1),
) -> str:
    """Select the number of rows n of each combination of codes, packed into 64-bit words k0, k1, ...

    codes_of : column -> table (v, code). missing : column -> code of a NULL cell. words : for each word its columns,
    most significant first, and the bits of each column; at most 62 bits in a word. further : unpacked columns that
    distinguish combinations, too. part : (i, n) selects part i of n of the combinations, by their hashes.

    >>> pack_codes("t", {"q0": "d0", "q1": "d1"}, {"q0": 7, "q1": 0}, [{"q0": 3, "q1": 2}])
    'select cast(coalesce(d0.code, 7) as bigint) * 4 + coalesce(d1.code, 0) as k0, count(*) as n from t
    left join d0 on t.q0 = d0.v left join d1 on t.q1 = d1.v group by 1'
    """
    keys = []
    for word in words:
        key = ""
        for column, bits in word.items():
            code = f"coalesce({codes_of[column]}.code, {missing[column]})"
            key = f"{f'({key})' if '+' in key else key} * {1 << bits} + {code}" if key else f"cast({code} as bigint)"
        keys.append(key)
    words_as = ", ".join(f"{key} as k{number}" for number, key in enumerate(keys))
    joins, columns = " ".join(_join_codes(table, codes_of)), [f"{table}.{column}" for column in further]
    groups = ", ".join([*(str(i + 1) for i in range(len(words))), *columns])
    position, n_parts = part
    in_part = ""
    if n_parts > 1:  # hashes of Spark may be negative
        in_part = f"where (hash({', '.join([*keys, *columns])}) % {n_parts} + {n_parts}) % {n_parts} = {position} "
    return f"select {words_as}, count(*) as n from {table} {joins} {in_part}group by {groups}"


def _join_codes(table: str, codes_of: Mapping[str, str]) -> list[str]:
    return [f"left join {codes} on {table}.{column} = {codes}.v" for column, codes in codes_of.items()]


def unpack_codes(table: str, words: Sequence[Mapping[str, int]]) -> str:
    """Select the words of `pack_codes`, the codes in them, and the column n of the table.

    The difference of two remainders is the code times a power of two, so the division in doubles is exact.

    >>> unpack_codes("t", [{"q0": 3, "q1": 2}])
    'select k0, cast((k0 % 32 - k0 % 4) / 4 as integer) as q0, cast((k0 % 4 - k0 % 1) / 1 as integer) as q1, n from t'
    """
    chosen = []
    for number, word in enumerate(words):
        chosen.append(f"k{number}")
        shift = sum(word.values())
        for column, bits in word.items():
            shift -= bits
            high, low = 1 << (shift + bits), 1 << shift
            chosen.append(f"cast((k{number} % {high} - k{number} % {low}) / {low} as integer) as {column}")
    return f"select {', '.join([*chosen, 'n'])} from {table}"


def select_placed_rows(
    table: str,
    boxes: str,
    codes_of: Mapping[str, str],
    missing: Mapping[str, int],
    secrets: Mapping[str, str],
    further: Sequence[str],
) -> str:
    """Select the rows of a table with the class `box` of their combination, the codes of secrets, and further columns.

    codes_of, missing : as in `pack_codes`; boxes : table (the columns as codes, box). Rows without a class are
    dropped.
    secrets : column -> dictionary table (v, code); NULL is unchanged.

    >>> select_placed_rows("t", "b", {"q0": "d0"}, {"q0": 7}, {"s0": "d"}, ["o0"])
    'select b.box as box, d.code as s0, t.o0 as o0 from t left join d0 on t.q0 = d0.v
    join b on coalesce(d0.code, 7) = b.q0 left join d on t.s0 = d.v'
    """
    cells = [f"{codes}.code as {column}" for column, codes in secrets.items()]
    cells += [f"{table}.{column} as {column}" for column in further]
    code = {column: f"coalesce({codes}.code, {missing[column]})" for column, codes in codes_of.items()}
    in_box = " and ".join(f"{code[column]} = {boxes}.{column}" for column in codes_of)
    joins = [*_join_codes(table, codes_of), f"join {boxes} on {in_box}", *_join_codes(table, secrets)]
    return f"select {', '.join([f'{boxes}.box as box', *cells])} from {table} {' '.join(joins)}"


def select_labeled_rows(
    table: str,
    labels: str,
    columns: Mapping[str, str],
    labels_of: Mapping[str, tuple[str, str]],
    further: Sequence[str],
) -> str:
    """Select the rows of `select_placed_rows` with the cells of their class and the labels of their codes.

    labels : table (box, cells of the columns as texts). columns : column -> type. labels_of : column of codes -> table
    (code, label), and its type.

    >>> select_labeled_rows("t", "l", {"q0": "bigint"}, {"s0": ("e", "string")}, [])
    'select cast(l.q0 as bigint) as q0, cast(e.label as string) as s0, t.box as box, t.s0 as code_s0 from t
    join l on l.box = t.box left join e on e.code = t.s0'
    """
    cells = [f"cast({labels}.{column} as {kind}) as {column}" for column, kind in columns.items()]
    cells += [f"cast({names}.label as {kind}) as {column}" for column, (names, kind) in labels_of.items()]
    cells += [f"{table}.{column} as {column}" for column in further]
    cells += [f"{table}.box as box", *(f"{table}.{column} as code_{column}" for column in labels_of)]
    joins = [f"join {labels} on {labels}.box = {table}.box"]
    joins += [f"left join {names} on {names}.code = {table}.{column}" for column, (names, _) in labels_of.items()]
    return f"select {', '.join(cells)} from {table} {' '.join(joins)}"


def count_formulas(query: str, columns: Sequence[str], starts: str) -> str:
    """Select for each text column the number of cells that begin with one of `starts` and are not numbers.

    >>> print(count_formulas("select * from t", ["a"], "=+"))
    select cast(sum(case when substr(a, 1, 1) in ('=', '+') and length(a) > 1 and try_cast(a as double) is null
    then 1 else 0 end) as bigint) as a from (select * from t) as cells
    """
    tests = {column: f"case when {_formula(column, starts)} then 1 else 0 end" for column in columns}
    counts = (f"cast(sum({test}) as bigint) as {column}" for column, test in tests.items())
    return f"select {', '.join(counts)} from ({query}) as cells"


def escape_formulas(query: str, texts: Sequence[str], columns: Sequence[str], starts: str) -> str:
    """Select the rows of a query with an apostrophe before cells that may be formulas. texts : text columns"""
    mark = quote_text("'")
    cells = [
        f"case when {_formula(column, starts)} then concat({mark}, {column}) else {column} end as {column}"
        if column in texts
        else column
        for column in columns
    ]
    return f"select {', '.join(cells)} from ({query}) as cells"


def _formula(column: str, starts: str) -> str:
    begins = f"substr({column}, 1, 1) in ({', '.join(map(quote_text, starts))})"
    return f"{begins} and length({column}) > 1 and try_cast({column} as double) is null"


def count_parts(table: str, part: str, *, where: str = "") -> str:
    """Select the number of rows of each value of `part`.

    >>> count_parts("t", "k0 % 8")
    'select k0 % 8 as part, count(*) as n from t group by 1'
    """
    condition = f" where {where}" if where else ""
    return f"select {part} as part, count(*) as n from {table}{condition} group by 1"


def exclude_missing(columns: Mapping[str, int]) -> str:
    """Return a condition: no column has the code of a missing cell.

    >>> exclude_missing({"q0": 3, "q1": -1})
    'q0 <> 3 and q1 <> -1'
    """
    return " and ".join(f"{column} <> {code}" for column, code in columns.items())


def rename_columns(sql: str, names: Mapping[str, str], *, mark: str = '"', order: Sequence[str] = ()) -> str:
    """Select the rows of a query under the user's column names, sorted if an order is given.

    >>> rename_columns("select 1 as q0", {"q0": "age"}, order=["q0"])
    'select q0 as "age" from (select 1 as q0) released order by q0 nulls first'
    """
    chosen = ", ".join(f"{column} as {quote_name(name, mark)}" for column, name in names.items())
    places = ", ".join(f"{column} nulls first" for column in order)
    return f"select {chosen} from ({sql}) released{f' order by {places}' if order else ''}"
