"""The report says what the rows say, in one file, the same every time."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from unmask.core.errors import UnmaskError
from unmask.findings import row_words as words
from unmask.measures.registry import MEASURES, quantity
from unmask.render.charts import svg
from unmask.render.page import render
from unmask.results import Result, Row
from unmask.results.distribution import Distribution
from unmask.tables.audit.quasi_identifiers import ColumnRisk
from unmask.tables.audit.result import TableFacts, make_result

N = 30162
RELEASES = ("k=3", "k=10", "k=20", "k=50", "k=100")
# Adult, strict Mondrian: success of an adversary who knows the class, measured once; prior of occupation likewise.
NAMED = (0.0281, 0.0162, 0.0116, 0.0072, 0.0051)
INFERRED = (0.293, 0.286, 0.283, 0.279, 0.276)
OCCUPATION_PRIOR = 0.1339
CLASSES = (846, 489, 351, 218, 155)
LOST = (0.024, 0.041, 0.056, 0.083, 0.117)
ALL, TWO = "knows all quasi-identifiers", "knows age and postcode, and holds a register"
EDGES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
NBSP = "\u00a0"
VOID = {"meta", "br", "path", "line", "circle", "rect", "link", "hr", "img"}


def row(release="k=3", adversary=ALL, target="identity", measure="success_probability", **changes) -> Row:
    values = {
        "unit": "probability",
        "direction": "high",
        "prior": 1 / N,
        "posterior": 0.0281,
        "low": None,
        "high": None,
        "interval": "none",
        "n": N,
        "n_observations": 846,
        "worst": 1 / 3,
        "worst_observation": 17,
        "quantiles": (0.004, 0.009, 0.021, 0.04, 0.1),
        "status": "exact",
        "note": "",
    } | changes
    values.setdefault("gain", values["posterior"] - values["prior"])
    return Row(release=release, adversary=adversary, target=target, measure=measure, **values)


def wilson(share: float, n: int) -> dict[str, object]:
    center = (share + 1.92 / n) / (1 + 3.84 / n)
    half = 1.96 / (1 + 3.84 / n) * math.sqrt(share * (1 - share) / n + 0.96 / n**2)
    low, high = center - half, center + half
    return {
        "posterior": share,
        "low": low,
        "high": high,
        "interval": "targets (Wilson, clustered by observation)",
        "n": n,
    }


def release_rows(i: int, adversary: str, strength: float) -> list[Row]:
    name, k = RELEASES[i], int(RELEASES[i][2:])
    named, inferred = NAMED[i] * strength, OCCUPATION_PRIOR + (INFERRED[i] - OCCUPATION_PRIOR) * strength
    same = {"release": name, "adversary": adversary, "linked_to": "register" if adversary == TWO else ""}
    value = same | {"target": "occupation", "prior": OCCUPATION_PRIOR, "quantiles": (0.15, 0.2, inferred, 0.36, 0.55)}
    bits = math.log2(N) + math.log2(named) - 0.6
    spread = tuple(named * factor for factor in (0.2, 0.4, 0.8, 1.5, 3.0))
    return [
        row(**same, posterior=named, worst=1 / k, quantiles=spread),
        row(**same, measure="realized_success", worst=1.0, **wilson(named * 1.04, 2000)),
        row(**same, measure="information_gain_bits", unit="bits", prior=0.0, posterior=bits, worst=math.log2(N / k)),
        row(**value, posterior=inferred, worst=max(0.85, 1 - i / 20)),
        row(**value, measure="realized_success", worst=1.0, **wilson(inferred - 0.004, 2000)),
        row(**value, measure="delta_down", unit="nats")
        if False
        else row(
            **same,
            target="occupation",
            measure="delta_down",
            unit="nats",
            prior=0.0,
            posterior=math.inf,
            worst=math.inf,
        ),
    ]


def sample() -> Result:
    """Five releases of one table, two adversaries, two targets; every section has data.

    NAMED, INFERRED and what belongs to them in `criteria` were measured; all other figures are made up.
    """
    rows = [r for i in range(5) for a, s in ((ALL, 1.0), (TWO, 0.35)) for r in release_rows(i, a, s)]
    shares = {
        "identity": [
            (0.31, 0.27, 0.29, 0.09, 0.033, 0.007, 0.0),
            (0.52, 0.24, 0.2, 0.04, 0.0, 0.0, 0.0),
            (0.62, 0.25, 0.13, 0.0, 0.0, 0.0, 0.0),
            (0.79, 0.21, 0.0, 0.0, 0.0, 0.0, 0.0),
            (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        ],
        "occupation": [(0.0, 0.0, 0.0, 0.01, 0.22, 0.69, 0.08)] * 2 + [(0.0, 0.0, 0.0, 0.0, 0.23, 0.7004, 0.0696)] * 3,
    }
    columns = {"age": 0.55, "education": 0.3, "marital status": 0.22, "race": 0.04, "sex": 0.09}
    utility = {name: {"gcp": LOST[i], "average_class_size": N / CLASSES[i]} for i, name in enumerate(RELEASES)}
    data = Result(
        title="Adult census extract: what an adversary learns from five releases",
        setting="Two adversaries attack a k-anonymous extract of 30,162 people, who are known to be in it: one knows "
        "all five quasi-identifiers of a target, the other two; both want to name the target or infer the occupation.",
        rows=tuple(rows),
        adversaries={ALL: "knows all five quasi-identifiers", TWO: "knows age and postcode and holds a register"},
        criteria={
            name: {
                "rows": N,
                "classes": CLASSES[i],
                "missing": "own",
                "k": int(name[2:]),
                "l_distinct (occupation)": (1, 1, 2, 3, 4)[i],
                "l_entropy (occupation)": (1.0, 1.0, 1.34, 1.56, 1.71)[i],
                "t_equal (occupation)": (0.935, 0.866, 0.803, 0.769, 0.712)[i],
                "t_hierarchical (occupation)": None,
                "delta_disclosure (occupation)": math.inf,
                "alpha (occupation)": (1.0, 1.0, 0.93, 0.9, 0.85)[i],
                "unique_rows": 0,
                "prosecutor_average": NAMED[i],
            }
            for i, name in enumerate(RELEASES)
        },
        distribution=tuple(
            Distribution(
                name, adversary, target, EDGES, shares[target][i], N, {0.09: 400 - i, 0.5: (211, 7, 0, 0, 0)[i]}
            )
            for adversary in (ALL, TWO)
            for target in ("identity", "occupation")
            for i, name in enumerate(RELEASES)
        ),
        assumptions=(
            "Every target is in the release, and the adversary knows it.",
            "What the adversary knows of a target is true and as exact as in the original table.",
            "People are independent of each other; households are not modeled.",
        ),
        not_run=(
            ("t, hierarchical", "no hierarchy was given for occupation"),
            ("an adversary who combines several releases", "the releases were attacked one by one"),
            ("realized success on the original table", "failed: the disk was full after 12 minutes"),
        ),
        reproduce={
            "Version": "unmask 0.1.0",
            "Missing cells": "own: a missing cell is compatible only with a missing cell",
        },
    )
    column_risks = [
        ColumnRisk(name, target, column, success, success - (success - base) * share)
        for target, values, base in (("identity", NAMED, 1 / N), ("occupation", INFERRED, OCCUPATION_PRIOR))
        for name, success in zip(RELEASES, values, strict=True)
        for column, share in columns.items()
    ]
    return with_facts(data, criteria=data.criteria, utility=utility, column_risks=column_risks)


def with_facts(data: Result, **facts) -> Result:
    """Return a result with tables and blocks of these facts."""
    audit = make_result(data.title, data.rows, TableFacts(**facts))
    cautions = (*data.cautions, *audit.cautions)
    return replace(data, kind=audit.kind, facts=audit.facts, blocks=audit.blocks, cautions=cautions)


def single(**changes) -> Result:
    return Result(title="One release", setting="An adversary attacks one release.", rows=(row(),), **changes)


SCRIPT = (Path(svg.__file__).parent / "chart.js").read_text(encoding="utf-8").splitlines()[0]


class Page(HTMLParser):
    """Collects text, ids and sections, and fails on tags that do not match."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.said = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.said += data

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", self.said)


def sections(page: str) -> list[str]:
    return re.findall(r'<section id="([^"]+)"', page)


def said(data: Result) -> str:
    return Page(render(data)).text


@pytest.fixture(scope="module")
def page() -> str:
    return render(sample())


def test_the_same_data_give_the_same_bytes(page):
    assert render(sample()) == page


def test_the_page_needs_nothing_from_elsewhere(page):
    assert not re.search(r"https?:|//[a-z]|url\((?!#)|@import|\bsrc=|\bhref=", page)
    assert not Page(page).tags & {"link", "img", "iframe", "object", "image"}
    assert page.count("<script") == page.count(SCRIPT) == 1


def test_the_page_allows_no_script_but_its_own(page):
    head, body = page.split("<script>")
    own = body.partition("</script>")[0]
    digest = b64encode(sha256(own.encode()).digest()).decode()
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', head)
    assert f"script-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert head.index("Content-Security-Policy") < head.index("<title>")


def test_the_page_is_well_formed_and_its_ids_are_unique(page):
    read = Page(page)
    assert len(read.ids) == len(set(read.ids))
    # who is at risk, two panels of success, four of distributions, two planes
    assert page.count('<svg role="img"') == 1 + 2 + 4 + 2


def test_it_opens_with_the_strongest_adversary_and_says_the_rest_below(page):
    text = Page(page).text
    # 2.81 % and 29.3 % as the sample makes them, of 2,000: Wilson's intervals by the formula in this file
    order = [
        sample().setting,
        (
            "From k=3, an adversary who knows all five quasi-identifiers re-identifies 2.9 % [2.3, 3.8] of 2,000 "
            "people; guessing gives <0.01 %. The lowest of 5 releases is k=100 with 0.5 % [0.3, 1.0]."
        ),
        "From k=3, an adversary who knows age and postcode and holds a register re-identifies 1.0 % [0.7, 1.6] of",
        (
            "From k=3, an adversary who knows all five quasi-identifiers infers occupation correctly for "
            "28.9 % [27.0, 30.9] of 2,000 people; guessing gives 13.4 %."
        ),
        (
            "From k=3 to k=100, re-identification falls from 2.9 % to 0.5 %, but the gain of inferring occupation only "
            "from 15.5 to 13.8 points: protecting identities does not protect occupation."
        ),
    ]
    first, *others = [text.rfind(sentence) for sentence in order]
    assert first > 0
    assert [first, *others] == sorted([first, *others])  # who attacks, then all that was found
    assert text.find(order[1].partition(". The lowest")[0]) < text.find("Who is at risk?")


def test_the_sentence_of_the_house_style():
    interval = {"low": 0.031, "high": 0.051, "n": 2000, "interval": "targets"}
    known = row(
        adversary="knows age and postcode", measure="realized_success", prior=0.0025, posterior=0.04, **interval
    )
    sentence = "An adversary who knows age and postcode re-identifies 4.0 % [3.1, 5.1] of 2,000 people; "
    assert sentence + "guessing gives 0.25 %." in said(replace(single(), rows=(known,)))


def test_an_interval_that_includes_guessing_is_called_no_gain():
    lucky = row(measure="realized_success", prior=0.04, posterior=0.045, low=0.03, high=0.06)
    assert "The interval includes guessing: no gain is shown." in said(replace(single(), rows=(lucky,)))
    sure = row(measure="realized_success", prior=0.02, posterior=0.045, low=0.03, high=0.06)
    assert "includes guessing" not in said(replace(single(), rows=(sure,)))


def test_realized_success_is_preferred_and_both_stand_in_the_table(page):
    real = row(measure="realized_success", posterior=0.03, low=0.02, high=0.04)
    both = (row(posterior=0.05, status="refuted", note="not exact: announced 5.0 %, realized 3.0 %"), real)
    text = said(replace(single(), rows=both))
    assert "re-identifies 3.0 % [2.0, 4.0]" in text
    assert "expects to re-identify" not in text
    assert re.search(r"5\.0 % ?3\.0 % \[2\.0, 4\.0\] \u2020", text)
    assert "The truth refutes the belief" in text
    assert "not exact: announced 5.0 %, realized 3.0 %" in text
    assert "The truth refutes" not in page


def test_a_single_release_without_extras_has_only_the_sections_it_has_data_for():
    text = render(single())
    assert sections(text) == ["success", "adversaries", "findings", "measures", "people"]
    assert sections(render(replace(single(), rows=(row(quantiles=()),)))) == [
        "success",
        "adversaries",
        "findings",
        "measures",
    ]
    assert "An adversary who knows all quasi-identifiers expects to re-identify 2.8 % of 30,162 people" in said(
        single()
    )
    assert "the lowest is" not in text


def test_every_section_is_there_when_its_data_are(page):
    names = "success where utility criteria adversaries findings measures people assumptions not-run reproduce"
    assert sections(page) == names.split()


@pytest.mark.parametrize(
    ("name", "section"),
    [("blocks", "criteria"), ("assumptions", "assumptions"), ("not_run", "not-run"), ("reproduce", "reproduce")],
)
def test_a_section_goes_with_its_data(name, section):
    emptied = replace(sample(), **{name: type(getattr(sample(), name))()})
    assert section not in sections(render(emptied))


def test_names_are_escaped_everywhere():
    evil = "<b>&\"'</b><script>x</script>"
    rows = (
        row(f"k=3{evil}", evil, note=evil),
        row(f"k=5{evil}", evil, target=evil),
        row(f"k=5{evil}", evil, measure=evil, interval=evil, low=0.01, high=0.05, status=evil),
    )
    data = Result(
        title=evil,
        setting=evil,
        rows=rows,
        adversaries={ALL: evil},
        criteria={evil: {f"k {evil}": 3, "missing": evil, evil: None}},
        distribution=(Distribution(evil, evil, evil, (0.0, 1.0), (1.0,), 50),),
        assumptions=(evil,),
        not_run=((evil, evil),),
        reproduce={evil: evil},
    )
    utility = {r.release: {evil: 0.2} for r in rows}
    risks = [ColumnRisk(evil, evil, evil, 0.2, 0.1)]
    data = with_facts(data, criteria=data.criteria, utility=utility, column_risks=risks)
    read = Page(render(data))
    assert "b" not in read.tags
    assert render(data).count("<script") == 1
    assert evil in read.said  # shown as it is, but as text


def test_infinity_is_called_unbounded_and_explained(page):
    text = Page(page).text
    assert "unbounded: the release proves or excludes something" in text
    assert not re.search(r"\b(inf|nan)\b", text)
    assert "unbounded" not in render(single())


def test_failed_not_run_and_zero_look_different():
    rows = (
        row(),
        row(release="k=5", posterior=0.0, gain=0.0, prior=0.0),
        row(release="k=7", status="failed", note="ran out of memory"),
        row(release="k=9", measure="total_variation"),
    )
    text = render(replace(single(), rows=rows))
    assert ">0\u00a0%<" in text
    chart = text[text.index('id="success"') :].partition("</svg>")[0]
    assert ">failed<" in chart
    assert ">not run<" in chart
    assert text.count('<span class="failed">failed</span>') == 1  # the table of measures
    assert text.count('<span class="not-run">not run</span>') >= 2
    assert "k=7, success_probability: ran out of memory" in text


def test_a_success_that_is_undefined_is_said_and_not_drawn():
    shown = render(replace(single(), rows=(row(), row(release="k=5", posterior=math.nan, gain=math.nan))))
    assert ">undefined<" in shown[shown.index('id="success"') :].partition("</svg>")[0]
    alone = render(replace(single(), rows=(row(posterior=math.nan, gain=math.nan),)))
    assert ">undefined<" in alone
    assert not re.search(r"\bnan\b", alone)


def test_releases_without_a_value_are_not_hidden_in_the_finding():
    rows = (row(), row(release="k=5, l=2", posterior=0.01), row(release="k=7", status="failed"))
    assert "The lowest of 2 of 3 releases is \u201ck=5, l=2\u201d with 1.0 %." in said(replace(single(), rows=rows))


def test_a_reason_that_begins_with_failed_is_shown_as_a_failure(page):
    listed = page[page.index('id="not-run"') :]
    assert listed.count('class="failed"') == 1
    assert listed.count('class="not-run"') == 2


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_has_a_name_and_a_meaning(name):
    known = MEASURES[quantity(name)]
    assert known.label
    assert known.meaning
    shown = row(measure=name, unit=MEASURES[name].unit, direction=MEASURES[name].direction)
    text = said(replace(single(), rows=(row(), shown)))
    assert f"{known.label} \u2013 {known.meaning}" in text
    assert "_" not in text


def test_measures_beside_the_leading_ones_are_folded_away_and_many_lines_of_these(page):
    rows = tuple(row(measure=name) for name in ("success_probability", "rank", "total_variation", "own_measure"))
    text = render(replace(single(), rows=rows))
    shown, folded = text[text.index('id="measures"') :].split("<details>")
    folded = folded.split("</details>")[0]
    for line in ("Success \u2013", "Shift of belief, t \u2013"):
        assert line in shown
        assert line not in folded
    for line in ("Guesses needed \u2013", "own measure \u2013"):
        assert line in folded
        assert line not in shown
    assert page[page.index('id="measures"') :].split("</section>")[0].count("<details>") == 2
    assert "<details>" not in render(single())
    assert "<details>" not in render(replace(single(), rows=(row(measure="rank"),)))


def test_an_adversary_for_whom_a_measure_was_run_nowhere_has_one_row():
    rows = [row(release, name) for release in ("k=3", "k=5") for name in (ALL, TWO)]
    rows += [row(release, ALL, measure="calibration_error") for release in ("k=3", "k=5")]
    text = render(replace(single(), rows=tuple(rows)))
    calibration = text[text.index("Calibration error \u2013") :].split("</tbody>")[0]
    assert calibration.count("<tr>") == 3
    assert calibration.count('<th scope="row">any release</th>') == 1
    assert calibration.count("not run") == 1


def test_an_adversary_who_leaves_a_target_alone_has_one_row_in_its_table():
    rows = [row(adversary=name) for name in (ALL, TWO)]
    rows += [row(target="pay", measure=measure) for measure in ("success_probability", "total_variation")]
    text = render(replace(single(), rows=tuple(rows)))
    table = text[text.index("<caption>pay</caption>") :].split("</table>")[0]
    assert table.count("not run") == 1


def test_what_was_not_run_is_listed_once_for_each_reason():
    truth, register = "the truth is not known", "needs a register"
    measures = "realized_success, rank"
    things = (
        ("Linkage", register),
        (f"{measures} (prosecutor, identity)", truth),
        (f"{measures} (prosecutor, pay)", truth),
        ("Population (of people)", register),
        ("Sorting", "failed: the disk was full"),
    )
    text = render(replace(single(), not_run=things))
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", text[text.index('id="not-run"') :])
    assert [[cell for cell in re.split(r"</?(?:td|th|span)[^>]*>", row) if cell] for row in rows] == [
        ["Sorting", "failed", "failed: the disk was full"],
        ["Linkage; Population (of people)", "not run", register],
        ["Realized success, guesses needed \u2013 prosecutor, identity; prosecutor, pay", "not run", truth],
    ]


def test_importing_the_package_loads_no_engine():
    program = "import sys, unmask.results; sys.exit(any(m in sys.modules for m in ('altair', 'vl_convert', 'jinja2')))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_criteria_without_a_value_anywhere_are_one_line(page):
    assert "for any release: t, hierarchical (occupation)." in Page(page).text


def test_the_original_table_is_named_but_is_not_the_finding():
    rows = (row(release="original", posterior=0.2), row(release="k=3"), row(release="k=10", posterior=0.016))
    text = said(replace(single(), rows=rows))
    assert "From k=3, an adversary who knows all quasi-identifiers expects to re-identify 2.8 %" in text
    assert "The lowest of 2 releases is k=10 with 1.6 %. The unprotected table gives 20.0 %." in text
    assert "From original" not in text


def test_success_is_not_contrasted_without_its_baseline():
    rows = [row(release=r, posterior=p, gain=p) for r, p in (("k=3", 0.232), ("k=50", 0.013))]
    values = (("k=3", 0.640, 0.058), ("k=50", 0.586, 0.004))  # nearly as many are inferred, as guessing gives 58.2 %
    rows += [row(release=r, target="pay", prior=0.582, posterior=p, gain=g) for r, p, g in values]
    assert "does not protect" not in render(replace(single(), rows=tuple(rows)))


def test_no_contrast_is_claimed_where_attribute_success_falls_along():
    rows = [row(release=r, posterior=p) for r, p in (("k=3", 0.03), ("k=9", 0.01))]
    rows += [row(release=r, target="pay", prior=0.0, posterior=p) for r, p in (("k=3", 0.6), ("k=9", 0.2))]
    assert "does not protect" not in render(replace(single(), rows=tuple(rows)))
    rows[-1] = replace(rows[-1], posterior=0.58, gain=0.58)
    assert "protecting identities does not protect pay" in render(replace(single(), rows=tuple(rows)))


@pytest.mark.parametrize(("half", "claimed"), [(0.012, False), (0.008, True)])
def test_a_contrast_is_claimed_only_where_intervals_do_not_touch(half, claimed):
    rows = [
        row(release=r, posterior=p, low=p - half, high=p + half, measure="realized_success")
        for r, p in (("k=3", 0.035), ("k=9", 0.015))
    ]
    rows += [row(release=r, target="pay", posterior=0.5, measure="realized_success") for r in ("k=3", "k=9")]
    assert ("does not protect" in render(replace(single(), rows=tuple(rows)))) is claimed


def test_a_single_release_has_no_plane_but_its_utility():
    text = render(with_facts(single(), utility={"k=3": {"gcp": 0.1}}))
    assert "Risk against utility" not in text
    assert "Information lost (GCP)" in text


def test_dominated_releases_are_hollow():
    places = (("a", 0.1, 0.3), ("b", 0.2, 0.1), ("c", 0.2, 0.2))
    rows = tuple(row(release=name, posterior=risk) for name, _, risk in places)
    text = render(with_facts(replace(single(), rows=rows), utility={name: {"gcp": loss} for name, loss, _ in places}))
    drawn = text[text.index('id="utility"') :].partition("</figure>")[0]
    symbols = re.findall(r'<circle class="mark"[^>]*>', drawn)
    assert len(symbols) == 3
    assert sum('fill="var(--paper,#ffffff)"' in tag for tag in symbols) == 1


def test_a_report_about_nothing_is_refused():
    with pytest.raises(UnmaskError, match="0 rows"):
        replace(single(), rows=())


@pytest.mark.parametrize(
    ("value", "low", "high", "written"),
    [
        (0.04, 0.031, 0.051, "4.0 % [3.1, 5.1]"),
        (0.0025, None, None, "0.25 %"),
        (1 / N, None, None, "<0.01 %"),
        (0.0, None, None, "0 %"),
        (1.0, None, None, "100 %"),
        (0.99999, None, None, ">99.9 %"),
        (0.28, 0.2, 0.37, "28 % [20, 37]"),
        (0.0004, 0.0, 0.006, "<0.1 % [0, 0.6]"),
        (0.0, 0.0, 0.0, "0 %"),
        (math.nan, None, None, "undefined"),
    ],
)
def test_percents_have_the_digits_their_interval_bears(value, low, high, written):
    assert words.estimate(value, "probability", low, high).replace(NBSP, " ") == written


def test_u13_a_table_of_zeros_is_one_sentence():
    risks = [
        ColumnRisk("k=3", target, column, 0.2, 0.2 - less)
        for column, target, less in (
            ("age", "identity", 0.0),
            ("sex", "identity", 0.0004),
            ("age", "ill", 0.0),
            ("sex", "ill", 0.01),
        )
    ]
    data = with_facts(sample(), column_risks=risks)
    block = next(block for block in data.blocks if block.name == "where")
    (view,) = block.tables
    assert "ill" in view.title
    (note,) = block.notes
    assert "people re-identified" in note
    assert "ill" not in note.partition(":")[0].split()
    assert note.partition("`")[0] in render(data)
    assert "Where the risk sits" not in render(with_facts(sample()))
