"""The SQL that both engines understand, built from plain names.

The subset: plain lower-case names without quotes (an engine renames the columns of a source when it takes it in), types
bigint, integer, double and string, explicit nulls first or last, no `log`, `nullif` before a division, sums cast to
bigint, `is not distinct from` where a missing cell is to meet a missing cell. Every statement that is built here is run
on both engines by the tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_PRIME, _FIELD = 7919, 1_000_000_007


def quoted(name: str, mark: str = '"') -> str:
    """A name of a user's column, quoted; the only place where a name is. mark : the engine's own quote.

    >>> quoted("age"), quoted("a`b", "`")
    ('"age"', '`a``b`')
    """
    return mark + name.replace(mark, mark * 2) + mark


def literal(text: str) -> str:
    """A text between apostrophes.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def clean(column: str, kind: str, *, single: bool = False) -> str:
    """A column of a source in one of the three types: blanks removed from texts, NaN and empty texts made NULL.

    single : a 32-bit float, which keeps its short decimals on the way through text.

    >>> clean("x", "text")
    "nullif(trim(cast(x as string)), '')"
    """
    if kind == "text":
        return f"nullif(trim(cast({column} as string)), '')"
    if kind == "integer":
        return f"cast({column} as bigint)"
    number = f"cast({column} as string)" if single else column
    return f"nullif(cast({number} as double), cast('NaN' as double))"


def all_rows(table: str) -> str:
    """The rows n that a counting table stands for.

    >>> all_rows("t")
    'select cast(sum(n) as bigint) as n from t'
    """
    return f"select cast(sum(n) as bigint) as n from {table}"


def estimates(table: str, columns: Sequence[str], joint: Sequence[str]) -> str:
    """One row with the number of rows n, about how many combinations of the columns `joint` occur, and about how many
    values of each column.

    A combination counts with its missing cells; a value that is missing does not count. The engines estimate by
    different hash functions: a few per cent off, and not the same figures.

    >>> estimates("t", ["q0"], ["q0"])
    'select count(*) as n, approx_count_distinct((q0, 0)) as combinations, approx_count_distinct(q0) as q0 from t'
    """
    every = ", ".join([*joint, "0"])
    each = "".join(f", approx_count_distinct({column}) as {column}" for column in columns)
    return f"select count(*) as n, approx_count_distinct(({every})) as combinations{each} from {table}"


def combinations(table: str, columns: Sequence[str]) -> str:
    """The distinct rows and how often each occurs, n; a missing cell equals a missing cell.

    >>> combinations("t", ["q0", "s0"])
    'select q0, s0, count(*) as n from t group by q0, s0'
    """
    names = ", ".join(columns)
    return f"select {names}, count(*) as n from {table} group by {names}"


def totals(table: str, columns: Sequence[str], *, where: str = "", distinct: bool = False) -> str:
    """Rows n of a table that counts rows already, summed over all other columns.

    distinct : there are no other columns, so that nothing is to be summed.

    >>> totals("t", ["q0"], where="s0 > 1")
    'select q0, cast(sum(n) as bigint) as n from t where s0 > 1 group by q0'
    """
    names = ", ".join(columns)
    condition = f" where {where}" if where else ""
    if distinct:
        return f"select {names}, n from {table}{condition}"
    return f"select {names}, cast(sum(n) as bigint) as n from {table}{condition} group by {names}"


def values(table: str, column: str) -> str:
    """The values v of a column of a counting table that occur, and their rows n, ascending in v.

    >>> values("t", "q0")
    'select q0 as v, cast(sum(n) as bigint) as n from t where q0 is not null group by q0 order by v nulls last'
    """
    counted = f"{column} as v, cast(sum(n) as bigint) as n"
    return f"select {counted} from {table} where {column} is not null group by {column} order by v nulls last"


def gaps(table: str, columns: Sequence[str]) -> str:
    """One row: for each column of a table how many of its rows have a NULL there.

    >>> gaps("t", ["q0"])
    'select count(*) - count(q0) as q0 from t'
    """
    return f"select {', '.join(f'count(*) - count({column}) as {column}' for column in columns)} from {table}"


def coded(table: str, codes_of: Mapping[str, str], missing: Mapping[str, int], *, distinct: bool = False) -> str:
    """A counting table with every value replaced by its code, rows that become equal added up.

    codes_of : column -> table (v, code). missing : column -> the code of a cell that is NULL. distinct : no two values
    of a column have one code, so that nothing is to be added up.

    >>> coded("t", {"q0": "d0"}, {"q0": 7}, distinct=True)
    'select coalesce(d0.code, 7) as q0, t.n as n from t left join d0 on t.q0 = d0.v'
    """
    cells = ", ".join(f"coalesce({of}.code, {missing[column]}) as {column}" for column, of in codes_of.items())
    joins = " ".join(f"left join {of} on {table}.{column} = {of}.v" for column, of in codes_of.items())
    if distinct:
        return f"select {cells}, {table}.n as n from {table} {joins}"
    places = ", ".join(str(at + 1) for at in range(len(codes_of)))
    return f"select {cells}, cast(sum({table}.n) as bigint) as n from {table} {joins} group by {places}"


def assigned(cells: str, codes_of: Mapping[str, str], missing: Mapping[str, int], boxes: str) -> str:
    """The class `box` of every combination of cells as they are in the source.

    codes_of, missing : as in `coded`; boxes : table (the columns as codes, box). Combinations without a class are not
    among the rows.

    >>> assigned("t", {"q0": "d0"}, {"q0": 7}, "b")
    'select t.q0 as q0, b.box as box from (select distinct q0 from t) t left join d0 on t.q0 = d0.v
    join b on coalesce(d0.code, 7) = b.q0'
    """
    names, distinct = ", ".join(codes_of), ", ".join(f"{cells}.{column} as {column}" for column in codes_of)
    joins = " ".join(f"left join {of} on {cells}.{column} = {of}.v" for column, of in codes_of.items())
    same = " and ".join(f"coalesce({of}.code, {missing[column]}) = {boxes}.{column}" for column, of in codes_of.items())
    source = f"(select distinct {names} from {cells}) {cells}"
    return f"select {distinct}, {boxes}.box as box from {source} {joins} join {boxes} on {same}"


def placed(table: str, classes: str, columns: Sequence[str], codes_of: Mapping[str, str], other: Sequence[str]) -> str:
    """The rows of a table with the class `box` of their combination, the codes of their values, and other columns.

    classes : table (columns as in `table`, box); rows without a class are left out. codes_of : column -> its dictionary
    (v, code); a NULL stays NULL.

    >>> placed("t", "b", ["q0"], {"s0": "d"}, ["o0"])
    'select b.box as box, d.code as s0, t.o0 as o0 from t join b on t.q0 is not distinct from b.q0
    left join d on t.s0 = d.v'
    """
    cells = [f"{of}.code as {column}" for column, of in codes_of.items()]
    cells += [f"{table}.{column} as {column}" for column in other]
    same = " and ".join(f"{table}.{column} is not distinct from {classes}.{column}" for column in columns)
    joins = [f"join {classes} on {same}", *(f"left join {d} on {table}.{c} = {d}.v" for c, d in codes_of.items())]
    return f"select {', '.join([f'{classes}.box as box', *cells])} from {table} {' '.join(joins)}"


def dressed(
    table: str,
    labels: str,
    columns: Mapping[str, str],
    labels_of: Mapping[str, tuple[str, str]],
    other: Sequence[str],
) -> str:
    """The rows of `placed` with the cells of their class and the labels of their codes.

    labels : table (box, cells of the columns as texts). columns : column -> its type. labels_of : column of codes ->
    table (code, label) and its type.

    >>> dressed("t", "l", {"q0": "bigint"}, {"s0": ("e", "string")}, [])
    'select cast(l.q0 as bigint) as q0, cast(e.label as string) as s0, t.box as box, t.s0 as code_s0 from t
    join l on l.box = t.box left join e on e.code = t.s0'
    """
    cells = [f"cast({labels}.{column} as {kind}) as {column}" for column, kind in columns.items()]
    cells += [f"cast({of}.label as {kind}) as {column}" for column, (of, kind) in labels_of.items()]
    cells += [f"{table}.{column} as {column}" for column in other]
    cells += [f"{table}.box as box", *(f"{table}.{column} as code_{column}" for column in labels_of)]
    joins = [f"join {labels} on {labels}.box = {table}.box"]
    joins += [f"left join {of} on {of}.code = {table}.{column}" for column, (of, _) in labels_of.items()]
    return f"select {', '.join(cells)} from {table} {' '.join(joins)}"


def part(columns: Sequence[str], number: int, parts: int) -> str:
    """A condition that holds for about one in `parts` of the combinations of codes, the same for equal combinations.

    >>> part(["q0", "q1"], 2, 8)
    '(cast(q0 as bigint) * 7919 % 1000000007 + q1) % 8 = 2'
    """
    key = f"cast({columns[0]} as bigint)"
    for column in columns[1:]:
        key = f"({key} * {_PRIME} % {_FIELD} + {column})"  # below 2^63 whatever the codes
    return f"{key} % {parts} = {number}"


def known(columns: Mapping[str, int]) -> str:
    """A condition: no column has the code of its missing cell.

    >>> known({"q0": 3, "q1": -1})
    'q0 <> 3 and q1 <> -1'
    """
    return " and ".join(f"{column} <> {code}" for column, code in columns.items())


def renamed(sql: str, names: Mapping[str, str], *, mark: str = '"', order: Sequence[str] = ()) -> str:
    """The rows of a query under the names that a user reads; sorted where an order is given.

    >>> renamed("select 1 as q0", {"q0": "age"}, order=["q0"])
    'select q0 as "age" from (select 1 as q0) released order by q0 nulls first'
    """
    chosen = ", ".join(f"{column} as {quoted(name, mark)}" for column, name in names.items())
    return f"select {chosen} from ({sql}) released" + (ordered(order) if order else "")


def ordered(columns: Sequence[str]) -> str:
    """The end of a query that sorts it.

    >>> ordered(["q0", "n"])
    ' order by q0 nulls first, n nulls first'
    """
    return " order by " + ", ".join(f"{column} nulls first" for column in columns)
