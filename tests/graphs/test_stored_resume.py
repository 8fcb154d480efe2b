"""An attack in an engine that goes on from its last pass finds what one that was not interrupted does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.engines import QUIET, opened
from tests.graphs.test_stored import links_of, named, small_problem, write
from unmask import FailedError, UnmaskError
from unmask.graphs import KorulaLattanzi, Nar09, Rematch, stored

pytestmark = [pytest.mark.filterwarnings(one) for one in QUIET]

NAR09 = Nar09(synchronous=True)
EACH = [NAR09, Nar09(theta=0.5, synchronous=True), KorulaLattanzi(), Rematch(reach=40), Rematch(reach=40, steps=3)]


@pytest.fixture(scope="module")
def duck():
    with opened("duckdb", memory_limit=1 << 30) as engine:
        yield engine


@pytest.fixture(scope="module")
def spark():
    with opened("spark://local[2]", memory_limit=1 << 30) as engine:
        yield engine


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Links and seeds of a problem that takes several passes, as they are handed to an engine."""
    source, target, seeds = small_problem(1, n_nodes=60, degree=5.0, n_seeds=14)
    folder = tmp_path_factory.mktemp("inputs")
    return [
        write(folder / "a.parquet", links_of(source)),
        write(folder / "t.parquet", links_of(target)),
        write(folder / "s.parquet", {"u": seeds[0], "v": seeds[1]}),
    ]


def taken_in(engine, inputs):
    auxiliary, target, seeds = inputs
    networks = stored.load(engine, auxiliary, name="a"), stored.load(engine, target, name="t")
    stored.read_seeds(*networks, seeds)
    return networks


def attacked(engine, inputs, adversary, folder=None):
    """The pairs by their ids, and what else is said of them."""
    networks = taken_in(engine, inputs)
    checkpoint = None if folder is None else stored.Checkpoint.open(folder, *networks)
    mapped = stored.attack(*networks, "seeds", adversary, checkpoint=checkpoint)
    return named(*networks, mapped), mapped.n_pairs, mapped.sweeps, mapped.wedges


def interrupted(engine, inputs, adversary, folder, *, monkeypatch):
    """Attack and stop after the first pass."""
    save = stored.Checkpoint.save

    def once(*given):
        save(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(stored.Checkpoint, "save", once)
    with pytest.raises(KeyboardInterrupt):
        attacked(engine, inputs, adversary, folder)
    monkeypatch.setattr(stored.Checkpoint, "save", save)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("adversary", EACH, ids=repr)
def test_an_attack_goes_on_from_any_pass(duck, inputs, tmp_path, monkeypatch, adversary):
    save = stored.Checkpoint.save

    def saved(self, *given):
        save(self, *given)
        shutil.copytree(self.folder, tmp_path / str(len(list(tmp_path.iterdir()))))

    monkeypatch.setattr(stored.Checkpoint, "save", saved)
    whole = attacked(duck, inputs, adversary, tmp_path / "0")
    monkeypatch.setattr(stored.Checkpoint, "save", save)
    assert len(whole[2]) == len(list(tmp_path.iterdir())) - 1 > 2
    assert whole[1] > 40
    assert attacked(duck, inputs, adversary) == whole
    for after in range(1, len(whole[2]) + 1):  # after the last one nothing is left to do
        assert attacked(duck, inputs, adversary, tmp_path / str(after)) == whole


@pytest.mark.cluster
@pytest.mark.parametrize("adversary", [NAR09, Rematch(reach=40, steps=2)], ids=repr)
@pytest.mark.parametrize("first", ["duck", "spark"])
def test_an_attack_goes_on_in_the_other_engine(duck, spark, inputs, tmp_path, monkeypatch, adversary, first):
    engines = (duck, spark) if first == "duck" else (spark, duck)
    interrupted(engines[0], inputs, adversary, tmp_path, monkeypatch=monkeypatch)
    assert attacked(engines[1], inputs, adversary, tmp_path) == attacked(duck, inputs, adversary)
    assert len(list(tmp_path.iterdir())) == 2


def test_an_attack_that_has_ended_is_not_run_again(duck, inputs, tmp_path, monkeypatch):
    found = attacked(duck, inputs, NAR09, tmp_path)
    kept = contents(tmp_path)
    monkeypatch.delattr("unmask.graphs.stored.queries.added")
    assert attacked(duck, inputs, NAR09, tmp_path) == found
    assert contents(tmp_path) == kept


def test_between_mapping_and_progress_the_older_checkpoint_holds(duck, inputs, tmp_path, monkeypatch):
    """Killed when the mapping of the third pass is written and that of another is half so."""
    replace = Path.replace

    def killed(self, target):
        if self.suffix == ".part" and len(list(tmp_path.glob("*-3.parquet"))):
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        attacked(duck, inputs, NAR09, tmp_path)
    monkeypatch.setattr(Path, "replace", replace)
    kept = json.loads(next(tmp_path.glob("*.json")).read_text())
    assert len(kept["sweeps"]) == 2
    half = tmp_path / f".{kept['mapping']}-half"
    half.mkdir()
    (half / "part").touch()
    assert attacked(duck, inputs, NAR09, tmp_path) == attacked(duck, inputs, NAR09)
    assert len(list(tmp_path.iterdir())) == 2


def test_attacks_share_a_folder(duck, inputs, tmp_path, monkeypatch):
    interrupted(duck, inputs, NAR09, tmp_path, monkeypatch=monkeypatch)
    kept = contents(tmp_path)
    for other in (Nar09(theta=0.5, synchronous=True), KorulaLattanzi()):
        assert attacked(duck, inputs, other, tmp_path) == attacked(duck, inputs, other)
    assert kept.items() <= contents(tmp_path).items()
    assert len(contents(tmp_path)) == 6


def test_the_same_rows_in_another_file_are_the_same_inputs(duck, inputs, tmp_path, monkeypatch):
    """Text for numbers, in another order, each link from its other end and twice."""
    interrupted(duck, inputs, NAR09, tmp_path, monkeypatch=monkeypatch)
    rows = duck.rows(f"select u, v from read_parquet('{inputs[0]}')")
    turned = {"u": np.tile(rows["v"][::-1], 2), "v": np.tile(rows["u"][::-1], 2)}
    other = [write(tmp_path / "a.csv", turned), *inputs[1:]]
    assert attacked(duck, other, NAR09, tmp_path) == (
        {str(u): v for u, v in attacked(duck, inputs, NAR09)[0].items()},
        *attacked(duck, inputs, NAR09)[1:],
    )


def changed(columns, what):
    """Rows of links or seeds with a change that leaves their number."""
    u, v = columns["u"].copy(), columns["v"].copy()
    if what == "another end":  # the degrees stay: u-v and x-y become u-y and x-v
        other = next(i for i in range(1, len(u)) if len({u[0], v[0], u[i], v[i]}) == 4)
        v[[0, other]] = v[[other, 0]]
    elif what == "another id":
        u, v = np.where(u == u[0], 7777, u), np.where(v == u[0], 7777, v)
    else:
        v[[0, 1]] = v[[1, 0]]
    return {"u": u, "v": v}


@pytest.mark.parametrize(
    ("at", "what", "says"),
    [
        (0, "another end", "is of another auxiliary network; give"),
        (0, "another id", "is of another auxiliary network; give"),
        (1, "another end", "is of another released network; give"),
        (2, "two seeds exchanged", "is of another list of seeds; give"),
    ],
)
def test_other_inputs_are_refused_and_nothing_is_changed(duck, inputs, tmp_path, monkeypatch, at, what, says):
    folder = tmp_path / "kept"
    interrupted(duck, inputs, NAR09, folder, monkeypatch=monkeypatch)
    kept = contents(folder)
    columns = duck.rows(f"select u, v from read_parquet('{inputs[at]}') order by u, v")
    other = [*inputs]
    other[at] = write(tmp_path / "other.parquet", changed(columns, what))
    if what == "another id":  # a seed is to be in its network
        seeds = duck.rows(f"select u, v from read_parquet('{inputs[2]}') where u <> {columns['u'][0]}")
        other[2], says = write(tmp_path / "s.parquet", seeds), "another auxiliary network"
    with pytest.raises(UnmaskError, match=says):
        attacked(duck, other, NAR09, folder)
    assert contents(folder) == kept


def test_what_cannot_be_kept_or_read_is_one_sentence(duck, inputs, tmp_path):
    networks = taken_in(duck, inputs)
    (tmp_path / "file").touch()
    for wrong in (tmp_path / "file", tmp_path / "none" / "folder"):
        with pytest.raises(FailedError, match=r"checkpoint folder '\w+' cannot be made"):
            stored.Checkpoint.open(wrong, *networks)
    with pytest.raises(UnmaskError, match=r"folder 'run\[1\]' has one of"):
        stored.Checkpoint.open(tmp_path / "run[1]", *networks)
    attacked(duck, inputs, NAR09, tmp_path / "kept")
    path, mapping = next((tmp_path / "kept").glob("*.json")), next((tmp_path / "kept").glob("*.parquet"))
    mapping.unlink()
    with pytest.raises(FailedError, match=r"checkpoint 'Nar09-\w+\.json' has lost its file 'Nar09-[\w-]+\.parquet'"):
        attacked(duck, inputs, NAR09, tmp_path / "kept")
    without = {key: value for key, value in json.loads(path.read_text()).items() if key != "wedges"}
    for text in ("{", "{}", "[]", json.dumps(without)):
        path.write_text(text)
        with pytest.raises(FailedError, match=r"checkpoint 'Nar09-\w+\.json' cannot be read; remove it to begin anew"):
            stored.Checkpoint.open(tmp_path / "kept", *networks).progress(NAR09)
