"""Samples, dialects, headers, and the account of every line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.core.errors import AmbiguousInput
from unmask.data.databases import open_database
from unmask.data.dialects import DELIMITER_NAMES, FIRST_LINES, read_sample, score_dialects
from unmask.data.encodings import decode_text
from unmask.data.readings import (
    COMMENT_BELOW,
    LineAccount,
    Reading,
    account_lines,
    check_comments,
    read_rows,
    refuse_comments,
    score_header,
)

KNOWN = {"name", "city", "count"}.__contains__


def dialects(tmp_path, text, **options):
    file = tmp_path / "file.txt"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    sample = read_sample(decode_text(file, str(tmp_path)), **options)
    return score_dialects(sample, is_known=KNOWN)


def choose_dialect(tmp_path, text, **options):
    return dialects(tmp_path, text, **options)[0]


def account_for_lines(connection, reading, folder) -> LineAccount:
    """Read all rows, and account for every line, as the reader of edge lists does."""
    check_comments(reading.dialect)
    select = f"select count(*) as n, count_if(regexp_matches(c0, '{COMMENT_BELOW}')) as marked from rows"
    counts = read_rows(connection, reading, select, folder)
    if counts["marked"][0]:
        refuse_comments(reading)
    return account_lines(reading, int(counts["n"][0]))


def verified(tmp_path, text, *, header=False, **options):
    reading = Reading(choose_dialect(tmp_path, text, **options), header)
    with open_database() as connection:
        return account_for_lines(connection, reading, str(tmp_path))


CITIES = ("1\t41\tBonn\n2\t31\tUlm, Germany\n3\t32\tBonn\n", "\t", 3)


@pytest.mark.parametrize(
    ("text", "delimiter", "width"),
    [
        CITIES,
        ("Ann Lee\tBob Roe\nCid Lee\tDora Moe\n", "\t", 2),
        ("a;1,5\nb;2,5\nc;3,5\n", ";", 2),
        ('"Doe, 7","Doe, 8"\n"Doe, 8","Doe, 9"\n', ",", 2),
        ("'a,b','c'\n'd,e','f'\n", ",", 2),
        ("1  2\n 2 3\n", " ", 2),
        ("a->b\nb->c\n", "->", 2),
        ("1|2;3|x\n2|3;4|y\n", "|", 3),
    ],
)
def test_the_delimiter_is_the_one_that_explains_all_lines(tmp_path, text, delimiter, width):
    dialect = choose_dialect(tmp_path, text)
    assert (dialect.delimiter, dialect.width, dialect.misfits) == (delimiter, width, ())


@pytest.mark.parametrize(
    ("text", "comments", "n_rows"),
    [
        ("# made by x\n#1 #2\n#2 #3\n#3 #1\n", 1, 3),
        ("// x\n; y\na b\nb c\n", 2, 2),
        ("#a #b\n#b #c\n#c #a\n#a #d\n#d #b\n", 0, 5),
        ("source,target\nu1,#u2\n%u3,u1\n", 0, 3),
    ],
)
def test_comments_stand_above_the_first_row_only(tmp_path, text, comments, n_rows):
    dialect = choose_dialect(tmp_path, text, comment="# " if text.startswith("# made") else None)
    assert (len(dialect.sample.comments), len(dialect.rows)) == (comments, n_rows)


@pytest.mark.parametrize("note", ["brackets", "braces"])
def test_brackets_and_attributes_around_lines_are_cut_off(tmp_path, note):
    template = "(u{0}, u{1})" if note == "brackets" else "u{0} u{1} {{'weight': 1, 'color': 'a b'}}"
    lines = [template.format(k, k + 1) for k in range(50)]
    dialect = choose_dialect(tmp_path, "\n".join(lines))
    assert dialect.width == 2
    assert note in dialect.sample.note
    assert verified(tmp_path, "\n".join(lines)).n_rows == 50
    with pytest.raises(AmbiguousInput, match="line 4 "):
        choose_dialect(tmp_path, "\n".join([*lines[:3], "u1 u2", *lines[3:]]))


@pytest.mark.parametrize(
    ("text", "is_header"),
    [
        ("name,count\nann,1\nbob,2\ncid,3\n", True),
        ("Beruf;Alter\nKoch;31\nKoch;44\nArzt;31\n", True),
        ("ann,1\nbob,2\nann,3\nbob,4\n", False),
        ("1,2\n2,3\n3,1\n", False),
        ("city,2001,2002,2003\nUlm,1,2,3\nBonn,4,5,6\nUlm,7,8,9\n", True),
    ],
)
def test_the_first_row_is_a_header_by_what_is_below_it(tmp_path, text, is_header):
    odds, _ = score_header(choose_dialect(tmp_path, text).rows, KNOWN)
    assert odds >= 2 if is_header else odds <= -2


def test_every_line_is_accounted_for(tmp_path):
    text = "# made by x\n\nname,city\nann,Ulm\n\nbob,Bonn\n   \ncid,Ulm\n\n"
    account = verified(tmp_path, text, header=True)
    assert str(account) == "3 of 9 lines are rows; ignored: 1 comment, 1 header, 4 blank"
    quoted = verified(tmp_path, 'name,city\nann,"Ulm\nBonn"\nbob,Ulm\n', header=True)
    assert (quoted.n_rows, quoted.n_continued) == (2, 1)
    skipped = verified(tmp_path, "a stray line, here, too\nname,city\nann,Ulm\n", header=True, skip_lines=1)
    assert (skipped.n_rows, skipped.n_skipped) == (1, 1)


@pytest.mark.parametrize("damage", ["ann", "ann,Ulm,1", '"ann,Ulm', '"ann"x,Ulm', "ann\x00,Ulm", "# ann,Ulm"])
@pytest.mark.parametrize("place", [2, FIRST_LINES + 500])
def test_a_damaged_line_is_refused_by_its_number(tmp_path, damage, place):
    lines = ["name,city", *(f"p{k},Ulm" for k in range(FIRST_LINES + 1000))]
    lines[place] = damage
    with pytest.raises(Exception, match=f"line {place + 1} ") as refused:
        verified(tmp_path, "\n".join(lines), header=True)
    assert refused.value.exit_code == 2
    assert "ann" not in str(refused.value)


def test_a_comment_below_the_first_row_is_a_question_with_two_answers(tmp_path):
    text = "ann,Ulm\n# bob,Ulm\ncid,Bonn\n"
    with pytest.raises(AmbiguousInput, match="line 2 ") as refused:
        verified(tmp_path, text)
    assert refused.value.options == ("--comment '#'", "--comment none")
    assert verified(tmp_path, text, comment="none").n_rows == 3
    account = verified(tmp_path, text, comment="#")
    assert (account.n_rows, account.n_comments, account.n_blank) == (2, 1, 0)


def test_a_blank_delimiter_is_any_run_of_blanks(tmp_path):
    lines = [f"{k} {k + 1}" for k in range(FIRST_LINES + 10)]
    lines[-1] = "  7\t  8 "
    dialect = choose_dialect(tmp_path, "\n".join(lines))
    with open_database() as connection:
        rows = read_rows(connection, Reading(dialect, False), "select c0, c1 from rows", str(tmp_path))
    assert (rows["c0"][-1], rows["c1"][-1], len(rows["c0"])) == ("7", "8", len(lines))


cells = st.text(st.characters(categories=["L", "N", "S"]) | st.sampled_from(";,|\t #%-"), max_size=6).map(
    lambda text: f"x{text.strip()}"
)


@settings(max_examples=25)
@given(
    rows=st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8),
    delimiter=st.sampled_from(sorted(set(DELIMITER_NAMES) - {" "})),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_cells_survive_any_dialect(tmp_path_factory, rows, delimiter, end, encoding):
    folder = tmp_path_factory.mktemp("dialects")
    text = end.join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)
    (folder / "a.txt").write_bytes(text.encode(encoding))
    sample = read_sample(decode_text(folder / "a.txt", str(folder)), comment="none")
    (dialect,) = [dialect for dialect in score_dialects(sample, delimiter=delimiter) if dialect.quote == '"']
    assert dialect.rows == tuple(rows)
    with open_database() as connection:
        result = read_rows(connection, Reading(dialect, False), "select * from rows", str(folder))
        account = account_for_lines(connection, Reading(dialect, False), str(folder))
    assert list(zip(*(result[f"c{place}"] for place in range(3)), strict=True)) == rows
    assert account.n_rows == len(rows)


def test_names_of_many_columns_over_a_few_rows_are_no_certain_row():
    names = [f"{letter}{second_letter}" for letter in "abcdef" for second_letter in "vwxyz"]
    rows = [[f"{name} {number}" for name in names] for number in ("one", "two", "three")]
    odds, _ = score_header([names, *rows], lambda _: False)
    assert odds > -2.0
