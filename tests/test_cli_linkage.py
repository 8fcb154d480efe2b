"""`unmask audit linkage`: what it prints and writes, views, and bad input in one sentence."""

import numpy as np
import pytest

from tests.commands import invoke
from tests.envelopes import parsed
from tests.linkage.public_items import rldata
from unmask import Partition, View
from unmask.linkage import ExactMatch
from unmask.linkage.audit import Sensitivity, audit_contingencies, compare_guesses
from unmask.measures import clustering

SECRET = "SECRET77"


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
    data = parsed(invoke("audit", "linkage", "--truth", truth, "--guess", guess, "--json").stdout)
    met = clustering.Contingency.of(Partition(["a"] * 5 + ["b"] * 3 + ["c"]), Partition(list("ppppqqrrs")))
    result = clustering.evaluate(met, beta=0.8, min_size=2)
    (row_shown,) = data["tables"]["linkage_guesses"]
    assert row_shown["breached"] == result.breach_rate == 0.5
    assert data["tables"]["linkage"][0]["counted"] == 2
    rows = {row["measure"]: row for row in data["results"]}
    assert rows["miss"]["posterior"] == pytest.approx(result.miss[:2].mean())
    assert rows["breached"]["prior"] == row_shown["guessing"]


def test_a_guess_of_that_name_is_not_called_so_twice(truth, guess):
    assert "The guess \u201cguess\u201d links" in invoke("audit", "linkage", "--truth", truth, "--guess", guess).stdout


def test_the_report_shows_no_label_and_no_item(truth, guess, tmp_path):
    report = tmp_path / "out.html"
    done = invoke("audit", "linkage", "--truth", truth, "--guess", guess, "--report", report)
    assert done.exit_code == 0, done.stderr
    assert SECRET not in report.read_text() + done.stdout + done.stderr
    assert "i3" not in done.stdout
    again = invoke("audit", "linkage", "--truth", truth, "--guess", guess, "--report", report)
    assert again.exit_code == 2
    assert "exists" in again.stderr


def test_other_column_names_and_row_order(truth, guess, tmp_path):
    rows = guess.read_text().split()[1:]
    moved_file = write(tmp_path / "moved.csv", "record,link", [row.split(",") for row in reversed(rows)])
    renamed = write(tmp_path / "t.csv", "record,person", [row.split(",") for row in truth.read_text().split()[1:]])
    names = ("--item", "record", "--subject", "person", "--cluster", "link")
    data = parsed(invoke("audit", "linkage", "--truth", renamed, "--guess", moved_file, *names, "--json").stdout)
    plain = parsed(invoke("audit", "linkage", "--truth", truth, "--guess", guess, "--json").stdout)
    assert data["tables"]["linkage_guesses"][0]["breached"] == plain["tables"]["linkage_guesses"][0]["breached"]


def test_a_guess_with_probabilities_is_a_view(truth, guess, tmp_path):
    sure = [row.split(",") for row in guess.read_text().split()[1:]]
    rows = [(*row, 0.75) for row in sure] + [(item, f"z{k}", 0.25) for k, (item, _) in enumerate(sure)]
    view = write(tmp_path / "view.csv", "item,cluster,probability", rows)
    data = parsed(invoke("audit", "linkage", "--truth", truth, "--guess", view, "--json").stdout)
    (row_shown,) = data["tables"]["linkage_guesses"]
    solution = Partition(["a"] * 5 + ["b"] * 3 + ["c"])
    either = View([Partition(list("ppppqqrrs")), Partition(range(9))], [0.75, 0.25])
    expected = clustering.evaluate(clustering.Contingency.of(solution, either), min_size=2)
    assert row_shown["partitions"] == 2
    assert {row["measure"]: row["posterior"] for row in data["results"]}["miss"] == pytest.approx(
        expected.miss[:2].mean()
    )
    assert any("a view has several" in entry["why"] for entry in data["not_run"])


def test_breaches_by_one_partition_of_a_view_alone_are_reported(tmp_path):
    """Five subjects of four items; one partition finds four of them whole, one two, one of which is mixed, one none."""
    owners = [f"s{k // 4}" for k in range(20)]
    write(tmp_path / "truth.csv", "item,subject", [(f"i{k}", owner) for k, owner in enumerate(owners)])
    rows = []
    for p, name in ((0.5, "a"), (0.25, "b"), (0.25, "c")):
        result = {"a": {0, 1, 2, 3}, "b": {0, 1}, "c": set()}[name]
        for k in range(20):
            subject = k // 4
            cluster = f"w{subject}" if subject in result else f"i{k}"
            cluster = "w1" if (name, k) == ("b", 19) else cluster  # one item of somebody else
            rows.append((f"i{k}", cluster, p, name))
    write(tmp_path / "view.csv", "item,cluster,probability,partition", rows)
    done = invoke("audit", "linkage", "--truth", tmp_path / "truth.csv", "--guess", tmp_path / "view.csv", "--json")
    data = parsed(done.stdout)
    (row_shown,) = data["tables"]["linkage_guesses"]
    # linked together: s0, s1 by (.5 + .25) + .25 / 4 = .8125, s2, s3 by .5 + .5 / 4; whole in a, in b, in c: 4, 2, 0
    assert row_shown["breached"] == pytest.approx(2 / 5)
    assert row_shown["breached_alone"] == pytest.approx((0.5 * 4 + 0.25 * 2) / 5)
    assert row_shown["clean_alone"] == pytest.approx((0.5 * 4 + 0.25 * 1) / 5)
    (warning,) = data["warnings"]
    assert warning == (
        "An adversary may act on one partition of view: a single one breaches 50.0\u00a0% on average, all together "
        "40.0\u00a0%."
    )


def test_several_guesses_are_compared(truth, guess, tmp_path):
    single_file = write(tmp_path / "alone.csv", "item,cluster", [(f"i{k}", k) for k in range(9)])
    data = parsed(
        invoke("audit", "linkage", "--truth", truth, "--guess", guess, "--guess", single_file, "--json").stdout
    )
    assert [row["name"] for row in data["tables"]["linkage_guesses"]] == ["guess", "alone"]
    assert data["tables"]["linkage_guesses"][1]["breached"] == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "item,cluster\ni0,p\n",
            "8 items of the truth are not in the guess; say what they are with missing (--missing)",
        ),
        ("item,cluster\n" + "".join(f"i{k},p\n" for k in range(9)) + "i0,q\n", ".csv: an item id occurs twice"),
        ("item,cluster\n" + "".join(f"i{k},\n" for k in range(9)), "label is missing"),
        ("item,cluster\n" + "".join(f"I-{k},p\n" for k in range(9)), "none of the 9 items of the truth is among the 9"),
        ("item,group\n" + "".join(f"i{k},p\n" for k in range(9)), "'cluster'"),
        ("item,cluster,probability\n" + "".join(f"i{k},p,0.5\n" for k in range(9)), "sum to 0.5"),
        ("item,cluster,probability\n" + "".join(f"i{k},p,often\n" for k in range(9)), "not a number"),
        ("item,cluster,probability\n" + "".join(f"i{k % 9},p,0.5\n" for k in range(18)), "column `partition`"),
        ("item,cluster\n", "no rows"),
    ],
)
def test_a_bad_guess_is_one_sentence(truth, tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    report = tmp_path / "out.html"
    done = invoke("audit", "linkage", "--truth", truth, "--guess", path, "--report", report)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not report.exists()


@pytest.mark.parametrize("option", ["--alpha", "--beta"])
@pytest.mark.parametrize("value", ["-0.1", "1.1", "nan"])
def test_shares_are_shares(truth, guess, option, value):
    done = invoke("audit", "linkage", "--truth", truth, "--guess", guess, option, value)
    assert done.exit_code == 2


def test_missing_items_stand_alone_on_request(truth, tmp_path):
    part = write(tmp_path / "part.csv", "item,cluster", [(f"i{k}", "p") for k in range(4)])
    done = invoke("audit", "linkage", "--truth", truth, "--guess", part, "--missing", "singleton", "--json")
    assert parsed(done.stdout)["tables"]["linkage_guesses"][0]["breached"] == 0.5


def test_a_misspelled_second_word_is_reported():
    done = invoke("audit", "lincage", "--truth", "t.csv")
    assert done.exit_code == 2
    assert "did you mean 'audit linkage'" in done.stderr


def test_a_table_called_linkage_is_still_a_release(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "linkage", "age,sex", [(20 + k % 3, "fm"[k % 2]) for k in range(30)])
    assert invoke("audit", "./linkage", "-q", "age,sex", "--json").exit_code == 0


def test_exact_match_on_rldata10000_breaches_a_quarter():
    """Figures seen before with the same match: 25.9 % of 1,000 subjects breached, 25.0 % clean, none when shuffled."""
    items, truth = rldata()
    guess = ExactMatch(("fname_c1", "lname_c1", "bd"))(items)
    settings = Sensitivity(shuffles=3)
    result = audit_contingencies(compare_guesses(truth, {"name_bd": guess}, settings), settings)
    assert result.table("linkage").rows[0]["counted"] == 1000
    (row,) = result.table("linkage_guesses").rows
    assert row["breached"] == pytest.approx(0.259)
    assert row["clean"] == pytest.approx(0.25)
    assert row["guessing"] == 0
    assert result.table("linkage_scores").rows[0]["value"] > 0.1
    assert np.isfinite(row["gini"])


# --- a truth that is a labeled sample, wide files, weights and parameters of their own --------------------------------


@pytest.fixture
def wide(tmp_path):
    """Write six labeled items and two unlabeled; the later guess has all, the earlier lacks the last two."""
    rows = [
        ("i0", "ann", "p", "p", 1, 0.5), ("i1", "ann", "p", "p", 1, 0.5), ("i2", "ann", "p", "q", 0, 0.5),
        ("i3", "bob", "r", "r", 1, 0.9), ("i4", "bob", "r", "r", 1, 0.9), ("i5", "bob", "r", "", 1, 0.9),
        ("i6", "", "p", "p", 1, 0.5), ("i7", "", "s", "", 1, 0.5),
    ]  # fmt: skip
    return write(tmp_path / "wide.csv", "item,owner,late,early,w,a", rows)


def audit(wide, *options):
    command = ("audit", "linkage", "--truth", wide, "--subject", "owner", "--guess", wide, "--shuffles", 1, *options)
    done = invoke(*command, "--json")
    if done.exit_code:
        return done
    data = parsed(done.stdout)
    rows = {(row["adversary"], row["measure"]): row for row in data["results"]}
    tables = {name.removeprefix("linkage_"): table for name, table in data["tables"].items()}
    return {**tables["linkage"][0], "guesses": tables["guesses"], "scores": tables["scores"]}, rows


def test_e6_the_tool_asks_what_unlabeled_items_are(wide):
    done = audit(wide, "--cluster", "late")
    assert done.exit_code == 2
    assert "wide.csv: a label is missing at 2 items; say what they are with unlabeled (--unlabeled)" in done.stderr
    for choice in ("foreign", "unknown", "drop"):
        assert choice in done.stderr


@pytest.mark.parametrize(
    ("unlabeled", "breached", "clean"), [("foreign", 1, 0.5), ("unknown", (1, 1), (0.5, 1)), ("drop", 1, 1)]
)
def test_e6_what_unlabeled_items_are_decides_the_clean_breaches(wide, unlabeled, breached, clean):
    linkage, rows = audit(wide, "--cluster", "late", "--unlabeled", unlabeled)
    assert (linkage["items"], linkage["subjects"], linkage["counted"]) == (6, 2, 2)
    (row_shown,) = linkage["guesses"]
    assert {row["score"]: row["value"] for row in linkage["scores"]}[
        "ARI"
    ] == 1  # of the labeled items alone; never "as if little were linked"
    if unlabeled == "unknown":
        assert (row_shown["breached_at_least"], row_shown["breached"]) == breached
        assert (row_shown["clean_at_least"], row_shown["clean"]) == clean
        row = rows["wide", "clean_breach"]
        assert (row["low"], row["high"], row["posterior"]) == (*clean, clean[1])
        assert row["interval"].startswith("least and most")
        assert ("wide", "risk_slope") not in rows
    else:
        assert (row_shown["breached"], row_shown["clean"]) == (breached, clean)
        assert rows["wide", "clean_breach"]["posterior"] == clean


def test_e6_the_page_says_what_is_open(wide, tmp_path):
    page = tmp_path / "out.html"
    command = ("audit", "linkage", "--truth", wide, "--subject", "owner", "--guess", wide, "--cluster", "late")
    done = invoke(*command, "--unlabeled", "unknown", "--report", page)
    text = page.read_text().replace("\u00a0", " ")
    assert "50.0 % to 100 % are breached without a single item of others" in done.stdout.replace("\u00a0", " ")
    assert "fewer than 10 items of a guess are not in the truth and may belong to its subjects or to others." in text
    assert "The truth lacks fewer than 10 items of the guess: their owners are unknown." in done.stdout
    assert "By merges" not in text
    assert not any(word in text for word in (">nan<", "undefined %"))


def test_e6_the_owner_may_ask_for_the_exact_number_of_unlabeled_items(wide, tmp_path):
    command = ("audit", "linkage", "--truth", wide, "--subject", "owner", "--guess", wide, "--cluster", "late")
    page = tmp_path / "out.html"
    done = invoke(*command, "--unlabeled", "unknown", "--report", page, "--smallest-shown", 1)
    assert "The truth lacks 2 items of the guess: their owners are unknown." in done.stdout
    assert "2 items of a guess are not in the truth" in page.read_text()


def test_e6_two_dates_are_compared_on_the_same_items(wide):
    options = ("--cluster", "late", "--cluster", "early", "--unlabeled", "drop", "--beta", 0.9)
    as_singletons, _ = audit(wide, *options, "--missing", "singleton")
    dropped, _ = audit(wide, *options, "--missing", "drop")
    # bob's third item was not out yet: taken for one left alone it looks as if his risk had risen
    assert [guess["breached"] for guess in as_singletons["guesses"]] == [1, 0]
    assert [guess["breached"] for guess in dropped["guesses"]] == [1, 0.5]
    assert dropped["items"] == 5


def test_e11_every_column_of_a_wide_file_is_a_guess(wide):
    linkage, _ = audit(wide, "--cluster", "*e*ly", "--cluster", "late", "--unlabeled", "drop", "--missing", "drop")
    assert [guess["name"] for guess in linkage["guesses"]] == ["late", "early"]
    all_views, _ = audit(wide, "--cluster", "*", "--unlabeled", "drop", "--missing", "drop")
    assert {guess["name"] for guess in all_views["guesses"]} == {
        "late",
        "early",
        "w",
        "a",
    }  # not the item, nor the truth
    done = audit(wide, "--cluster", "late", "--cluster", "early", "--unlabeled", "drop")
    assert "a label is missing at 2 items; say what they are with missing (--missing)" in done.stderr


def test_e9_weights_and_parameters_of_their_own_come_from_columns(wide):
    options = ("--cluster", "early", "--unlabeled", "drop", "--missing", "singleton", "--beta", 0.8)
    plain, _ = audit(wide, *options)
    linkage, rows = audit(wide, *options, "--own", "weight=w", "--own", "alpha=a")
    truth = Partition(["ann"] * 3 + ["bob"] * 3)
    guess = Partition(["p", "p", "q", "r", "r", "z"])
    document = {"weights": [1, 1, 0, 1, 1, 1], "own": {"alpha": [0.5, 0.9]}}
    result = clustering.evaluate(clustering.Contingency.of(truth, guess, **document), beta=0.8)
    assert plain["guesses"][0]["breached"] == 0
    assert linkage["guesses"][0]["breached"] == result.breach_rate == 0.5  # what ann minds least is not linked
    assert linkage["own"] == "weight, alpha"
    for measure, values in (
        ("risk_slope", result.risk_slope),
        ("miss", result.miss),
        ("linked_now", result.linked_now),
    ):
        assert rows["wide", measure]["posterior"] == pytest.approx(values.mean())


def test_assumptions_name_the_values_that_come_from_columns(truth, guess, tmp_path):
    own = write(
        tmp_path / "own.csv",
        "item,subject,alpha,beta,wanted",
        [(f"i{k}", owner, 0.5, 0.9, int(owner == "ann")) for k, owner in enumerate(["ann"] * 5 + ["bob"] * 3 + ["cy"])],
    )

    def assumptions(source, *options):
        done = invoke("audit", "linkage", "--truth", source, "--guess", guess, "--json", *options)
        result = parsed(done.stdout)
        return [row["assumption"] for row in result["tables"]["assumptions"]][:3]

    assert assumptions(truth, "--beta", 0.999) == [
        "A subject is breached if one cluster holds at least 99.9\u00a0% of the items of the subject.",
        "Missing items weigh 0.5 and foreign ones 0.5.",
        "Foreign items are unwelcome to the subjects.",
    ]
    values = (f"{name}={name}" for name in ("alpha", "beta", "wanted"))
    assert assumptions(own, *(word for value in values for word in ("--own", value))) == [
        "A subject is breached if one cluster holds its own share of the items of the subject.",
        "Missing items weigh their subject's alpha and foreign ones the rest.",
        "Foreign items are welcome to some subjects, which the truth names.",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--own", "alpha=w"), "alpha differs between items of a subject"),
        (("--own", "weight=owner"), "weight has a cell that is not a number"),
        (("--own", "beta=w"), "expected numbers above 0 up to 1"),
        (("--own", "gamma=w"), "'gamma' is not a value of items or subjects; expected weight, alpha, beta, wanted"),
        (("--own", "weight=nix"), "column 'nix' is not in file"),
        (("--own", "weight=w", "--unlabeled", "foreign"), "have no weight there"),
        (("--own", "weight=w", "--engine", "duckdb"), "--own needs the items in memory"),
    ],
)
def test_e9_what_cannot_be_is_one_sentence(wide, options, message):
    arguments = ("--cluster", "late", *(() if "--unlabeled" in options else ("--unlabeled", "drop")), *options)
    done = audit(wide, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_e12_the_choices_are_named_as_options_and_an_impossible_partition_is_reported(truth, guess, tmp_path):
    part = write(tmp_path / "part.csv", "item,cluster", [("i0", "p")])
    assert "--missing" in invoke("audit", "linkage", "--truth", truth, "--guess", part).stderr
    rows = [(*row.split(","), p, p) for row in guess.read_text().split()[1:] for p in (0, 1)]
    view = write(tmp_path / "view.csv", "item,cluster,probability,partition", rows)
    done = invoke("audit", "linkage", "--truth", truth, "--guess", view)
    assert "partition 0 of the view has probability 0" in done.stderr


def test_the_subjects_that_foreign_items_come_from_are_counted(truth, tmp_path):
    one_block = write(tmp_path / "block.csv", "item,cluster", [(f"i{k}", "p") for k in range(9)])
    data = parsed(invoke("audit", "linkage", "--truth", truth, "--guess", one_block, "--json").stdout)
    rows = {row["measure"]: row["posterior"] for row in data["results"]}
    assert rows["foreign_subjects"] == 2  # of ann: bob and cy; of bob: ann and cy
    expected = [2 ** -sum(p * np.log2(p) for p in shares) for shares in ((3 / 4, 1 / 4), (5 / 6, 1 / 6))]
    assert rows["effective_foreign_subjects"] == pytest.approx(np.mean(expected))
