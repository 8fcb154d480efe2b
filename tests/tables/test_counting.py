"""A table that an engine counts has the criteria, beliefs, boxes and losses of the same table in memory."""

import csv
import json
import tracemalloc
from collections import Counter
from dataclasses import fields, replace

import duckdb
import numpy as np
import pytest

from tests.commands import invoke
from tests.engines import QUIET, count_source, opened, reading
from tests.envelopes import parsed
from unmask import FailedError, UnmaskError, audit, protect
from unmask.data import sql
from unmask.data.engine import open_engine
from unmask.data.resources import divide_memory
from unmask.economics import Attacker
from unmask.economics.audit import AttackerSource
from unmask.tables import (
    AttributeInference,
    Background,
    ClassAttack,
    Hierarchy,
    Mondrian,
    RegisterAttack,
    Table,
    criteria,
    datasets,
    utility,
)
from unmask.tables.attacks import pairing
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.table_audit import audit_tables
from unmask.tables.column import classes_of
from unmask.tables.counted_release import generalize, write_release
from unmask.tables.protections.constraints import EntropyL, TCloseness
from unmask.tables.stored import StoredTable, check_memory, estimate

pytestmark = [pytest.mark.filterwarnings(warning) for warning in QUIET]

QUASI = ("age", "zip", "Größe")
SECRETS = ("ill", "pay")
TREE = Hierarchy.from_paths([("120", "12*", "*"), ("121", "12*", "*"), ("ä", "other", "*")])
ORDER = ("flu", "gout", "ä,b", "?")
RULES = ("own", "excluded", "wildcard")
ATTACKER = Attacker(
    gain=100, access_cost=10, exploit_cost=4, fine=60, max_fines=9, detection_base=-2.0, detection_growth=0.05
)


@pytest.fixture(scope="module", params=["duckdb", pytest.param("spark://local[1]", marks=pytest.mark.cluster)])
def engine(request):
    with opened(request.param) as engine:
        yield engine


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Random people with missing, generalized, padded and quoted cells, several texts of one meaning, and ties."""
    rng = np.random.default_rng(4)
    path = tmp_path_factory.mktemp("people") / "people.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*QUASI, *SECRETS, "note"])
        for index in range(700):
            age = "" if rng.random() < 0.05 else rng.integers(20, 30)
            size = rng.choice(["20-30", "[20, 30]", "40", "NA", ""], p=[0.3, 0.3, 0.3, 0.05, 0.05])
            ill = rng.choice(ORDER[:3], p=[0.6, 0.3, 0.1])
            writer.writerow(
                [age, rng.choice([" 120", "121", "ä", "120 "]), size, ill, rng.integers(4) / 2, f"n{index}"]
            )
    return path


def roles(**options):
    return reading(**{"quasi_identifiers": QUASI, "sensitive": SECRETS, "na": ("NA",), **options})


def in_memory(path, **options):
    arguments = {"quasi_identifiers": QUASI, "sensitive": SECRETS, "na": ("NA",), **options}
    return Table.read(path, **arguments)


def close(result, expected):
    return result == expected or (
        None not in (result, expected) and abs(result - expected) <= 1e-12 * max(1, abs(expected))
    )


def alike(result, expected):
    """Beliefs in memory are single precision."""
    return result == expected or (
        None not in (result, expected) and result == pytest.approx(expected, rel=2e-6, abs=2e-6)
    )


def check_criteria(result, expected):
    for item in fields(expected):
        if item.name != "columns":
            assert close(getattr(result, item.name), getattr(expected, item.name)), item.name
    for name, column in expected.columns.items():
        for item in fields(column):
            assert close(getattr(result.columns[name], item.name), getattr(column, item.name)), (name, item.name)


@pytest.mark.parametrize("missing", RULES)
def test_combinations_and_criteria_are_those_of_the_table_in_memory(engine, people, missing):
    extra = {"missing": missing, "hierarchies": {"zip": TREE}, "orders": {"ill": ORDER}}
    table, counted = in_memory(people, **extra), count_source(engine, str(people), roles(**extra)).table
    assert np.array_equal(counted.classes.levels, table.classes.levels)
    assert np.array_equal(counted.classes.sizes, table.classes.sizes)
    assert counted.n_rows == table.n_rows == 700
    assert len(counted.counts) == len(classes_of(table.columns).sizes)
    check_criteria(criteria.evaluate(counted), criteria.evaluate(table))


def test_decimals_and_large_whole_numbers_are_the_numbers_that_they_are_in_memory(engine, tmp_path):
    path = tmp_path / "people.parquet"
    cells = "(range % 7 / 2)::decimal(8, 3) as fee, (range % 5)::ubigint as visits, (range % 3)::decimal(20, 0) as pay"
    with duckdb.connect() as connection:
        connection.execute(f"copy (select {cells} from range(60)) to '{path}' (format parquet)")
    options = {
        "quasi_identifiers": ("fee", "visits"),
        "sensitive": ("pay",),
        "types": {"visits": "number", "pay": "number"},
    }
    table, counted = Table.read(path, **options), count_source(engine, str(path), reading(**options)).table
    assert [column.levels.kind for column in counted.columns] == ["numeric"] * 3
    assert [column.levels.labels for column in counted.columns] == [column.levels.labels for column in table.columns]
    assert counted.column("fee").levels.labels[:3] == ("0", "0.5", "1")
    assert np.array_equal(counted.classes.levels, table.classes.levels)


def test_numbers_that_the_source_stores_as_text_leave_as_text(engine, tmp_path):
    path, options = tmp_path / "people.parquet", {"quasi_identifiers": ("code", "age"), "types": {"code": "number"}}
    with duckdb.connect() as connection:
        cells = "(range % 3)::varchar as code, (range % 5)::bigint as age"
        connection.execute(f"copy (select {cells} from range(60)) to '{path}' (format parquet)")
    Mondrian(k=1)(Table.read(path, **options))[0].write(tmp_path / "expected.parquet")
    reduced = count_source(engine, str(path), reading(**options))
    write_release(reduced.stored, generalize(reduced.table, Mondrian(k=1)), tmp_path / "release.parquet")
    assert sorted(rows_of(tmp_path / "release.parquet")["rows"]) == rows_of(tmp_path / "expected.parquet")["rows"]


def test_criteria_with_a_hierarchy_of_the_secret_and_without_a_secret(engine, people):
    tree = Hierarchy.from_paths([("flu", "lung", "*"), ("gout", "joint", "*"), ("ä,b", "joint", "*")])
    extra = {"sensitive": "ill", "hierarchies": {"ill": tree}}
    counted = count_source(engine, str(people), roles(**{**extra, "sensitive": ("ill",)})).table
    check_criteria(criteria.evaluate(counted), criteria.evaluate(in_memory(people, **extra)))
    without = count_source(engine, str(people), roles(sensitive=()), sensitive=False).table
    check_criteria(criteria.evaluate(without), criteria.evaluate(in_memory(people, sensitive=())))


def test_both_engines_give_the_same_audit_and_release_to_the_last_digit(engine, people, tmp_path):
    def audited(engine):
        reduced = count_source(engine, str(people), roles(sensitive=("ill",)), name="again")
        result = audit_tables({"r": reduced.table})
        path = tmp_path / "release.parquet"
        write_release(reduced.stored, generalize(reduced.table, Mondrian(k=8, l=2)), path, force=True)
        return json.dumps([row.as_dict() for row in result.rows]), dict(result.criteria), rows_of(path)

    with open_engine("duckdb") as duckdb:
        expected = audited(duckdb)
    assert audited(engine) == expected


@pytest.mark.parametrize("missing", ["own", "excluded"])
@pytest.mark.parametrize("protection", [Mondrian(k=7), Mondrian(k=5, l=2, t=0.45, constraints=(EntropyL(1.2),))])
def test_mondrian_writes_the_release_of_the_table_in_memory(engine, people, tmp_path, missing, protection):
    extra = {"missing": missing, "hierarchies": {"zip": TREE}, "sensitive": ("ill",), "keep": ("pay",)}
    table = in_memory(people, **extra)
    release, origin = protection(table, rng=np.random.default_rng(0))
    reduced = count_source(engine, str(people), roles(**extra), sensitive=protection.l is not None)
    generalized = generalize(reduced.table, protection)
    assert np.array_equal(generalized.release.classes.sizes, release.classes.sizes)
    assert np.array_equal(generalized.release.classes.levels, release.classes.levels)

    lost, expected = generalized.loss, utility.evaluate(table, release, origin)
    for item in fields(lost):
        if item.name in {"ncp", "precision"}:
            for name, value in getattr(expected, item.name).items():
                assert close(getattr(lost, item.name)[name], value), (item.name, name)
        else:
            assert close(getattr(lost, item.name), getattr(expected, item.name)), item.name

    path = tmp_path / "release.parquet"
    write_release(reduced.stored, generalized, path)
    release.write(tmp_path / "expected.parquet")
    actual, wanted = rows_of(path), rows_of(tmp_path / "expected.parquet")
    assert actual["names"] == wanted["names"]
    assert Counter(actual["rows"]) == Counter(wanted["rows"])


def rows_of(path):
    """Names and rows of a Parquet file, or of a folder of them, in order."""
    with duckdb.connect() as connection:
        read = f"{path}/*.parquet" if path.is_dir() else str(path)
        cursor = connection.execute(f"select * from read_parquet('{read}')")
        return {"names": [column[0] for column in cursor.description], "rows": cursor.fetchall()}


def test_the_order_of_a_release_says_nothing_about_the_order_of_the_source(tmp_path):
    rng = np.random.default_rng(3)
    cells = np.stack((rng.integers(20, 40, 500), rng.integers(0, 3, 500), rng.integers(0, 9, 500)), axis=1)
    bytes_of = []
    for order in (np.arange(500), rng.permutation(500)):
        path, release = tmp_path / "p.csv", tmp_path / "release.parquet"
        path.write_text("age,ill,other\n" + "\n".join(",".join(map(str, row)) for row in cells[order]) + "\n")
        with open_engine("duckdb") as engine:
            reduced = count_source(engine, str(path), reading(("age",), ("ill",), keep=("other",)))
            write_release(reduced.stored, generalize(reduced.table, Mondrian(k=10)), release, force=True)
        bytes_of.append(release.read_bytes())
        rows_written = [(row[0], row[1], row[2]) for row in rows_of(release)["rows"]]
        assert rows_written == sorted(rows_written)
    assert bytes_of[0] == bytes_of[1]


# --- adversaries -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("missing", "coverage"), [("own", 1.0), ("excluded", 1.0), ("own", 0.6), ("excluded", 0.3)])
def test_an_audit_has_the_rows_of_an_audit_in_memory(engine, people, missing, coverage):
    table, roles_given = in_memory(people, missing=missing), roles(missing=missing)
    people_known = dict(roles_given, quasi_identifiers=QUASI[:2], sensitive=())
    register = count_source(engine, str(people), people_known, name="register").table
    tables_counted = {"r": count_source(engine, str(people), roles_given).table}
    result = audit_tables(tables_counted, AuditorKnowledge(register=register, coverage=coverage))
    named = in_memory(people, missing=missing, quasi_identifiers=QUASI[:2], sensitive=())
    expected = in_engine_too(audit_tables({"r": table}, AuditorKnowledge(register=named, coverage=coverage)))
    assert len(result.rows) == len(expected.rows) == 70
    for row, second in zip(result.rows, expected.rows, strict=True):
        assert (row.adversary, row.target, row.measure, row.n, row.n_observations, row.interval) == (
            second.adversary, second.target, second.measure, second.n, second.n_observations, second.interval,
        )  # fmt: skip
        for name in ("prior", "posterior", "gain", "low", "high", "worst", "worst_observation"):
            assert alike(getattr(row, name), getattr(second, name)), (row.measure, name)
        assert row.quantiles == pytest.approx(second.quantiles, rel=2e-6, abs=2e-6)
    assert [entry.above for entry in result.distribution] == [entry.above for entry in expected.distribution]
    for risk, second in zip(*(data.table("column_risk").rows for data in (result, expected)), strict=True):
        assert all(alike(risk[name], second[name]) for name in second)
    if missing != "excluded":  # in memory 1/10 in single precision may fall on the other side of an edge
        chance = 1 / table.classes.sizes[table.classes.of_row]
        edges = np.array(result.distribution[0].edges)
        bins = np.searchsorted(edges, np.round(chance, 9)) - 1  # the upper edge is of a bin
        counts = np.bincount(bins, minlength=len(edges) - 1)
        assert result.distribution[0].shares == pytest.approx(counts / 700, abs=1e-12)
    assert [(entry.adversary, entry.target) for entry in result.distribution] == [
        (entry.adversary, entry.target) for entry in expected.distribution
    ]
    assert (result.setting, result.adversaries) == (expected.setting, expected.adversaries)
    assert set(result.assumptions) <= set(expected.assumptions)
    assert any("what columns reveal" in analysis for analysis, _ in result.not_run)
    contributions = [data.table("contributions").rows for data in (result, expected)]
    assert {row["release"] for row in contributions[0]} == {"r"}
    for contribution, second in zip(*contributions, strict=True):
        assert (contribution["target"], contribution["column"]) == (second["target"], second["column"])
        assert contribution["shapley"] == pytest.approx(second["shapley"], abs=1e-12)
    values = [data.table("values").rows for data in (result, expected)]
    assert len(values[0]) > 2
    for value, second in zip(*values, strict=True):
        assert all(value[name] == second[name] for name in ("target", "value", "people", "n"))
        assert alike(value["prior"], second["prior"])
        assert alike(value["highest"], second["highest"])


def in_engine_too(result):
    """Return the results in memory of those adversaries who attack in an engine, too."""
    adversaries = {"prosecutor", "journalist", "insider"}
    return replace(
        result,
        rows=tuple(row for row in result.rows if row.adversary in adversaries),
        distribution=tuple(entry for entry in result.distribution if entry.adversary in adversaries),
        adversaries={name: words for name, words in result.adversaries.items() if name in adversaries},
    )


def test_an_audit_takes_counted_tables_and_tables_in_memory_alike(people):
    register_roles = {"quasi_identifiers": QUASI[:2], "sensitive": ()}
    with open_engine("duckdb") as engine:
        reduced = count_source(engine, str(people), roles()).table
        counted = count_source(engine, str(people), dict(roles(), **register_roles), name="register").table
        table, register = in_memory(people), in_memory(people, **register_roles)
        result = audit({"counted": reduced, "read": table}, register=register, attacker=ATTACKER)
        with pytest.raises(UnmaskError, match="needs every row"):
            audit({"counted": reduced}, original=table)
        with pytest.raises(UnmaskError, match="the register is counted"):
            audit({"read": table}, register=counted)
    posteriors = {"counted": {}, "read": {}}
    for row in result.rows:
        posteriors[row.release][row.adversary, row.target, row.measure] = row
    assert {adversary for adversary, *_ in posteriors["counted"]} == {"prosecutor", "journalist", "insider"}
    for key, row in posteriors["counted"].items():
        assert alike(row.posterior, posteriors["read"][key].posterior), key
    assert [row["n"] for row in result.table("price_releases").rows] == [700, 700]
    assert "What people of one value share" not in dict(result.not_run)


@pytest.mark.parametrize("keep", [("pay",), ("pay", "note")])
@pytest.mark.parametrize("missing", ["own", "excluded"])
def test_the_adversary_who_knows_all_released_columns_equals_the_one_in_memory(engine, people, missing, keep):
    extra = {"missing": missing, "sensitive": ("ill",), "keep": keep, "hierarchies": {"zip": TREE}}
    result = audit_tables({"r": count_source(engine, str(people), roles(**extra)).table})
    expected = audit_tables({"r": in_memory(people, **extra)})

    def identified(audited):
        return {r.measure: r for r in audited.rows if (r.adversary, r.target) == ("acquaintance", "identity")}

    assert identified(result)
    for name, row in identified(result).items():
        expected_table = identified(expected)[name]
        for item in ("prior", "posterior", "gain", "worst", "n", "n_observations"):
            assert alike(getattr(row, item), getattr(expected_table, item)), (name, item)
        for item in ("low", "high"):  # the draws of a bootstrap go by the order of the classes, which differs
            assert (getattr(row, item) is None) == (getattr(expected_table, item) is None)
            if row.low is not None:
                assert getattr(row, item) == pytest.approx(
                    getattr(expected_table, item), abs=0.1 * (expected_table.high - expected_table.low) + 1e-6
                )
    assert result.adversaries["acquaintance"] == expected.adversaries["acquaintance"]
    assert identified(result)["success_probability"].posterior > 0.3  # more than by the quasi-identifiers alone


def test_equal_rows_are_counted_in_parts_if_they_exceed_the_memory(engine, people, monkeypatch):
    small, n_parts = replace(engine, memory_bytes=5_000), []
    pack = sql.pack_codes
    monkeypatch.setattr(sql, "pack_codes", lambda *of, part=(0, 1): n_parts.append(part[1]) or pack(*of, part=part))
    whole, in_parts = (
        count_source(of, str(people), roles(sensitive=(), keep=("pay", "ill"))).table for of in (engine, small)
    )
    assert n_parts == [1, 1, 1, 2, 2]
    assert in_parts.record_sizes.tolist() == whole.record_sizes.tolist()
    assert np.prod(whole.record_sizes, axis=0).sum() == 700


def test_a_register_is_linked_by_containment(engine, people):
    protection = Mondrian(k=9)
    release, _ = protection(in_memory(people), rng=np.random.default_rng(0))
    reduced = count_source(engine, str(people), roles())
    generalized, original = generalize(reduced.table, protection).release, reduced.table
    for coverage in (1.0, 0.6):
        belief = RegisterAttack(coverage)(generalized, Background(original))
        same_belief(belief, RegisterAttack(coverage=coverage)(release, Background(in_memory(people))))
        assert belief.row_length.min() >= 9


def same_belief(belief, expected):
    """Compare the belief of each distinct record: probabilities and numbers of equal people, whatever the numbering."""
    assert belief.n_targets == expected.n_observations
    assert belief.weight == pytest.approx(expected.observation_weight, abs=1e-12)
    assert (belief.n_candidates, belief.log_prior, belief.status) == (
        expected.n_candidates, pytest.approx(expected.log_prior), expected.status,
    )  # fmt: skip
    for target, row in enumerate(belief.observation):
        p, expected_row = (np.sort(np.exp(side.log_probability[side.indptr[index] : side.indptr[index + 1]]))
                  for side, index in ((belief, row), (expected, target)))  # fmt: skip
        shared, unlisted = (belief.n_unlisted[row], 0.0) if belief.n_unlisted[row] else (0, belief.unlisted[row])
        p = np.concatenate([p, np.full(shared, belief.unlisted[row] / max(shared, 1))])
        assert p == pytest.approx(expected_row, rel=1e-9)
        assert unlisted == pytest.approx(expected.unlisted[target], abs=1e-9)


def test_a_population_gives_the_journalist_and_the_marketer(engine, people, tmp_path):
    with people.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    sample = tmp_path / "sample.csv"
    with sample.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows[::3]])
    population = count_source(engine, str(people), roles(), name="population").table
    result = criteria.evaluate(count_source(engine, str(sample), roles()).table, population=population)
    expected = criteria.evaluate(in_memory(sample), population=in_memory(people))
    check_criteria(result, expected)
    assert expected.marketer < expected.prosecutor_average


def test_a_record_outside_the_register_has_no_candidate(tmp_path):
    (tmp_path / "release.csv").write_text("age\n30\n30\n55\n")
    (tmp_path / "register.csv").write_text("age\n30\n41\n")
    with open_engine("duckdb") as engine:
        release, register = (
            count_source(engine, str(tmp_path / f"{name}.csv"), reading(("age",)), name=name).table
            for name in ("release", "register")
        )
        belief = RegisterAttack(0.3)(release, Background(register))
        assert belief.row_length[belief.observation].tolist() == [1, 0]
        assert belief.unlisted[belief.observation] == pytest.approx([1 - 0.45, 1])
        with pytest.raises(UnmaskError, match=r"match at most 1; give a coverage of at most 0\.333"):
            RegisterAttack()(release, Background(register))


def test_counted_adult_has_its_reference_values(tmp_path):
    adult = datasets.adult()
    path = tmp_path / "adult.parquet"
    adult.write(path)
    quasi, secret = (tuple(c.name for c in columns) for columns in (adult.quasi_identifiers, adult.sensitive))
    types = {column.name: column.type for column in adult.columns}
    with open_engine("duckdb", memory_limit=200 << 20) as engine:
        counted = count_source(engine, str(path), reading(quasi, secret, types=types)).table
    result, audited = criteria.evaluate(counted), audit_tables({"adult": counted})
    check_criteria(result, criteria.evaluate(adult))
    assert (result.classes, result.unique_rows) == (6072, 3187)  # ARX and openmed agree on these
    assert audited.rows[0].posterior == pytest.approx(ClassAttack()(adult).n_observations / 30_162, abs=1e-12)
    assert len(audited.table("column_risk").rows) == 2 * len(quasi)


def test_a_register_meets_cells_that_overlap(tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    boxes = [
        f'"[{low}, {low + width}]"' for low, width in zip(rng.integers(0, 90, 60), rng.integers(1, 30, 60), strict=True)
    ]
    cells = {"release": [*boxes, "*", "7", "8", ""], "register": [*map(str, range(100)), "", '"[3, 9]"']}
    for name, ages in cells.items():
        rows = zip(rng.choice(ages, 400), rng.choice(["f", "m", ""], 400), strict=True)
        (tmp_path / f"{name}.csv").write_text("age,sex\n" + "".join(f"{age},{sex}\n" for age, sex in rows))
    monkeypatch.setattr(pairing, "CHUNK", 200)  # many turns
    with open_engine("duckdb") as engine:
        for missing in RULES[::2]:
            options = reading(("age", "sex"), missing=missing)
            release, register = (
                count_source(engine, str(tmp_path / f"{name}.csv"), options, name=name).table for name in cells
            )
            belief = RegisterAttack(0.4)(release, Background(register))
            tables = {
                name: Table.read(tmp_path / f"{name}.csv", quasi_identifiers=("age", "sex"), missing=missing)
                for name in cells
            }
            expected = RegisterAttack(coverage=0.4)(tables["release"], Background(tables["register"]))
            same_belief(belief, expected)  # some sums over matchings, some messages
            assert len(set(belief.row_length.tolist())) > 20


def test_a_counted_table_is_not_protected_in_memory(people):
    with open_engine("duckdb") as engine, pytest.raises(UnmaskError, match="it has no rows to protect"):
        protect(count_source(engine, str(people), roles()).table, k=2)


@pytest.mark.parametrize("coverage", [1.0, 0.8])
def test_the_price_is_that_of_the_table_in_memory(people, coverage):
    roles_given, register = roles(), {"quasi_identifiers": QUASI[:2], "sensitive": ()}
    motive = AttackerSource(replace(ATTACKER, gain=100 if coverage == 1 else 200))  # some are attacked, not all
    with open_engine("duckdb") as engine:
        counted = count_source(engine, str(people), roles_given).table
        result = audit_tables({"r": counted}, attacker=motive)
        counted_register = count_source(engine, str(people), dict(roles_given, **register), name="register").table
        linked = audit_tables(
            {"r": counted}, AuditorKnowledge(register=counted_register, coverage=coverage), attacker=motive
        )
    expected = in_engine_too(audit_tables({"r": in_memory(people)}, attacker=motive))
    check_price(result, expected)
    for row, second in zip(result.rows, expected.rows, strict=True):
        assert row.measure == second.measure
        assert alike(row.posterior, second.posterior), row.measure
    assert not any("campaign" in analysis for analysis, _ in result.not_run)
    evidence = AuditorKnowledge(register=in_memory(people, **register), coverage=coverage)
    check_price(linked, audit_tables({"r": in_memory(people)}, evidence, attacker=motive))


def check_price(result, expected, *, rel=1e-6):
    for name in ("price_curve", "price_tries", "price_fines", "price_parameters"):
        assert result.table(name) == expected.table(name)
    for name in ("parameters", "thresholds", "tornado_size"):
        assert result.table("price").values(name) == expected.table("price").values(name)
    assert all(0 < share < 1 for share in result.table("price_releases").values("attacked"))
    for name in ("price_releases", "price_deterrence"):
        for row, wanted in zip(result.table(name).rows, expected.table(name).rows, strict=True):
            for key, value in row.items():
                assert value == wanted[key] or np.array(value) == pytest.approx(np.array(wanted[key]), rel=rel), key


def test_random_tables_have_the_boxes_of_the_table_in_memory(tmp_path):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(20, 400)), int(rng.integers(1, 5))
        columns = {f"c{j}": rng.integers(0, rng.integers(1, 30), n) for j in range(d)}
        path = tmp_path / f"{seed}.csv"
        path.write_text(
            "\n".join([",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))])
        )
        protection = Mondrian(k=int(rng.integers(1, 8)))
        release, _ = protection(Table.read(path, quasi_identifiers=tuple(columns)), rng=rng)
        with open_engine("duckdb") as engine:
            generalized = generalize(count_source(engine, str(path), reading(tuple(columns))).table, protection)
        assert np.array_equal(generalized.release.classes.sizes, release.classes.sizes)
        assert [c.levels.labels for c in generalized.release.quasi_identifiers] == [
            c.levels.labels for c in release.quasi_identifiers
        ]


def test_a_counted_table_is_attacked_as_its_rows_are(people):
    """With a population of its own, and by the holder of a register in rows."""
    table, population = in_memory(people), in_memory(people).take(slice(0, 200))
    with open_engine("duckdb") as engine:
        counted = count_source(engine, str(people), roles()).table
    actual, expected = (
        AttributeInference("ill")(table_form, Background(population=population)) for table_form in (counted, table)
    )
    assert actual.candidate_label == expected.candidate_label
    assert np.exp(actual.log_prior) == pytest.approx(np.exp(expected.log_prior))
    same_belief(actual, expected)
    same_belief(*(RegisterAttack()(dataset, Background(table)) for dataset in (counted, table)))
    with pytest.raises(UnmaskError, match="this attack needs its rows"):
        ClassAttack()(counted, Background(table))


# --- what will fit --------------------------------------------------------------------------------------------


def estimated(path):
    with open_engine("duckdb") as engine:
        return estimate(StoredTable(engine, str(path)), QUASI, SECRETS)


def test_an_estimate_counts_rows_and_combinations_and_says_so_in_one_line(people):
    result, true = estimated(people), in_memory(people)
    distinct = len(classes_of(true.columns).sizes)
    assert result.rows == 700
    assert distinct <= result.combinations <= 1.4 * distinct + 50
    assert str(result).startswith(f"700 rows, about {result.combinations} combinations that take ")
    assert "\n" not in str(result)


def test_an_audit_that_exceeds_the_memory_is_refused_in_one_sentence(people):
    result = estimated(people)
    check_memory({"r": result}, result.n_bytes)
    with pytest.raises(
        FailedError,
        match=r"combinations of cells and their values need .* of memory, expected at most .*; raise `memory_limit`",
    ):
        check_memory({"r": result, "other": result}, result.n_bytes)
    with pytest.raises(FailedError, match=r"coarsen or leave out a column: 'age' has about 1,000,000,000 different"):
        check_memory({"r": replace(result, values={"age": 10**9})}, 1 << 30)


def peak(work):
    """Bytes of arrays and objects that a piece of work needs at once."""
    work()  # what is made once for all
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def write_numbers(path, columns):
    header = ",".join(columns)
    np.savetxt(path, np.stack([*columns.values()], axis=1), fmt="%d", delimiter=",", header=header, comments="")


def test_an_audit_takes_the_arrays_that_its_estimate_says(tmp_path):
    rng, n, path = np.random.default_rng(0), 10_000, tmp_path / "people.csv"
    quasi, secrets = ([f"{letter}{index}" for index in range(6)] for letter in "qs")
    write_numbers(path, {name: rng.integers(0, 60, n) for name in quasi + secrets})
    options = reading(tuple(quasi), tuple(secrets))
    with open_engine("duckdb") as engine:
        size = estimate(StoredTable(engine, str(path)), quasi, secrets)
        counted = count_source(engine, str(path), options).table
        peak_bytes = peak(lambda: audit_tables({"r": counted}))
    assert len(counted.counts) > 0.9 * n
    assert peak_bytes <= size.n_bytes + (1 << 20)


def test_many_values_on_both_sides_take_little_besides_their_pairs(tmp_path):
    path = tmp_path / "zips.csv"
    path.write_text("zip\n" + "\n".join(f"z{index}" for index in range(3_000)) + "\n")
    with open_engine("duckdb") as engine:
        release, register = (
            count_source(engine, str(path), reading(("zip",)), name=name).table for name in ("one", "two")
        )
    assert peak(lambda: RegisterAttack()(release, Background(register))) <= 2.2 * 3_000**2


def test_people_who_fit_many_classes_are_counted_in_little_memory(monkeypatch):
    monkeypatch.setattr(pairing, "CHUNK", 1 << 14)
    n, result = 2_000, []
    release, people = (
        Table.read({"age": ages}, quasi_identifiers="age") for ages in ([f"[0, {last}]" for last in range(n)], range(n))
    )
    peak_bytes = peak(lambda: result.append(criteria.population_sizes(release, people)))
    assert sorted(result[0]) == list(range(1, n + 1))
    assert peak_bytes <= 16 << 20


def test_a_memory_limit_that_is_too_small():
    with pytest.raises(UnmaskError, match="the memory limit is 100 MiB, expected at least 512 MiB"):
        divide_memory(100 << 20)


def test_wrong_columns_and_rows_are_one_sentence(tmp_path, people):
    with open_engine("duckdb") as engine:
        with pytest.raises(UnmaskError, match="column 'agee' is not in the source; did you mean 'age'"):
            count_source(engine, str(people), roles(quasi_identifiers=("agee",)))
        notes = count_source(engine, str(people), roles(quasi_identifiers=("note",)), name="others").table
        with pytest.raises(UnmaskError, match="share no quasi-identifier"):
            audit_tables({"r": count_source(engine, str(people), roles()).table}, AuditorKnowledge(register=notes))
        with pytest.raises(UnmaskError, match="column 'age' is given twice"):
            count_source(engine, str(people), roles(identifiers=("age",)))
        (tmp_path / "none.csv").write_text("age\n")
        with pytest.raises(UnmaskError, match="has no rows"):
            count_source(engine, str(tmp_path / "none.csv"), reading(("age",)))
        (tmp_path / "gaps.csv").write_text("age,sex\n,f\n,m\n")
        gaps = count_source(engine, str(tmp_path / "gaps.csv"), reading(("age", "sex"), missing="excluded"))
        with pytest.raises(UnmaskError, match="every row has a missing quasi-identifier"):
            criteria.evaluate(gaps.table)
        with pytest.raises(UnmaskError, match="relaxed Mondrian"):
            generalize(gaps.table, Mondrian(k=2, strict=False))
        with pytest.raises(FailedError, match="fewer than k = 701"):
            generalize(count_source(engine, str(people), roles()).table, Mondrian(k=701))
        with pytest.raises(UnmaskError, match="has no sensitive column"):
            generalize(count_source(engine, str(people), roles(sensitive=())).table, Mondrian(k=2, l=2))
        with pytest.raises(FailedError, match="cannot be satisfied"):
            generalize(count_source(engine, str(people), roles()).table, Mondrian(k=2, constraints=(EntropyL(90),)))
        protection = Mondrian(k=2, constraints=(TCloseness(0.1, "ordered"),))
        with pytest.raises(UnmaskError, match="ordered distance"):
            generalize(count_source(engine, str(people), roles(sensitive=("ill",))).table, protection)


# --- the command line -----------------------------------------------------------------------------------------


def test_the_command_line_audits_in_an_engine(people, tmp_path):
    arguments = ("audit", people, "-q", ",".join(QUASI), "-s", ",".join(SECRETS), "--na", "NA", "--json")
    expected = parsed(invoke(*arguments).stdout)
    report = tmp_path / "report.html"
    result = invoke(
        *arguments, "--engine", "duckdb", "--memory-limit", "1GiB", "--temp-directory", tmp_path, "--report", report
    )
    assert result.exit_code == 0, result.stderr
    data = parsed(result.stdout)
    for name, value in expected["tables"]["criteria"][0].items():
        assert close(data["tables"]["criteria"][0][name], value), name
    rows_printed = [(row["adversary"], row["measure"], float(row["posterior"])) for row in data["results"]]
    adversaries = [("prosecutor", ""), ("acquaintance", "identity")]
    for adversary, target in adversaries:  # the columns of the file without a role are known, as in memory
        rows = [
            row for row in expected["results"] if row["adversary"] == adversary and row["target"].startswith(target)
        ]
        assert [row[1:] for row in rows_printed if row[0] == adversary] == [
            (row["measure"], pytest.approx(float(row["posterior"]), rel=1e-6, abs=1e-6)) for row in rows
        ]
    assert {row[0] for row in rows_printed} == {adversary for adversary, _ in adversaries}
    assert "people: 700 rows" in result.stderr
    assert report.read_text(encoding="utf-8").startswith("<!")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_command_line_protects_in_an_engine_and_a_dry_run_writes_nothing(people, tmp_path):
    release = tmp_path / "release.parquet"
    command = (
        "protect",
        people,
        "-q",
        ",".join(QUASI),
        "-s",
        "ill",
        "--na",
        "NA",
        "--k",
        6,
        "-o",
        release,
        "--engine",
        "duckdb",
    )
    assert "700 rows, about" in invoke(*command, "--dry-run").stderr
    assert list(tmp_path.iterdir()) == []
    result = invoke(*command, "--json", "--identifiers", "note")
    assert result.exit_code == 0, result.stderr
    (row,) = parsed(result.stdout)["results"]
    sizes = Counter(row[:3] for row in rows_of(release)["rows"])
    assert (row["rows"], row["classes"], row["k"]) == (700, len(sizes), min(sizes.values()))
    assert row["k"] >= 6
    assert invoke(*command).exit_code == 2  # it exists


@pytest.mark.cluster
def test_both_engines_print_the_same_audit_of_adult(tmp_path):
    path, adult = tmp_path / "adult.parquet", datasets.adult()
    adult.write(path)
    quasi, secret = (",".join(c.name for c in columns) for columns in (adult.quasi_identifiers, adult.sensitive))

    def audited(engine):
        command = ("audit", path, "-q", quasi, "-s", secret, "--attacker", "case-study", "--json", "--engine", engine)
        return parsed(invoke(*command).stdout)

    with opened("spark://local[2]"):  # skips without Spark
        result = audited("spark://local[2]")
    expected = audited("duckdb")
    assert expected["tables"]["criteria"][0]["classes"] == 6072
    assert list(numbers(result)) == [
        (path, value if isinstance(value, str | None) else pytest.approx(value, rel=1e-12, abs=1e-12))
        for path, value in numbers(expected)
    ]


def numbers(value, path=()):
    """Every entry of a JSON object and where it is."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(item, (*path, key))
    else:
        yield path, value


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("--engine", "sparc"), "expected duckdb, spark"),
        (("--engine", "duckdb", "--memory-limit", "9MB"), "expected at least 512 MiB"),
        (("--engine", "duckdb", "--memory-limit", "much"), "expected a number and a unit"),
        (("--engine", "duckdb", "--original", "x.csv"), "--original needs the table in memory"),
        (("--engine", "duckdb", "--targets", "5"), "--targets needs the table in memory"),
        (("--dry-run",), "--dry-run is for tables in an engine"),
    ],
)  # fmt: skip
def test_the_command_line_says_what_an_engine_cannot_do(people, extra, words):
    result = invoke("audit", people, "-q", "age", *extra)
    assert result.exit_code == 2
    assert words in result.stderr
