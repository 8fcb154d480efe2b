"""Certificates and first screens in German, French and Spanish are complete, and their numbers are those in English."""

import json
import re
from collections import Counter
from html import unescape

import numpy as np
import pytest

import unmask
from tests import render_catalogs
from tests.commands import invoke
from unmask.economics import read_attacker
from unmask.economics.audit import AttackerSource, audit_sizes
from unmask.economics.audit.deterrence import audit_deterrence
from unmask.graphs import datasets
from unmask.languages import LANGUAGES, choose_language, gettext, localize, ngettext, retranslate, use_language
from unmask.render.certificate import certificate, read_language
from unmask.tables import Mondrian, Table
from unmask.tables.datasets import synthetic_census

OTHERS = [language for language in LANGUAGES if language != "en"]


def _strings(string):
    return string if isinstance(string, tuple) else (string,)


@pytest.fixture(scope="module")
def template():
    return render_catalogs.collect()


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_translated_with_its_fields(template, language):
    catalog = render_catalogs.read(language)
    collected, translated = ({message.id for message in side if message.id} for side in (template, catalog))
    assert translated == collected, "run tests/render_catalogs.py"
    for message in (message for message in catalog if message.id):
        assert not message.fuzzy
        fields = set(re.findall(r"\{\w+\}", _strings(message.id)[-1]))
        for text in _strings(message.string):
            assert text, message.id
            assert set(re.findall(r"\{\w+\}", text)) == fields, message.id


@pytest.mark.parametrize("language", OTHERS)
def test_compiled_catalogs_are_those_of_the_sources(language):
    compiled = render_catalogs.compile_catalog(render_catalogs.read(language))
    assert render_catalogs.path_of(language, "mo").read_bytes() == compiled, "run tests/render_catalogs.py"


@pytest.mark.parametrize("language", OTHERS)
def test_messages_that_an_audit_writes_are_recognized_by_their_words(template, language):
    for message in (message.id for message in template if message.id):
        if isinstance(message, str) and len(re.sub(r"\{\w+\}|[^a-z]", "", message)) >= 20:
            names = dict.fromkeys(re.findall(r"\{(\w+)\}", message))
            fields = {name: "7" if name == "share" else f"x{position}" for position, name in enumerate(names)}
            with use_language(language):
                assert retranslate(message.format(**fields)) == gettext(message, **fields)


def test_numbers_have_the_separators_of_their_language():
    written = {}
    for language in LANGUAGES:
        with use_language(language):
            written[language] = localize("2,000 of 12,345.6 in version 1.2.3 or 3.5")
    assert written["de"] == "2.000 of 12.345,6 in version 1.2.3 or 3,5"
    assert written["fr"] == "2\u202f000 of 12\u202f345,6 in version 1.2.3 or 3,5"
    assert written["es"] == "2000 of 12\u202f345,6 in version 1.2.3 or 3,5"
    assert gettext("{n} rows", n=2000) == "2,000 rows"


def test_a_text_that_is_too_long_for_a_message_stays_in_english():
    text = "a fine of 1, " * 800 + "a fine of 2,000"
    with use_language("de"):
        assert retranslate("a fine of 1, a fine of 2,000") == "eine Strafe von 1, eine Strafe von 2.000"
        assert retranslate(text) == text.replace("2,000", "2.000")


def test_an_empty_item_of_a_list_is_not_the_header_of_the_catalog():
    with use_language("de"):
        assert retranslate(" and a fine of 1") == " and a fine of 1"


def test_plurals_follow_the_language():
    forms = "{n} condition missed", "{n} conditions missed"
    with use_language("fr"):
        assert [ngettext(*forms, n).split()[1] for n in (0, 1, 2)] == ["condition", "condition", "conditions"]
    with use_language("de"):
        assert [ngettext(*forms, n).split()[1] for n in (0, 1, 2)] == ["Bedingungen", "Bedingung", "Bedingungen"]


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("en-US,fr;q=0.9", "en"),
        ("ja, es;q=0.1", "es"),
        ("*", "en"),
        ("\x00;q=x", "en"),
    ],
)
def test_the_language_of_a_browser_is_the_first_one_with_a_catalog(header, language):
    assert choose_language(header) == language


# --- pages -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    columns = synthetic_census(1200, rng=rng)
    table = Table.read(
        columns,
        quasi_identifiers=["age", "sex", "zip"],
        sensitive="diagnosis",
        keep="education",
        types={"zip": "number"},
    )
    (small, origin), (large, large_origin) = (Mondrian(k=k)(table, rng=rng) for k in (3, 25))
    alone = {"original": table, "origin": origin}
    both = {"original": table, "origin": {"k=3": origin, "k=25": large_origin}}
    return {
        "no policy": unmask.audit(small),
        "missed": unmask.audit(small, policy="strict", **alone),
        "met": unmask.audit(large, policy="k >= 20", original=table, origin=large_origin),
        "several": unmask.audit({"k=3": small, "k=25": large}, policy=["ema-0.09", "statistical-office"], **both),
        "drawn": unmask.audit(small, policy="ema-0.09", targets=100, **alone),
        "register": unmask.audit(small, policy="strict", register=table, coverage=0.8, **alone),
    }


@pytest.fixture(scope="module")
def other_results():
    rng = np.random.default_rng(0)
    network = datasets.barabasi_albert(120, 4, rng=rng)
    truth, found = (
        np.arange(200) // 4,
        np.where(np.arange(200) % 7 > 0, np.arange(200) // 4, np.arange(200) // 8 + 1000),
    )
    clusters = unmask.Partition(found)
    channel = unmask.read_channel([[0.9, 0.1], [0.2, 0.8]])
    attacker = AttackerSource(read_attacker("case-study"))
    return {
        "price": audit_sizes(attacker, [*range(1, 40)]),
        "deterrence": audit_deterrence(attacker, [2, 3, 60])[0],
        "attacked network": unmask.audit(network, overlaps=[(0.8, 0.9)], policy="recall <= 0.1", seeds=["top:20"]),
        "network": unmask.audit(network, policy="k_degree >= 5"),
        "clusters": unmask.audit(clusters, truth=unmask.Partition(truth), policy="breached <= 0.1"),
        "channel": unmask.audit(channel, policy="leakage_bits <= 0.1"),
        "mechanisms": unmask.audit({"a": channel, "b": unmask.read_channel([[0.6, 0.4], [0.5, 0.5]])}),
    }


def _read_words(page, start, end):
    text = page[page.index(start) : page.index(end)]
    text = re.sub(r"<pre>.*?</pre>|<style>.*?</style>", " ", text, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", text))


NAMES = {
    "age", "sex", "zip", "diagnosis", "education", "release", "unmask", "policy", "strict", "statistical", "office",
    "k=3", "k=25", "clinical", "information", "public", "disclosure", "control", "of", "insider",
    "version",
}  # fmt: skip
"""Words of columns, files, options and publications, and words that a language shares with English."""

ENGLISH = re.compile(
    r"\b(the|and|with|people|adversary|who|knows|is|are|guessing|missed|met|tested|above|of|what|"
    r"risk|limit|records|rows|needs|which)\b"
)


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", ["no policy", "missed", "met", "several", "drawn", "register"])
def test_a_first_screen_has_no_english_sentence(results, name, language):
    page = results[name].to_html(language=language)
    assert f'<html lang="{language}">' in page
    words = _read_words(page, "<body", "<main")
    words = re.sub("Public Release of Clinical Information|Statistical Disclosure Control|risk of rel", "", words)
    assert sorted(set(ENGLISH.findall(words)) - NAMES) == []
    assert '<main lang="en">' in page


@pytest.mark.parametrize("language", OTHERS)
def test_a_first_screen_of_another_domain_has_no_english_sentence(other_results, language):
    for result in other_results.values():
        page = result.to_html(language=language)
        words = re.sub(r"the adversary|\[\[.*\]\]", "", _read_words(page, "<body", "<main"))
        assert sorted(set(ENGLISH.findall(words)) - NAMES) == []
        assert _read_numbers(words) == _read_numbers(_read_words(result.to_html(), "<body", "<main"))


def _read_numbers(words):
    """Return the digits of all numbers."""
    return sorted(re.sub(r"\D", "", number) for number in _list_numbers(words))


@pytest.mark.parametrize("language", OTHERS)
def test_a_first_screen_shows_the_numbers_of_the_english_one(results, language):
    for result in results.values():
        english, other = (_read_words(result.to_html(language=name), "<body", "<main") for name in ("en", language))
        assert _read_numbers(other) == _read_numbers(english)
        thousands = [number for number in _list_numbers(english) if "," in number]
        with use_language(language):
            assert Counter(map(localize, thousands)) - Counter(_list_numbers(other)) == Counter()


def _list_numbers(words):
    return [number.rstrip(".,\u202f") for number in re.findall(r"\d[\d.,\u202f]*", words)]


def test_findings_below_a_first_screen_are_the_same_in_every_language(results):
    result = results["missed"]
    english, german = (result.to_html(language=language).partition("<main")[2] for language in ("en", "de"))
    assert english.partition("<section")[2] == german.partition("<section")[2]


@pytest.mark.parametrize("language", OTHERS)
def test_a_certificate_has_no_english_sentence_and_the_same_numbers(results, language):
    for result in results.values():
        audit = {
            **json.loads(result.to_json()),
            "inputs": [{"role": "releases", "name": "r.csv", "sha256": None, "rows": 9}],
        }
        english, page = (certificate(audit, "0" * 64, name) for name in ("en", language))
        assert read_language(page) == language
        words = _read_words(page, "<body", "<script")
        words = re.sub(
            r"\(?Opinion 05/2014\)?|Public Release of Clinical Information|Statistical Disclosure Control", "", words
        )
        words = re.sub(r"\S*_\S*(, \S+)* \([^)]*\)", "", words)  # names of measures, as in JSON
        assert sorted(set(ENGLISH.findall(words)) - NAMES) == []
        assert _read_numbers(words) == _read_numbers(
            re.sub(r"\S*_\S*(, \S+)* \([^)]*\)|\(?Opinion 05/2014\)?", "", _read_words(english, "<body", "<script"))
        )


def test_a_german_certificate_is_checked_in_german(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    columns = synthetic_census(200, rng=rng)
    lines = ["age,sex", *(f"{age},{sex}" for age, sex in zip(columns["age"], columns["sex"], strict=True))]
    (tmp_path / "release.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "unmask.toml").write_text(
        '[columns]\nage = "quasi-identifier"\nsex = "quasi-identifier"\n\n[[releases]]\nfile = "release.csv"\n\n'
        '[[policy]]\nrequire = "k >= 2"\n'
    )
    done = invoke("certify", "unmask.toml", "-o", "certificate.json", "--lang", "de")
    assert done.exit_code == 0, done.output
    assert "Ist sie vertretbar?" in (tmp_path / "certificate.html").read_text()
    checked = invoke("certify", "unmask.toml", "--check", "certificate.json")
    assert checked.exit_code == 0, checked.output
    page = tmp_path / "certificate.html"
    page.write_text(page.read_text().replace("Ist sie vertretbar?", "Sie ist vertretbar."))
    assert invoke("certify", "unmask.toml", "--check", "certificate.json").exit_code == 1
