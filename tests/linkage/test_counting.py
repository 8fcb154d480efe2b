"""Items that stay in an engine give the audit that the same files give in memory, on both engines."""

import csv
import re
from dataclasses import replace

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner

from tests.engines import QUIET, opened
from tests.envelopes import parsed
from tests.measures.clustering.walks import shuffled
from unmask import FailedError, Partition, UnmaskError, View
from unmask.cli import main
from unmask.data.resources import divide_memory
from unmask.linkage.audit import JudgedGuess, Sensitivity, audit_contingencies, compare_guesses
from unmask.linkage.counting import count_contingencies, estimate_work
from unmask.linkage.label_files import LinkageFiles
from unmask.measures.clustering import Contingency, evaluate

pytestmark = [pytest.mark.filterwarnings(one) for one in QUIET]

ROOM = 4 << 30
ASKED = Sensitivity(beta=0.6, shuffles=3, missing="singleton", unlabeled="foreign", min_size=1)


@pytest.fixture(scope="module", params=["duckdb", pytest.param("spark://local[1]", marks=pytest.mark.cluster)])
def engine(request):
    with opened(request.param) as engine:
        yield engine


def random_files(folder, seed, *, whole=False):
    """Ids and labels with quotes, commas, blanks and letters of any script; items that only one file has; ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 120))
    tails = ("ä", "字", ",", "😀", "it's", "a b", "")
    ids = [f"{k}{rng.choice(tails)}" for k in rng.permutation(n)]
    owner = rng.integers(0, n // 5, n)
    written = {"truth": (ids, owner, "subject")}
    for name in ("near", "far"):
        label = np.where(rng.random(n) < (0.7 if name == "near" else 0.3), owner, rng.integers(0, n // 4, n))
        known = ids if whole else [*ids[: n - 4], *(f"new{k}{name[0]}" for k in rng.permutation(3)), "new"]
        written[name] = (known, rng.permutation(label) if name == "far" else label, "cluster")
    for name, (known, label, column) in written.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["item", column])
            for at in rng.permutation(len(known)):
                rows.writerow([known[at], f" {'Ωz字é'[label[at] % 4]}{label[at]}"])
    return folder / "truth.csv", {name: folder / f"{name}.csv" for name in ("near", "far")}


def given(truth, guesses, **said):
    return LinkageFiles(
        str(truth), [str(path) for path in guesses.values()], list(guesses), "item", "subject", ["cluster"], **said
    )


def in_memory(engine, truth, guesses, asked):
    data = given(truth, guesses, missing=asked.missing, unlabeled=asked.unlabeled).read(engine, {})
    return audit_contingencies(compare_guesses(data.truth, data.guesses, asked), asked)


@pytest.mark.parametrize("unlabeled", ["foreign", "unknown", "drop"])
@pytest.mark.parametrize("missing", ["singleton", "drop"])
@pytest.mark.parametrize("seed", range(2))
def test_the_audit_is_that_of_the_files_in_memory(engine, tmp_path, seed, missing, unlabeled):
    truth, guesses = random_files(tmp_path, seed)
    said = {"missing": missing, "unlabeled": unlabeled}
    asked = replace(ASKED, **said)
    counted = count_contingencies(engine, *given(truth, guesses).locate(engine), **said, array_bytes=ROOM)
    found, expected = audit_contingencies(counted, asked), in_memory(engine, truth, guesses, asked)
    assert found.rows == expected.rows  # random baselines included, to the last bit
    assert repr(found.tables) == repr(expected.tables)  # nan is nan
    assert found.setting == expected.setting


def test_whole_numbers_in_parquet(engine, tmp_path):
    rng = np.random.default_rng(3)
    item, owner = rng.permutation(400), rng.integers(-20, 60, 400)
    cluster = np.where(rng.random(400) < 0.6, owner, rng.integers(0, 9, 400)) / 2
    for name, column, label, order in (("truth", "subject", owner, 1), ("guess", "cluster", cluster, -1)):
        rows = {"item": item[::order].copy(), column: label[::order].copy()}  # noqa: F841 - read below
        duckdb.sql("select * from rows").write_parquet(str(tmp_path / f"{name}.parquet"))
    asked = Sensitivity(shuffles=2)
    files = tmp_path / "truth.parquet", {"guess": tmp_path / "guess.parquet"}
    counted = count_contingencies(engine, *given(*files).locate(engine), array_bytes=ROOM)
    assert audit_contingencies(counted, asked).rows == in_memory(engine, *files, asked).rows


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("item,cluster\na,p\n", "1 item of the truth is not in the guess"),
        ("item,cluster\na,p\nb,p\nc,q\n", "1 item of the guess is not in the truth"),
        ("item,cluster\na,p\nb,p\nb,q\n", "an item id occurs twice"),
        ("item,cluster\na,p\nb,p\nc,q\nc,q\n", "an item id occurs twice"),
        ("item,cluster\na,p\n,p\n", "an item id is missing"),
        ("item,group\na,p\nb,p\n", "column 'cluster' is not in file 'bad.csv'; its columns are item, group"),
        ("item,cluster\n", "has no rows"),
    ],
)
def test_a_bad_file_is_refused_as_in_memory(engine, tmp_path, content, said):
    truth, bad = tmp_path / "truth.csv", tmp_path / "bad.csv"
    truth.write_text("item,subject\na,x\nb,x\n")
    bad.write_text(content)
    with pytest.raises(UnmaskError, match=said) as found:
        count_contingencies(engine, *given(truth, {"bad": bad}).locate(engine), array_bytes=ROOM)
    with pytest.raises(UnmaskError) as known:
        in_memory(engine, truth, {"bad": bad}, Sensitivity())
    assert type(found.value) is type(known.value)


def test_an_id_that_every_row_has_does_not_multiply(engine, tmp_path):
    for name, column in (("truth", "subject"), ("guess", "cluster"), ("other", "cluster")):
        (tmp_path / f"{name}.csv").write_text(f"item,{column}\n" + "a,p\n" * 40)
    files = given(tmp_path / "truth.csv", {name: tmp_path / f"{name}.csv" for name in ("guess", "other")})
    with pytest.raises(UnmaskError, match="an item id occurs twice"):
        count_contingencies(engine, *files.locate(engine), array_bytes=ROOM)
    assert engine.rows("select sum(n) as n from joined")["n"].tolist() == [121]  # of 64,000


def test_files_without_a_row_are_refused(engine, tmp_path):
    for name, column in (("truth", "subject"), ("guess", "cluster")):
        (tmp_path / f"{name}.csv").write_text(f"item,{column}\n")
    files = given(tmp_path / "truth.csv", {"guess": tmp_path / "guess.csv"})
    with pytest.raises(UnmaskError, match="has no rows"):
        count_contingencies(engine, *files.locate(engine), array_bytes=ROOM)


def test_texts_never_meet_numbers(engine, tmp_path):
    truth, guess = tmp_path / "truth.parquet", tmp_path / "guess.csv"
    duckdb.sql("select 1 as item, 'x' as subject").write_parquet(str(truth))
    guess.write_text("item,cluster\n1,p\n")
    with pytest.raises(UnmaskError, match=r"item ids of guess\.csv are texts"):
        count_contingencies(engine, *given(truth, {"guess": guess}).locate(engine), array_bytes=ROOM)


def test_what_does_not_fit_is_refused_before_and_after_the_join(engine, tmp_path, monkeypatch):
    truth, guesses = random_files(tmp_path, 1, whole=True)
    files = given(truth, guesses).locate(engine)
    planned = estimate_work(engine, *files, shares=divide_memory(1 << 30))
    n = len(truth.read_text().splitlines()) - 1
    fewest, most = (int(text.replace(",", "")) for text in re.findall(r"([\d,]+) to ([\d,]+) pairs", planned)[0])
    assert planned.startswith(f"linkage of {n:,} items")
    assert fewest <= most <= n
    monkeypatch.setattr("unmask.linkage.counting.SUBJECT_BYTES", 1 << 30)
    with pytest.raises(FailedError, match=r"clusters take .* GiB of memory"):
        estimate_work(engine, *files, shares=divide_memory(1 << 30))
    monkeypatch.setattr("unmask.linkage.counting.SUBJECT_BYTES", 1)
    monkeypatch.setattr("unmask.linkage.counting.PAIR_BYTES", 1 << 30)
    with pytest.raises(FailedError, match=r"pairs of a subject and a cluster take .* GiB"):
        count_contingencies(engine, *files, array_bytes=ROOM)
    monkeypatch.setattr("unmask.linkage.counting.ITEM_BYTES", 1 << 50)
    monkeypatch.setattr("unmask.linkage.counting.PAIR_BYTES", 1)
    with pytest.raises(FailedError, match=r"may write .* to its temporary directory"):
        estimate_work(engine, *files, shares=divide_memory(1 << 30))


@pytest.mark.parametrize("bad", ["truth", "guess"])
def test_e11_a_label_that_is_missing_is_told_before_the_plan(engine, tmp_path, bad):
    truth, guess = tmp_path / "truth.csv", tmp_path / "guess.csv"
    truth.write_text("item,subject\na,x\nb," + ("x" if bad == "guess" else "") + "\nc,x\n")
    guess.write_text("item,cluster\na,p\nb," + ("p" if bad == "truth" else "") + "\nc,p\n")
    files = given(truth, {"guess": guess})
    option = "unlabeled" if bad == "truth" else "missing"
    said = rf"{bad}\.csv: a label is missing at 1 item; say what they are with {option}"
    with pytest.raises(UnmaskError, match=said):
        estimate_work(engine, *files.locate(engine), shares=divide_memory(1 << 30))
    with pytest.raises(UnmaskError, match=said):
        files.read(engine, {})


def linkage_rows(truth, guess):
    return list(JudgedGuess("g", compare_guesses(truth, {"g": guess}, ASKED)["g"], ASKED).rows())


# --- guesses at random, drawn from the margins ------------------------------------------------------------------


def test_no_figure_depends_on_the_order_of_the_rows():
    rng = np.random.default_rng(5)
    owner = np.array([f"s{k}" for k in rng.integers(0, 12, 90)])
    label = np.where(rng.random(90) < 0.5, owner, rng.choice(owner, 90))
    truth, guess = Partition(owner[:80], np.arange(80)), Partition(label[5:], np.arange(5, 90))
    found = linkage_rows(truth, guess)
    for _ in range(3):
        a, b = rng.permutation(80), rng.permutation(np.arange(5, 90))
        assert linkage_rows(Partition(owner[a], a), Partition(label[b], b)) == found


def test_no_figure_of_a_view_depends_on_the_order_of_the_rows():
    rng = np.random.default_rng(6)
    owner, labels = rng.integers(0, 9, 60), rng.integers(0, 15, (2, 60))

    def rows(order):
        view = View([Partition(label[order], order) for label in labels], [0.6, 0.4])
        return linkage_rows(Partition(owner[::-1], np.arange(60)[::-1]), view)

    assert rows(rng.permutation(60)) == rows(np.arange(60))


def test_a_draw_from_the_margins_is_a_shuffle():
    """Both laws of the table of a subject of 2 and one of 3 items and clusters of 2 and 3: hypergeometric."""
    truth, guess = Partition([0, 0, 1, 1, 1]), Partition([0, 1, 1, 0, 1])
    met, rng, n = Contingency.of(truth, guess), np.random.default_rng(1), 2000
    drawn = np.array([len(met.at_random(rng=rng).tables[0].shared) for _ in range(n)])
    mixed = np.array([Contingency.of(truth, shuffled(guess, rng=rng)).tables[0].pieces.sum() for _ in range(n)])
    exact = {2: 1 / 10, 3: 3 / 10, 4: 6 / 10}  # C(3, 2 - k) C(2, k) / C(5, 2), k items of the first pair together
    for cells, share in exact.items():
        assert np.mean(drawn == cells) == pytest.approx(share, abs=4 * np.sqrt(share / n))
        assert np.mean(mixed == cells) == pytest.approx(share, abs=4 * np.sqrt(share / n))


def test_a_sample_of_subjects_has_the_same_mean():
    rng = np.random.default_rng(2)
    owner = np.repeat(np.arange(300), rng.integers(1, 9, 300))
    met = Contingency.of(Partition(owner), Partition(rng.integers(0, 60, len(owner))))

    def mean(most):
        drawn = [evaluate(met.at_random(rng=rng, min_size=2, max_items=most), min_size=2) for _ in range(150)]
        each = [one.miss[one.counted] for one in drawn]
        return np.mean([len(one) for one in each]), np.concatenate(each).mean()

    (every, whole), (few, part) = mean(10**6), mean(100)
    assert every == (np.bincount(owner) >= 2).sum()
    assert few < every / 5
    assert part == pytest.approx(whole, rel=0.03)


def test_partitions_of_a_view_keep_agreeing_at_random():
    sure = Partition([0, 0, 1, 1, 2, 2])
    met = Contingency.of(Partition([0, 0, 0, 1, 1, 1]), View([sure, Partition([1, 1, 0, 0, 0, 0])]))
    for seed in range(20):
        fine, coarse = met.at_random(rng=np.random.default_rng(seed)).tables
        merged = np.zeros((2, 2), dtype=np.int64)
        np.add.at(merged, (fine.subject, np.array([1, 0, 0])[fine.cluster]), fine.shared)
        told = np.zeros((2, 2), dtype=np.int64)
        told[coarse.subject, coarse.cluster] = coarse.shared
        assert np.array_equal(merged, told)


# --- the command line -------------------------------------------------------------------------------------------


def unmask(*arguments):
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), repr(done.exception)
    return done


def test_the_command_gives_the_same_numbers_and_a_plan(tmp_path):
    truth, guesses = random_files(tmp_path, 4)
    told = ["audit", "linkage", "--truth", truth, "--missing", "singleton", "--unlabeled", "foreign", "--json"]
    told += [part for path in guesses.values() for part in ("--guess", path)]
    plain, dry = unmask(*told), unmask(*told, "--engine", "duckdb", "--dry-run")
    kept = unmask(*told, "--engine", "duckdb", "--temp-directory", tmp_path)
    assert parsed(kept.stdout) == parsed(plain.stdout)
    assert (dry.exit_code, dry.stdout) == (0, "")
    assert dry.stderr.startswith("linkage of ")
    assert dry.stderr == kept.stderr
    assert unmask(*told, "--dry-run").exit_code == 2


def test_a_folder_of_parquet_is_a_file_and_a_view_needs_memory(tmp_path):
    truth, guesses = random_files(tmp_path, 6, whole=True)
    (tmp_path / "many").mkdir()
    rows = duckdb.sql(f"select * from read_csv('{guesses['near']}', all_varchar=true)")  # noqa: F841 - read below
    for half in range(2):
        part = duckdb.sql(f"select * from rows where hash(item) % 2 = {half}")
        part.write_parquet(str(tmp_path / "many" / f"{half}.parquet"))
    told = ["audit", "linkage", "--truth", truth, "--engine", "duckdb", "--json", "--guess"]
    folder, file = (parsed(unmask(*told, path).stdout) for path in (tmp_path / "many", guesses["near"]))
    assert [{**row, "adversary": ""} for row in folder["results"]] == [
        {**row, "adversary": ""} for row in file["results"]
    ]
    view = tmp_path / "view.csv"
    view.write_text("item,cluster,probability\na,p,1\n")
    refused = unmask(*told, view)
    assert refused.exit_code == 2
    assert "a view needs the items in memory" in refused.stderr
