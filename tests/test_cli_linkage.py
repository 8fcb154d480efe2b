"""`unmask audit linkage`: what it prints and writes, views, and bad input in one sentence."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from unmask import Partition, View
from unmask.cli import main
from unmask.measures import unlinkability
from unmask.pseudonyms import ExactMatch, datasets
from unmask.studies.linkage import Sensitivity, study_linkage

SECRET = "SECRET77"


def unmask(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result


def write(path, head, rows):
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.fixture
def truth(tmp_path):
    """Five items of one subject, three of another, one of a third."""
    owners = ["ann"] * 5 + ["bob"] * 3 + ["cy"]
    return write(tmp_path / "truth.csv", "item,subject", [(f"i{k}", f"{SECRET}-{o}") for k, o in enumerate(owners)])


@pytest.fixture
def guess(tmp_path):
    clusters = ["p", "p", "p", "p", "q", "q", "r", "r", "s"]
    return write(tmp_path / "guess.csv", "item,cluster", [(f"i{k}", f"{SECRET}-{c}") for k, c in enumerate(clusters)])


def test_the_figures_are_those_of_the_library(truth, guess):
    told = json.loads(unmask("audit", "linkage", "--truth", truth, "--guess", guess, "--json").stdout)
    found = unlinkability.evaluate(
        Partition(["a"] * 5 + ["b"] * 3 + ["c"]), Partition(list("ppppqqrrs")), beta=0.8, min_size=2
    )
    (shown,) = told["linkage"]["guesses"]
    assert shown["breached"] == found.breach_rate == 0.5
    assert told["linkage"]["counted"] == 2
    rows = {row["measure"]: row for row in told["measures"]}
    assert rows["miss"]["posterior"] == pytest.approx(found.miss[:2].mean())
    assert rows["breached"]["prior"] == shown["guessing"]


def test_a_guess_of_that_name_is_not_called_so_twice(truth, guess):
    assert "The guess \u201cguess\u201d links" in unmask("audit", "linkage", "--truth", truth, "--guess", guess).stdout


def test_the_report_shows_no_label_and_no_item(truth, guess, tmp_path):
    report = tmp_path / "out.html"
    done = unmask("audit", "linkage", "--truth", truth, "--guess", guess, "--report", report)
    assert done.exit_code == 0, done.stderr
    assert SECRET not in report.read_text() + done.stdout + done.stderr
    assert "i3" not in done.stdout
    again = unmask("audit", "linkage", "--truth", truth, "--guess", guess, "--report", report)
    assert again.exit_code == 2
    assert "exists" in again.stderr


def test_other_column_names_and_row_order(truth, guess, tmp_path):
    rows = guess.read_text().split()[1:]
    moved = write(tmp_path / "moved.csv", "record,link", [row.split(",") for row in reversed(rows)])
    renamed = write(tmp_path / "t.csv", "record,person", [row.split(",") for row in truth.read_text().split()[1:]])
    names = ("--item", "record", "--subject", "person", "--cluster", "link")
    told = json.loads(unmask("audit", "linkage", "--truth", renamed, "--guess", moved, *names, "--json").stdout)
    plain = json.loads(unmask("audit", "linkage", "--truth", truth, "--guess", guess, "--json").stdout)
    assert told["linkage"]["guesses"][0]["breached"] == plain["linkage"]["guesses"][0]["breached"]


def test_a_guess_with_probabilities_is_a_view(truth, guess, tmp_path):
    sure = [row.split(",") for row in guess.read_text().split()[1:]]
    rows = [(*row, 0.75) for row in sure] + [(item, f"z{k}", 0.25) for k, (item, _) in enumerate(sure)]
    view = write(tmp_path / "view.csv", "item,cluster,probability", rows)
    told = json.loads(unmask("audit", "linkage", "--truth", truth, "--guess", view, "--json").stdout)
    (shown,) = told["linkage"]["guesses"]
    solution = Partition(["a"] * 5 + ["b"] * 3 + ["c"])
    expected = unlinkability.evaluate(
        solution, View([Partition(list("ppppqqrrs")), Partition(range(9))], [0.75, 0.25]), min_size=2
    )
    assert shown["partitions"] == 2
    assert {row["measure"]: row["posterior"] for row in told["measures"]}["miss"] == pytest.approx(
        expected.miss[:2].mean()
    )
    assert any("a view has several" in warning for warning in told["warnings"])


def test_several_guesses_are_compared(truth, guess, tmp_path):
    other = write(tmp_path / "alone.csv", "item,cluster", [(f"i{k}", k) for k in range(9)])
    told = json.loads(unmask("audit", "linkage", "--truth", truth, "--guess", guess, "--guess", other, "--json").stdout)
    assert [shown["name"] for shown in told["linkage"]["guesses"]] == ["guess", "alone"]
    assert told["linkage"]["guesses"][1]["breached"] == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("item,cluster\ni0,p\n", "8 items of the solution"),
        ("item,cluster\n" + "".join(f"i{k},p\n" for k in range(9)) + "i0,q\n", "occurs twice"),
        ("item,cluster\n" + "".join(f"i{k},\n" for k in range(9)), "label is missing"),
        ("item,group\n" + "".join(f"i{k},p\n" for k in range(9)), "'cluster'"),
        ("item,cluster,probability\n" + "".join(f"i{k},p,0.5\n" for k in range(9)), "sum to 0.5"),
        ("item,cluster,probability\n" + "".join(f"i{k},p,often\n" for k in range(9)), "no number"),
        ("item,cluster,probability\n" + "".join(f"i{k % 9},p,0.5\n" for k in range(18)), "column `partition`"),
        ("item,cluster\n", "no rows"),
    ],
)
def test_a_bad_guess_is_one_sentence(truth, tmp_path, content, said):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    report = tmp_path / "out.html"
    done = unmask("audit", "linkage", "--truth", truth, "--guess", path, "--report", report)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not report.exists()


@pytest.mark.parametrize("option", ["--alpha", "--beta"])
@pytest.mark.parametrize("value", ["-0.1", "1.1", "nan"])
def test_shares_are_shares(truth, guess, option, value):
    done = unmask("audit", "linkage", "--truth", truth, "--guess", guess, option, value)
    assert done.exit_code == 2


def test_missing_items_stand_alone_on_request(truth, tmp_path):
    part = write(tmp_path / "part.csv", "item,cluster", [(f"i{k}", "p") for k in range(4)])
    done = unmask("audit", "linkage", "--truth", truth, "--guess", part, "--missing", "singleton", "--json")
    assert json.loads(done.stdout)["linkage"]["guesses"][0]["breached"] == 0.5


def test_a_misspelt_second_word_is_told():
    done = unmask("audit", "lincage", "--truth", "t.csv")
    assert done.exit_code == 2
    assert "did you mean 'audit linkage'" in done.stderr


def test_a_table_called_linkage_is_still_a_release(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "linkage", "age,sex", [(20 + k % 3, "fm"[k % 2]) for k in range(30)])
    assert unmask("audit", "./linkage", "-q", "age,sex", "--json").exit_code == 0


def test_exact_match_on_rldata10000_breaches_a_quarter():
    """Figures seen before with the same match: 25.9 % of 1,000 subjects breached, 25.0 % clean, none when shuffled."""
    items, truth = datasets.rldata(10000)
    guess = ExactMatch(("fname_c1", "lname_c1", "bd"))(items)
    found = study_linkage(truth, {"name_bd": guess}, Sensitivity(shuffles=3)).linkage
    assert found is not None
    assert found.counted == 1000
    assert found.guesses[0].breached == pytest.approx(0.259)
    assert found.guesses[0].clean == pytest.approx(0.25)
    assert found.guesses[0].guessing == 0
    assert found.guesses[0].whole["ari"] > 0.1
    assert np.isfinite(found.guesses[0].gini)
