"""Items that stay in an engine give the audit that the same files give in memory, on both engines."""

import csv
import re
from dataclasses import replace

import duckdb
import numpy as np
import pytest

from tests.commands import invoke
from tests.engines import QUIET, opened
from tests.envelopes import parsed
from tests.measures.clustering.walks import shuffled
from unmask import FailedError, Partition, UnmaskError, View
from unmask.data.resources import divide_memory
from unmask.linkage.audit import JudgedGuess, Sensitivity, audit_contingencies, compare_guesses
from unmask.linkage.counting import count_contingencies, estimate_work
from unmask.linkage.label_files import LinkageFiles
from unmask.measures.clustering import Contingency, evaluate

pytestmark = [pytest.mark.filterwarnings(warning) for warning in QUIET]

ROOM = 4 << 30
ASKED = Sensitivity(beta=0.6, shuffles=3, missing="singleton", unlabeled="foreign", min_size=1)


@pytest.fixture(scope="module", params=["duckdb", pytest.param("spark://local[1]", marks=pytest.mark.cluster)])
def engine(request):
    with opened(request.param) as engine:
        yield engine


def random_files(folder, seed, *, complete=False):
    """Ids and labels with quotes, commas, blanks and letters of any script; items that only one file has; ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 120))
    tails = ("ä", "字", ",", "😀", "it's", "a b", "")
    ids = [f"{k}{rng.choice(tails)}" for k in rng.permutation(n)]
    owner = rng.integers(0, n // 5, n)
    written = {"truth": (ids, owner, "subject")}
    for name in ("near", "far"):
        label = np.where(rng.random(n) < (0.7 if name == "near" else 0.3), owner, rng.integers(0, n // 4, n))
        known_ids = ids if complete else [*ids[: n - 4], *(f"new{k}{name[0]}" for k in rng.permutation(3)), "new"]
        written[name] = (known_ids, rng.permutation(label) if name == "far" else label, "cluster")
    for name, (known_ids, label, column) in written.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["item", column])
            for index in rng.permutation(len(known_ids)):
                rows.writerow([known_ids[index], f" {'Ωz字é'[label[index] % 4]}{label[index]}"])
    return folder / "truth.csv", {name: folder / f"{name}.csv" for name in ("near", "far")}


def list_files(truth, guesses, **options):
    return LinkageFiles(
        str(truth), [str(path) for path in guesses.values()], list(guesses), "item", "subject", ["cluster"], **options
    )


def in_memory(engine, truth, guesses, settings):
    data = list_files(truth, guesses, missing=settings.missing, unlabeled=settings.unlabeled).read(engine, {})
    return audit_contingencies(compare_guesses(data.truth, data.guesses, settings), settings)


@pytest.mark.parametrize("unlabeled", ["foreign", "unknown", "drop"])
@pytest.mark.parametrize("missing", ["singleton", "drop"])
@pytest.mark.parametrize("seed", range(2))
def test_the_audit_is_that_of_the_files_in_memory(engine, tmp_path, seed, missing, unlabeled):
    truth, guesses = random_files(tmp_path, seed)
    options = {"missing": missing, "unlabeled": unlabeled}
    settings = replace(ASKED, **options)
    counted = count_contingencies(engine, *list_files(truth, guesses).locate(engine), **options, array_bytes=ROOM)
    actual, expected = audit_contingencies(counted, settings), in_memory(engine, truth, guesses, settings)
    assert actual.rows == expected.rows  # random baselines included, to the last bit
    assert repr(actual.tables) == repr(expected.tables)  # nan is nan
    assert actual.setting == expected.setting


def test_whole_numbers_in_parquet(engine, tmp_path):
    rng = np.random.default_rng(3)
    item, owner = rng.permutation(400), rng.integers(-20, 60, 400)
    cluster = np.where(rng.random(400) < 0.6, owner, rng.integers(0, 9, 400)) / 2
    for name, column, label, order in (("truth", "subject", owner, 1), ("guess", "cluster", cluster, -1)):
        rows = {"item": item[::order].copy(), column: label[::order].copy()}  # noqa: F841 - read below
        duckdb.sql("select * from rows").write_parquet(str(tmp_path / f"{name}.parquet"))
    settings = Sensitivity(shuffles=2)
    files = tmp_path / "truth.parquet", {"guess": tmp_path / "guess.parquet"}
    counted = count_contingencies(engine, *list_files(*files).locate(engine), array_bytes=ROOM)
    assert audit_contingencies(counted, settings).rows == in_memory(engine, *files, settings).rows


@pytest.mark.parametrize(
    ("content", "message"),
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
def test_a_bad_file_is_refused_as_in_memory(engine, tmp_path, content, message):
    truth, bad = tmp_path / "truth.csv", tmp_path / "bad.csv"
    truth.write_text("item,subject\na,x\nb,x\n")
    bad.write_text(content)
    with pytest.raises(UnmaskError, match=message) as error:
        count_contingencies(engine, *list_files(truth, {"bad": bad}).locate(engine), array_bytes=ROOM)
    with pytest.raises(UnmaskError) as knowledge:
        in_memory(engine, truth, {"bad": bad}, Sensitivity())
    assert type(error.value) is type(knowledge.value)


@pytest.mark.parametrize("repeated", ["truth", "guess", "other"])
def test_a_file_that_repeats_an_id_of_its_own_is_named(engine, tmp_path, repeated):
    for name, column in (("truth", "subject"), ("guess", "cluster"), ("other", "cluster")):
        rows = "a,p\n" + "b,p\nb,p\n" * (name == repeated)
        (tmp_path / f"{name}.csv").write_text(f"item,{column}\n{rows}")
    files = list_files(tmp_path / "truth.csv", {name: tmp_path / f"{name}.csv" for name in ("guess", "other")})
    with pytest.raises(UnmaskError, match=rf"{repeated}\.csv: an item id occurs twice"):
        count_contingencies(engine, *files.locate(engine), array_bytes=ROOM)


def test_an_id_that_every_row_has_does_not_multiply(engine, tmp_path):
    for name, column in (("truth", "subject"), ("guess", "cluster"), ("other", "cluster")):
        (tmp_path / f"{name}.csv").write_text(f"item,{column}\n" + "a,p\n" * 40)
    files = list_files(tmp_path / "truth.csv", {name: tmp_path / f"{name}.csv" for name in ("guess", "other")})
    with pytest.raises(UnmaskError, match="an item id occurs twice"):
        count_contingencies(engine, *files.locate(engine), array_bytes=ROOM)
    assert engine.rows("select sum(n) as n from joined")["n"].tolist() == [121]  # of 64,000


def test_files_without_a_row_are_refused(engine, tmp_path):
    for name, column in (("truth", "subject"), ("guess", "cluster")):
        (tmp_path / f"{name}.csv").write_text(f"item,{column}\n")
    files = list_files(tmp_path / "truth.csv", {"guess": tmp_path / "guess.csv"})
    with pytest.raises(UnmaskError, match="has no rows"):
        count_contingencies(engine, *files.locate(engine), array_bytes=ROOM)


def test_texts_never_meet_numbers(engine, tmp_path):
    truth, guess = tmp_path / "truth.parquet", tmp_path / "guess.csv"
    duckdb.sql("select 1 as item, 'x' as subject").write_parquet(str(truth))
    guess.write_text("item,cluster\n1,p\n")
    with pytest.raises(UnmaskError, match=r"item ids of guess\.csv are texts"):
        count_contingencies(engine, *list_files(truth, {"guess": guess}).locate(engine), array_bytes=ROOM)


def test_mismatched_files_are_refused_before_and_after_the_join(engine, tmp_path, monkeypatch):
    truth, guesses = random_files(tmp_path, 1, complete=True)
    files = list_files(truth, guesses).locate(engine)
    planned = estimate_work(engine, *files, shares=divide_memory(1 << 30))
    n = len(truth.read_text().splitlines()) - 1
    fewest, most_pairs = (int(text.replace(",", "")) for text in re.findall(r"([\d,]+) to ([\d,]+) pairs", planned)[0])
    assert planned.startswith(f"linkage of {n:,} items")
    assert fewest <= most_pairs <= n
    monkeypatch.setattr("unmask.linkage.counting.SUBJECT_BYTES", 1 << 30)
    with pytest.raises(FailedError, match=r"clusters need .* GiB of memory"):
        estimate_work(engine, *files, shares=divide_memory(1 << 30))
    monkeypatch.setattr("unmask.linkage.counting.SUBJECT_BYTES", 1)
    monkeypatch.setattr("unmask.linkage.counting.PAIR_BYTES", 1 << 30)
    with pytest.raises(FailedError, match=r"pairs of a subject and a cluster need .* GiB"):
        count_contingencies(engine, *files, array_bytes=ROOM)
    monkeypatch.setattr("unmask.linkage.counting.ITEM_BYTES", 1 << 50)
    monkeypatch.setattr("unmask.linkage.counting.PAIR_BYTES", 1)
    with pytest.raises(FailedError, match=r"may write .* to its temporary directory"):
        estimate_work(engine, *files, shares=divide_memory(1 << 30))


@pytest.mark.parametrize("bad", ["truth", "guess"])
def test_e11_a_missing_label_is_reported_before_the_plan(engine, tmp_path, bad):
    truth, guess = tmp_path / "truth.csv", tmp_path / "guess.csv"
    truth.write_text("item,subject\na,x\nb," + ("x" if bad == "guess" else "") + "\nc,x\n")
    guess.write_text("item,cluster\na,p\nb," + ("p" if bad == "truth" else "") + "\nc,p\n")
    files = list_files(truth, {"guess": guess})
    option = "unlabeled" if bad == "truth" else "missing"
    message = rf"{bad}\.csv: a label is missing at 1 item; say what they are with {option}"
    with pytest.raises(UnmaskError, match=message):
        estimate_work(engine, *files.locate(engine), shares=divide_memory(1 << 30))
    with pytest.raises(UnmaskError, match=message):
        files.read(engine, {})


def linkage_rows(truth, guess):
    return list(JudgedGuess("g", compare_guesses(truth, {"g": guess}, ASKED)["g"], ASKED).rows())


# --- guesses at random, drawn from the margins ------------------------------------------------------------------


def test_no_figure_depends_on_the_order_of_the_rows():
    rng = np.random.default_rng(5)
    owner = np.array([f"s{k}" for k in rng.integers(0, 12, 90)])
    label = np.where(rng.random(90) < 0.5, owner, rng.choice(owner, 90))
    truth, guess = Partition(owner[:80], np.arange(80)), Partition(label[5:], np.arange(5, 90))
    result = linkage_rows(truth, guess)
    for _ in range(3):
        a, b = rng.permutation(80), rng.permutation(np.arange(5, 90))
        assert linkage_rows(Partition(owner[a], a), Partition(label[b], b)) == result


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

    def mean(max_items):
        drawn = [evaluate(met.at_random(rng=rng, min_size=2, max_items=max_items), min_size=2) for _ in range(150)]
        misses = [evaluation.miss[evaluation.counted] for evaluation in drawn]
        return np.mean([len(misses_of_draw) for misses_of_draw in misses]), np.concatenate(misses).mean()

    (all_misses, all_spread), (few_misses, part) = mean(10**6), mean(100)
    assert all_misses == (np.bincount(owner) >= 2).sum()
    assert few_misses < all_misses / 5
    assert part == pytest.approx(all_spread, rel=0.03)


def test_partitions_of_a_view_keep_agreeing_at_random():
    sure = Partition([0, 0, 1, 1, 2, 2])
    met = Contingency.of(Partition([0, 0, 0, 1, 1, 1]), View([sure, Partition([1, 1, 0, 0, 0, 0])]))
    for seed in range(20):
        fine, coarse = met.at_random(rng=np.random.default_rng(seed)).tables
        merged = np.zeros((2, 2), dtype=np.int64)
        np.add.at(merged, (fine.subject, np.array([1, 0, 0])[fine.cluster]), fine.shared)
        counts = np.zeros((2, 2), dtype=np.int64)
        counts[coarse.subject, coarse.cluster] = coarse.shared
        assert np.array_equal(merged, counts)


# --- the command line -------------------------------------------------------------------------------------------


def test_the_command_gives_the_same_numbers_and_a_plan(tmp_path):
    truth, guesses = random_files(tmp_path, 4)
    arguments = ["audit", "linkage", "--truth", truth, "--missing", "singleton", "--unlabeled", "foreign", "--json"]
    arguments += [part for path in guesses.values() for part in ("--guess", path)]
    plain, dry = invoke(*arguments), invoke(*arguments, "--engine", "duckdb", "--dry-run")
    counted = invoke(*arguments, "--engine", "duckdb", "--temp-directory", tmp_path)
    assert parsed(counted.stdout) == parsed(plain.stdout)
    assert (dry.exit_code, dry.stdout) == (0, "")
    assert dry.stderr.startswith("linkage of ")
    assert dry.stderr == counted.stderr
    assert invoke(*arguments, "--dry-run").exit_code == 2


def test_a_folder_of_parquet_is_a_file_and_a_view_needs_memory(tmp_path):
    truth, guesses = random_files(tmp_path, 6, complete=True)
    (tmp_path / "many").mkdir()
    rows = duckdb.sql(f"select * from read_csv('{guesses['near']}', all_varchar=true)")  # noqa: F841 - read below
    for half in range(2):
        part = duckdb.sql(f"select * from rows where hash(item) % 2 = {half}")
        part.write_parquet(str(tmp_path / "many" / f"{half}.parquet"))
    arguments = ["audit", "linkage", "--truth", truth, "--engine", "duckdb", "--json", "--guess"]
    folder, file = (parsed(invoke(*arguments, path).stdout) for path in (tmp_path / "many", guesses["near"]))
    assert [{**row, "adversary": ""} for row in folder["results"]] == [
        {**row, "adversary": ""} for row in file["results"]
    ]
    view = tmp_path / "view.csv"
    view.write_text("item,cluster,probability\na,p,1\n")
    refused = invoke(*arguments, view)
    assert refused.exit_code == 2
    assert "a view needs the items in memory" in refused.stderr
