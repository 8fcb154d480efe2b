"""The page of a study shows its results, what is missing, and the Pareto front, in one file."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner

from tests.envelopes import parsed
from tests.reports.test_html import SCRIPT, Page, row, sections
from unmask.cli import main
from unmask.core.errors import UnmaskError
from unmask.data.databases import open_database
from unmask.policy.condition import CONTROL_FIELDS, QUANTILES
from unmask.render.page import render
from unmask.results import Fact, Result, StudyRow
from unmask.results.words import shorten_names
from unmask.studies.facts import StudyFacts, Tradeoff
from unmask.studies.parameters import list_families
from unmask.studies.results_file import COLUMNS, RESULTS, MissingCells
from unmask.studies.sentences import describe_dataset
from unmask.studies.study_result import make_result, read_facts, read_result

NBSP = "\u00a0"
ABSENT = (*CONTROL_FIELDS, "n_people", "n_drawn", "n_judged", *QUANTILES)
NUMBERS = ("prior", "posterior", "gain", "low", "high", "worst", "seconds", *ABSENT)
# success of A and of B, and utility: "k=10" and "k=5" are as good for B, but "k=5" keeps more and is worse for A
WORLD = {"original": (0.9, 0.7, 1.0), "M k=3": (0.3, 0.6, 0.9), "M k=5": (0.2, 0.5, 0.8), "M k=10": (0.1, 0.55, 0.7)}


def measured(protection, adversary, target, value, dataset="census", **changes) -> StudyRow:
    measure = changes.pop("measure", "realized_success")
    seeds = changes.pop("seeds", 3)
    changes = {"low": max(0.0, value - 0.02), "high": min(1.0, value + 0.02), "interval": "seeds"} | changes
    prior = changes.pop("prior", 0.05)
    given = row(protection, adversary, target, measure, prior=prior, posterior=value, n=300, worst=1.0, **changes)
    return StudyRow(**vars(given), dataset=dataset, seeds=seeds)


def useful(protection, adversary, value, dataset="census", unit="share") -> StudyRow:
    changes = {"unit": unit, "low": None, "high": None}
    return measured(protection, adversary, "release", value, dataset, measure="utility", **changes)


def rows(world=WORLD) -> tuple[StudyRow, ...]:
    return tuple(
        item
        for name, (named, told, kept) in world.items()
        for item in (
            measured(name, "anna", "identity", named),
            measured(name, "bert", "diagnosis", told),
            useful(name, "anna", kept),
            useful(name, "bert", kept),
        )
    )


def facts(given=None, missing=(), **changes) -> StudyFacts:
    given = rows() if given is None else given
    values = {
        "descriptions": {("adversaries", "anna"): "tables.ClassAttack: knows age"},
        "unprotected": frozenset({"original"}),
        "seeds": (0, 1, 2),
    }
    return StudyFacts(rows=tuple(given), gaps=tuple(missing), **({"title": "Example"} | values | changes))


def study(given=None, missing=(), *, reproduce=None, **changes) -> Result:
    reproduce = {"Run": "unmask study plan.toml -o results"} if reproduce is None else reproduce
    return make_result(facts(given, missing, **changes), reproduce)


def findings(study_facts: StudyFacts) -> list[tuple[str, list[str]]]:
    """Return the sentences about each dataset."""
    return [(dataset, describe_dataset(study_facts, dataset)) for dataset in study_facts.datasets]


def tradeoffs(given) -> tuple[Tradeoff, ...]:
    return facts(given).tradeoffs


@cache
def page() -> str:
    return render(study())


def text(data: Result) -> str:
    return Page(render(data)).text.replace(NBSP, " ")


def table(page: str, caption: str) -> list[list[str]]:
    body = next(one for one in re.findall(r"<table.*?</table>", page, re.DOTALL) if caption in one)
    lines = re.findall(r"<tr[ >].*?</tr>", body, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in lines]
    return [[re.sub("<[^>]+>", "", cell).replace(NBSP, " ") for cell in line] for line in cells]


# --- the page --------------------------------------------------------------------------------------------------------


def test_the_same_rows_give_the_same_bytes():
    assert render(study()) == page()


def test_it_needs_nothing_from_elsewhere_and_runs_nothing_but_its_charts():
    assert not re.search(r"https?:|//[a-z]|url\((?!#)|@import|\bsrc=|\bhref=\"(?!#)", page())
    assert not Page(page()).tags & {"link", "img", "iframe", "object", "image"}
    assert page().count("<script") == page().count(SCRIPT) == 1


def test_it_can_be_read_aloud():
    read = Page(page())
    assert len(read.ids) == len(set(read.ids))
    levels = [int(level) for level in re.findall(r"<h([1-6])", page())]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    charts = re.findall(r'<div class="drawing">.*?(<svg role[^>]*>)', page())
    assert len(charts) == 2  # a plane and a curve
    assert all(re.search(r'aria-label="[^"]+"', svg) for svg in charts)
    assert all('scope="' in cell for cell in re.findall(r"<th[^ea][^>]*>", page()))
    boxes = re.findall(r'<div class="scroll[^>]*>', page())
    assert len(boxes) == page().partition("<main>")[2].count("<table")  # the first screen has one that never scrolls
    assert all("tabindex" in box and re.search(r'aria-label="[^"]+"', box) for box in boxes)


def test_every_section_is_there_when_its_data_are():
    blocks = ["dataset-1", "protections-1", "parameters-1", "measures-1"]
    assert sections(page()) == [*blocks, "findings", "adversaries", "assumptions", "reproduce"]
    gap = MissingCells("census", "M k=3", "carl", "failed", 2, "out of memory")
    assert "not-run" in sections(render(study(missing=(gap,))))
    assert sections(render(study(reproduce={}))) == [*blocks, "findings", "adversaries", "assumptions"]


def test_the_finding_names_the_strongest_adversary_and_the_best_protection():
    (name, said), *_ = findings(facts())
    assert name == "census"
    assert [sentence.replace(NBSP, " ") for sentence in said] == [
        (
            "From “M k=3”, the adversary anna re-identifies 30 % [28, 32] of 300 people; guessing gives 5.0 %. "
            "Of 3 protections “M k=10” is the best here: the strongest adversary reaches 10 % [8, 12]. "
            "Unprotected it is 90 % [88, 92]."
        ),
        (
            "From “M k=3”, the adversary bert infers diagnosis correctly for 60 % [58, 62] of 300 people; guessing "
            "gives 5.0 %. Of 3 protections “M k=5” is the best here: the strongest adversary reaches 50 % [48, 52]. "
            "Unprotected it is 70 % [68, 72]."
        ),
        (
            "4 of 4 protections are on the Pareto front of utility and success of the strongest adversary: original, "
            "“M k=3”, “M k=5”, “M k=10”."
        ),
    ]


def test_no_gain_is_called_so():
    lucky = measured("M k=3", "anna", "identity", 0.055)
    assert "No gain is shown" in " ".join(findings(facts((lucky,)))[0][1])
    assert "No gain" not in " ".join(findings(facts())[0][1])
    paired = replace(lucky, gain_low=0.001, gain_high=0.009)  # each seed against its own prior
    assert "No gain" not in " ".join(findings(facts((paired,)))[0][1])
    unpaired = replace(measured("M k=3", "anna", "identity", 0.3), gain_low=-0.1, gain_high=0.2)
    assert "No gain is shown" in " ".join(findings(facts((unpaired,)))[0][1])


def test_values_that_cannot_be_told_apart_make_nobody_the_best():
    near = (measured("M k=3", "anna", "identity", 0.3), measured("M k=5", "anna", "identity", 0.29))
    assert "the best here" not in findings(facts(near))[0][1][0]


def test_a_belief_is_not_told_as_a_fact():
    believed = measured("M k=3", "anna", "identity", 0.3, measure="success_probability")
    assert "anna expects to re-identify 30" in findings(facts((believed,)))[0][1][0]
    both = (believed, measured("M k=3", "anna", "identity", 0.2))
    assert "anna re-identifies 20" in findings(facts(both))[0][1][0]


def test_linkage_and_errors_are_spoken_of_as_what_they_are():
    linked = measured("P", "lena", "linkage", 0.8, measure="breached", unit="share")
    assert "lena breaches 80" in findings(facts((linked,)))[0][1][0]
    wrong = measured(
        "G", "bob", "secret", 1.2, measure="estimation_error", unit="loss", direction="low", low=None, high=None
    )
    assert "bob is off by 1.20 loss" in findings(facts((wrong,)))[0][1][0]


# --- undominated -----------------------------------------------------------------------------------------------------


def test_the_front_is_that_of_the_strongest_adversary_after_each_thing():
    (plane,) = tradeoffs(rows())
    # diagnosis 0.7, 0.6, 0.5, 0.55 with utilities falling: "M k=10" would be beaten by "M k=5", but names fewest
    assert plane.front == ("original", "M k=3", "M k=5", "M k=10")
    (alone,) = tradeoffs(tuple(item for item in rows() if item.adversary == "bert"))
    assert alone.front == ("original", "M k=3", "M k=5")
    best = {(spot.protection, spot.adversary) for spot in plane.points if spot.is_best}
    assert ("M k=10", "anna") in best
    assert ("M k=10", "bert") not in best


def test_the_first_screen_lists_what_no_other_beats_in_the_two_figures_shown():
    """Release "M k=3" protects the diagnosis better than "M k=5", which keeps more and protects identity better."""
    world = {"original": (0.9, 0.7, 1.0), "M k=3": (0.3, 0.4, 0.7), "M k=5": (0.2, 0.5, 0.8)}
    given = study(rows(world))
    assert tradeoffs(rows(world))[0].front == ("original", "M k=3", "M k=5")
    assert [one.release for one in given.advice.alternatives] == ["M k=5", "original"]


def test_unprotected_is_of_the_same_adversary():
    """The prosecutor does best unprotected, and the journalist against the protection."""
    reached = {("original", "p"): 0.9, ("original", "j"): 0.6, ("M", "p"): 0.1, ("M", "j"): 0.3}
    given = tuple(measured(name, who, "identity", value) for (name, who), value in reached.items())
    assert Fact("Unprotected", f"60{NBSP}%") in study(given).at_risk.facts
    assert "Unprotected it is 60 % [58, 62]." in text(study(given))


def test_a_protection_without_all_results_is_not_judged():
    """Without bert, who is the strongest, "M k=10" would seem to be safe, and would push the others off the front."""
    given = tuple(item for item in rows() if (item.release, item.adversary) != ("M k=10", "bert"))
    (plane,) = tradeoffs(given)
    assert plane.compared == ("original", "M k=3", "M k=5")
    assert plane.front == ("original", "M k=3", "M k=5")
    gap = MissingCells("census", "M k=10", "bert", "timed out", 3, "stopped after 10 s")
    shown = table(render(study(given, missing=(gap,))), "All protections")
    line = next(line for line in shown if line[0] == "M k=10")
    assert line[1] == "not compared"
    assert "timed out" in line
    assert "Not compared, because results are missing: 1 more." in text(study(given, missing=(gap,)))


def test_utilities_of_other_units_are_other_tradeoffs():
    more = tuple(
        item
        for name, kept in (("a", -1.0), ("b", -2.0))
        for item in (measured(name, "carl", "secret", 0.5), useful(name, "carl", kept, unit="absolute"))
    )
    assert [plane.utility_unit for plane in tradeoffs((*rows(), *more))] == ["share", "absolute"]
    assert "\u22122" in render(study((*rows(), *more)))


def test_without_utility_there_is_no_plane_and_yet_a_table():
    bare = tuple(item for item in rows() if item.target != "release")
    assert tradeoffs(bare) == ()
    shown = table(render(study(bare)), "All protections")
    assert shown[0] == ["Protection", "anna: identity", "bert: diagnosis"]
    assert shown[3] == ["M k=3", "30 % [28, 32]", "60 % [58, 62]"]


# --- tables and curves -----------------------------------------------------------------------------------------------


def test_the_table_holds_prior_posterior_gain_interval_and_seeds():
    believed = measured("M k=3", "anna", "identity", 0.35, measure="success_probability")
    shown = table(render(study((*rows(), believed))), "Identity")
    line = next(line for line in shown if line[0] == "M k=3")
    assert line == ["M k=3", "anna", "5.0 %", "35 % [33, 37]", "30 % [28, 32]", "+25 points", "100 %", "300 \u00d7 3"]


def test_what_is_unknown_is_not_zero():
    odd = measured("M k=3", "anna", "identity", math.nan, low=None, high=None, gain=math.nan)
    said = text(study((odd, *rows({"M k=5": WORLD["M k=5"]}))))
    assert "undefined" in said
    assert "nan" not in re.sub(r"[a-z]nan|nan[a-z]", "", said)
    gaps = (
        MissingCells("census", "x", "anna", "failed", 2, "no disk"),
        MissingCells("census", "y", "anna", "skipped", 1, "late"),
    )
    shown = table(render(study(missing=gaps)), "no disk")
    assert ["census", "x", "anna", "failed", "2", "no disk"] in shown
    assert ["census", "y", "anna", "skipped", "1", "late"] in shown


def test_a_study_without_any_result_says_so():
    gap = MissingCells("census", "x", "anna", "failed", 2, "no disk")
    assert "Nothing is known" in text(study((), (gap,)))
    with pytest.raises(UnmaskError, match="0 cells"):
        facts(())


def test_families_differ_in_one_parameter():
    names = ["none", "M k=10 l=2", "M k=3 l=2", "M k=3 l=4", "M k=10 l=4", "M k=5 l=2", "P x=a", "Q y=1"]
    found = list_families(names)
    assert [(one.name, one.parameter, [value for value, _ in one.values]) for one in found] == [
        ("M l=2", "k", ["3", "5", "10"]),
        ("M l=4", "k", ["3", "10"]),
    ]


def test_families_over_the_same_values_are_compared():
    values = {
        f"{kind} adopters={x}": 0.9 - x / shift for kind, shift in (("basic", 1), ("best", 0.5)) for x in (0.1, 0.3)
    }
    given = [measured(name, "nar09", "identity", value, measure="recall") for name, value in values.items()]
    given += [
        measured(name, "nar09", "adopters", value / 2, measure="adopter_recall") for name, value in values.items()
    ]
    shown = render(study((*given, measured("one k=1", "nar09", "identity", 0.2, measure="recall"))))
    titles = re.findall("<figcaption>(.*?)</figcaption>", shown)
    assert titles == ["Success over adopters \u2013 nar09", "Adopters found over adopters \u2013 nar09"]
    charts = re.findall(r"<svg [^>]*aria-label=\"[^\"]*over adopters.*?</svg>", shown, re.DOTALL)
    assert all("basic" in chart and "best" in chart for chart in charts)


def test_a_long_name_in_a_plane_tells_whose_parameters_it_shows():
    names = ("best, five identities adopters=0.5", "the most exposed adopters=0.5")
    given = [measured(name, "anna", "identity", risk) for name, risk in zip(names, (0.1, 0.3), strict=True)]
    shown = render(study((*given, useful(names[0], "anna", 0.5), useful(names[1], "anna", 0.9))))
    assert ">bes. five ide. ado.=0.5</text>" in shown
    assert ">the most exp. ado.=0.5</text>" in shown


def test_names_of_protections_that_would_be_cut_alike_stay_whole():
    names = ("the most exposed employees", "the most exposed employers")
    assert shorten_names((*names, "none")) == {name: name for name in (*names, "none")}


def test_a_family_alone_is_drawn_with_its_adversaries():
    shown = render(study())
    assert "M: success over k" in shown


def priced(name, adversary, attacked, payoff, kept) -> list[StudyRow]:
    same = {"low": None, "high": None}
    return [
        measured(name, adversary, "identity", attacked, measure="rational_access", unit="share", **same),
        measured(name, adversary, "identity", payoff, measure="rational_payoff", unit="money", **same),
        useful(name, adversary, kept),
    ]


def test_what_an_attack_is_worth_and_what_makes_it_worth_nothing_is_a_finding():
    poor = [*priced("original", "poor", 0.7, 400.0, 1.0), *priced("k=3", "poor", 0.2, 30.0, 0.9)]
    poor += [*priced("k=9", "poor", 0.0, 0.0, 0.8), *priced("k=27", "poor", 0.0, 0.0, 0.5)]
    rich = [*priced("original", "rich", 0.9, 4000.0, 1.0), *priced("k=3", "rich", 0.9, 900.0, 0.9)]
    said = text(study((*rows(), *poor, *rich)))
    assert (
        "To the rational attacker poor an attack on one person in the unprotected data is worth 400 on average. "
        "With 2 of 3 protections no attack on one person pays: the most useful of them is k=9, which keeps a utility "
        "of 80.0 %."
    ) in said
    assert "4,000 on average. With every protection some attack on one person pays: k=3 leaves 900." in said
    assert "rational attacker" not in text(study())


def test_e4_a_protection_against_which_a_campaign_pays_makes_no_attack_worth_nothing():
    """No single attack pays with k=9, and one campaign against all loots it: only k=27 is safe."""
    same = {"low": None, "high": None, "measure": "campaign_success"}
    poor = [*priced("k=9", "poor", 0.0, 0.0, 0.8), *priced("k=27", "poor", 0.0, 0.0, 0.5)]
    poor += [measured(name, "poor", "identity", share, **same) for name, share in (("k=9", 0.63), ("k=27", 0.0))]
    said = text(study((*rows(), *poor)))
    assert "With 1 of 2 protections no campaign against all people pays for the rational attacker poor: k=27, " in said
    assert "which keeps a utility of 50.0 %" in said


def test_the_price_has_a_table_of_its_own():
    paid = tuple(
        measured("M k=3", "anna", "identity", value, measure=name, unit="share", low=None, high=None)
        for name, value in (("rational_access", 0.4), ("rational_success", 0.3))
    )
    page = render(study((*rows(), *paid)))
    assert "rational-1" in sections(page)
    shown = table(page, "Worth attacking")
    assert [line[:4] for line in shown if line[0] == "M k=3"] == [
        ["M k=3", "anna", "5.0 %", "40.0 %"],
        ["M k=3", "anna", "5.0 %", "30.0 %"],
    ]
    assert "rational-1" not in sections(render(study()))


def test_names_are_escaped_everywhere():
    evil = "<b>&\"'</b><script>x</script>"
    given = (measured(evil, evil, evil, 0.3, evil, note=evil), useful(evil, evil, 0.4, evil))
    gap = MissingCells(evil, evil, evil, evil, 1, evil)
    words = {(kind, evil): evil for kind in ("adversaries", "protections")}
    told = render(study(given, missing=(gap,), descriptions=words, title=evil, reproduce={evil: evil}))
    assert told.count("<script") == 1
    Page(told)


def test_charts_are_few_and_the_page_says_so():
    many = tuple(replace(item, dataset=f"d{i}") for i in range(20) for item in rows())
    told = render(study(many))
    assert len(re.findall(r'<svg [^>]*role="img"', told)) == 30
    assert "10 more charts were not drawn" in told  # twenty planes and twenty curves


# --- from a folder ---------------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path):
    """A folder as `unmask study` leaves it: three seeds, one cell failed."""
    lines = []
    for seed in range(3):
        names = {"cell": f"c{seed}", "dataset": "census", "protection": "k=3", "adversary": "anna", "seed": seed}
        value = {"measure": "realized_success", "unit": "probability", "direction": "high", "target": "identity"}
        done = {"status": "done", "prior": 0.01, "posterior": 0.9 + seed / 20, "gain": 0.5, "n": 100, "worst": 1.0}
        lines.append(names | value | done)
    lines.append(lines[0] | {"cell": "f", "protection": "k=9", "status": "failed", "reason": "no disk"})
    columns = {}
    for name in COLUMNS:
        values = [line.get(name) for line in lines]
        if name in NUMBERS:
            columns[name] = np.array([math.nan if value is None else value for value in values])
        else:
            columns[name] = np.array(
                [value or ("" if name not in ("seed", "n") else 0) for value in values],
                dtype=np.int64 if name in ("seed", "n") else object,
            )
    with open_database() as connection:
        connection.register("found", columns)
        absent = ", ".join(f"nullif({name}, 'nan'::double) as {name}" for name in ABSENT)
        kept = f"select * replace ({absent}) from found"
        connection.execute(f"copy ({kept}) to '{tmp_path / RESULTS}' (format parquet)")
    (tmp_path / "plan.toml").write_text(
        'title = "Trial"\n[[protections]]\nuse = "none"\nname = "k=3"\n[[adversaries]]\nname = "anna"\n'
        'use = "tables.ClassAttack"\nknows = { targets = 100 }\n',
        encoding="utf-8",
    )
    return tmp_path


def unmask(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result


def test_the_folder_of_a_run_is_read(run):
    found = read_facts(run)
    assert (found.title, found.seeds, found.unprotected) == ("Trial", (0, 1, 2), frozenset({"k=3"}))
    assert found.descriptions["adversaries", "anna"] == "tables.ClassAttack: knows = { targets = 100 }"
    (one,) = found.rows
    # mean of 0.90, 0.95, 1.00; Student's t with 2 degrees of freedom: 4.303 * 0.05 / sqrt(3) = 0.1242, cut at 1
    assert one.posterior == pytest.approx(0.95)
    assert one.low == pytest.approx(0.8258, abs=1e-4)
    assert one.high == 1.0
    assert [gap.reason for gap in found.gaps] == ["no disk"]
    (run / "plan.toml").unlink()
    assert read_facts(run).title == f"Study {run.name}"


def test_the_page_does_not_depend_on_where_the_folder_is(run, tmp_path_factory):
    other = tmp_path_factory.mktemp("elsewhere")
    for name in (RESULTS, "plan.toml"):
        (other / name).write_bytes((run / name).read_bytes())
    assert render(read_result(run)) == render(read_result(other))


def test_the_command_writes_the_page_once(run):
    path = run / "page.html"
    done = unmask("report", run, "-o", path)
    assert done.exit_code == 0
    assert path.read_text(encoding="utf-8") == render(read_result(run))
    refused = unmask("report", run, "-o", path)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert unmask("report", run, "-o", path, "--force").exit_code == 0


def test_the_command_prints_one_object(run):
    told = parsed(unmask("report", run, "--json").stdout)
    assert [item["posterior"] for item in told["results"]] == [pytest.approx(0.95)]
    assert [one["what"].endswith("failed") for one in told["not_run"]] == [True]
    assert "pareto_front" not in told["tables"]


def test_a_folder_without_results_is_one_sentence(tmp_path):
    done = unmask("report", tmp_path)
    assert done.exit_code == 1
    assert "has no results.parquet; run `unmask study" in done.stderr


def test_it_is_said_whom_a_protection_stops_and_against_whom_it_fails():
    reached = {
        "original": {"weak": 0.1, "strong": 0.9},
        "random network": {"weak": 0.01, "strong": 0.09},
        "equal degrees": {"weak": 0.0, "strong": 0.85},
        "no edge less": {"weak": 0.05, "strong": 0.9},
        "some noise": {"weak": 0.03, "strong": 0.3},
    }
    given = tuple(
        measured(name, who, "identity", value, measure="recall", prior=0.0)
        for name, own in reached.items()
        for who, value in own.items()
    )
    ((_, said),) = findings(facts(given))
    (stop,) = (line for line in said if "at most a tenth" in line)
    (fail,) = (line for line in said if "leave half or more" in line)
    (torn,) = (line for line in said if " stops the adversary " in line)
    assert "random network" in stop
    assert "no edge less" in fail
    assert torn.replace(NBSP, " ").startswith("“equal degrees” stops the adversary weak (0 % instead of 10 %)")
    assert "fails against strong: 85" in torn
    assert not any("some noise" in line for line in (stop, fail, torn))


def test_who_fails_is_not_said_without_what_is_reached_unprotected():
    given = tuple(measured("M", who, "identity", 0.5, measure="recall") for who in ("weak", "strong"))
    ((_, said),) = findings(facts(given, unprotected=frozenset({"original"})))
    assert not any("half or more" in line or "tenth" in line for line in said)


def held(reached):
    """The sentences about protections against all adversaries, of values whose prior is one half."""
    given = tuple(
        measured(name, who, "identity", value, measure="recall", prior=0.5)
        for name, own in reached.items()
        for who, value in own.items()
    )
    return [line for line in findings(facts(given))[0][1] if line.startswith("Against")]


def test_what_a_protection_leaves_is_counted_beyond_guessing():
    (said,) = held({"original": {"weak": 0.8, "strong": 0.9}, "noise": {"weak": 0.5, "strong": 0.5}})
    assert said.startswith("Against every adversary, these leave at most a tenth of what is reached beyond guessing")
    (said,) = held({"original": {"weak": 0.8, "strong": 0.9}, "noise": {"weak": 0.66, "strong": 0.71}})
    assert "half or more" in said
    assert not held({"original": {"weak": 0.5, "strong": 0.4}, "noise": {"weak": 0.5, "strong": 0.5}})


def test_who_has_no_result_against_a_protection_is_not_among_every_adversary():
    bare = {"weak": 0.8, "strong": 0.9, "third": 0.9}
    few, undefined = {"weak": 0.5, "strong": 0.5}, {"weak": 0.8, "strong": 0.9, "third": math.nan}
    whole, stopped, failed = held({"original": bare, "A": dict.fromkeys(bare, 0.5), "B": few, "C": undefined})
    assert whole.startswith("Against every adversary, ")
    assert whole.endswith("them: A.")
    assert stopped.startswith("Against every adversary that was run against them, these leave at most a tenth")
    assert stopped.endswith("them: B.")
    assert failed.startswith("Against every adversary that was run against them, these leave half or more")
    assert failed.endswith("them: C.")
