"""Files of tables drawn at random: a reading is the truth, or a question. The words differ from those of the reader."""

import csv
import random

import pytest

from tests.commands import invoke
from unmask.core.errors import UnmaskError
from unmask.tables import Table
from unmask.tables.reading import column_names, read_encoded

KINDS = {
    "Alter": lambda r: str(r.randint(0, 95)),
    "m_w": lambda r: r.choice("fm"),
    "Bezirk": lambda r: f"{r.randint(1000, 99999):05d}",
    "Leiden": lambda r: r.choice(["flu", "hiv", "asthma, chronic", "none"]),
    "Lohn": lambda r: f"{r.lognormvariate(10, 1):.2f}",
    "Heimat": lambda r: r.choice(["Ulm", "Köln", "Bad Homburg"]),
    "Akte": None,
    "Dach": lambda r: str(r.randint(1, 5)),
    "Vermerk": lambda r: r.choice(["", "ok", 'said "hi"', "a; b", "x"]),
    "Besuch": lambda r: f"{r.randint(1, 28):02d}.{r.randint(1, 12):02d}.2021",
    "v1": lambda r: r.choice(["alpha", "beta", "gamma"]),
    "Q7": lambda r: str(r.randint(1, 7)),
    "Masse": lambda r: f"{r.uniform(50, 900):.1f}",
    "raucht": lambda r: r.choice(["yes", "no"]),
    "Arbeit": lambda r: f"job {r.randint(1, 40)}",
}


def drawn(seed, path):
    """Write a table; its names, None without a header, and its cells by column."""
    r = random.Random(seed)
    n = r.choice([20, 60, 100, 400])
    names = r.sample(sorted(KINDS), r.randint(2, 8))
    columns = [
        [str(10**5 + index * 7 % n) for index in range(n)]
        if KINDS[name] is None
        else [KINDS[name](r) for _ in range(n)]
        for name in names
    ]
    header, delimiter = r.random() < 0.75, r.choice([",", ",", ";", "\t", "|"])
    end, quoting = r.choice(["\n", "\n", "\r\n"]), r.choice([csv.QUOTE_MINIMAL] * 4 + [csv.QUOTE_ALL])
    with path.open("w", newline="", encoding=r.choice(["utf-8"] * 5 + ["utf-8-sig", "utf-16"])) as file:
        if r.random() < 0.2:
            file.write(f"{r.choice(['#', '%', '//'])} {r.choice(['made by x', 'see readme'])}{end}")
        writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting)
        writer.writerows([names] * header + list(zip(*columns, strict=True)))
        file.write(end if r.random() < 0.1 else "")
    return (names if header else None), columns


def read(path):
    """The names and the cells by column, as texts."""
    columns = read_encoded(path).columns
    return list(columns), [[column.texts[code] or "" for code in column.codes] for column in columns.values()]


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    """Return the outcomes of 150 drawn files: right, asked or wrong, and the seed."""
    path, states_seen = tmp_path_factory.mktemp("drawn") / "table.csv", []
    for seed in range(150):
        names, columns = drawn(seed, path)
        try:
            is_known, cells = read(path)
        except UnmaskError as error:
            states_seen.append(("asked", seed, str(error)))
            continue
        expected = names or [f"column {index + 1}" for index in range(len(columns))]
        states_seen.append(("right" if (is_known, cells) == (expected, columns) else "wrong", seed, ""))
    return states_seen


def test_a_reading_is_the_truth_or_a_question(states):
    assert not [state for state in states if state[0] == "wrong"]


def test_few_files_are_asked_about_and_a_question_shows_no_cell(states):
    questions = [state for state in states if state[0] == "asked"]

    assert len(questions) <= 0.05 * len(states)
    assert all("--header" in message for _, _, message in questions)


@pytest.mark.parametrize("seed", range(60))
def test_the_printed_options_reproduce_the_truth(tmp_path, seed):
    names, columns = drawn(seed, tmp_path / "table.csv")
    found = read_encoded(tmp_path / "table.csv", header=names is not None).columns

    assert list(found) == (names or [f"column {index + 1}" for index in range(len(columns))])
    assert [len(column.codes) for column in found.values()] == [len(column) for column in columns]


PEOPLE = "Person One,34,f,10001,cancer\nPerson Two,35,m,10002,flu\nPerson Three,36,f,10003,flu\n"


@pytest.mark.parametrize(
    "command",
    [["columns"], ["init", "-o", "new.toml"], ["audit", "-q", "age"], ["protect", "-q", "sex", "-o", "r.csv"]],
)
@pytest.mark.parametrize("text", [PEOPLE, "Ann,Ulm\nBob,Bonn\n", "Person One;cancer\n", "One,x\nTwo,y\nThree,z\n"])
def test_a_file_without_a_header_shows_no_first_person(tmp_path, monkeypatch, command, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(text)
    done = invoke(command[0], "people.csv", *command[1:])
    written = (tmp_path / "new.toml").read_text() if (tmp_path / "new.toml").exists() else ""

    for cell in ("One", "Ann", "cancer", "Ulm", "10001"):
        assert cell not in done.output + done.stderr + written


def test_header_options_are_part_of_the_document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.csv").write_text("Annabel,Ulmen\nBob,Bonn\nCidney,Mainz\n")
    question = invoke("init", "odd.csv")
    assert (question.exit_code, "--header | --no-header" in question.stderr) == (2, True)

    assert invoke("init", "odd.csv", "--no-header").exit_code == 0
    assert "header = false" in (tmp_path / "unmask.toml").read_text()
    assert column_names("odd.csv", header=True) == ["Annabel", "Ulmen"]
    assert Table.read("odd.csv", quasi_identifiers="column 2", header=False).n_rows == 3
    assert Table.read("odd.csv", quasi_identifiers="Ulmen").n_rows == 2  # a name that the user gives decides
    assert Table.read("odd.csv", quasi_identifiers="b", header=["a", "b"]).n_rows == 3


def test_comments_above_the_header_are_skipped_and_a_commented_header_is_not_one(tmp_path):
    (tmp_path / "a.csv").write_text("# made by x\n\n% twice\nage,sex\n30,f\n31,m\n")
    (tmp_path / "b.csv").write_text("#age,sex\n30,f\n31,m\n")

    assert column_names(tmp_path / "a.csv") == ["age", "sex"]
    assert Table.read(tmp_path / "a.csv", quasi_identifiers="age").n_rows == 2
    assert column_names(tmp_path / "b.csv") == ["#age", "sex"]
