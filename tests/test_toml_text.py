"""Documents are written as they are read, and a change keeps what their authors wrote between the values."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.toml_text import format_document, update_document

values = st.recursive(
    st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
documents = st.dictionaries(st.text(max_size=4), values, max_size=5)

COMMENTED = """\
# Ours
title = "Release"

[data] # from the registry
file = "a.csv"  # March

[columns]
age = "quasi-identifier"  # voters' list
zip = { role = "keep", type = "code" } # agreed

# our DPO asked for k = 11
[[protections]]
use = "tables.Mondrian" # as before
with = { k = 11 }

[[protections]]
use = "tables.PRAM" # tried
"""


@given(documents, documents)
def test_a_changed_document_has_the_new_values(initial, after):
    text = format_document(initial)
    assert tomllib.loads(text) == initial
    assert tomllib.loads(update_document(text, after)) == after


def test_a_change_keeps_all_comments():
    document = tomllib.loads(COMMENTED)
    document["data"] |= {"file": "b.csv", "hold_back": 0.2}
    document["columns"]["zip"]["role"] = "drop"
    document["columns"]["job"] = {"role": "sensitive"}
    document["protections"][0]["with"]["k"] = 5
    document["register"] = {"file": "r.csv"}
    updated = update_document(COMMENTED, document)
    assert tomllib.loads(updated) == document
    comments = [line.partition("#")[2] for line in COMMENTED.splitlines() if "#" in line]
    assert [line.partition("#")[2] for line in updated.splitlines() if "#" in line] == comments
    assert updated.index("job") < updated.index("# our DPO") < updated.index("[[protections]]")


def test_an_entry_that_goes_takes_its_comment_along():
    document = tomllib.loads(COMMENTED)
    document["protections"] = [document["protections"][1], {"use": "tables.AddNoise"}]
    updated = update_document(COMMENTED, document)
    assert tomllib.loads(updated) == document
    assert 'use = "tables.PRAM" # tried' in updated
    assert "as before" not in updated


@pytest.mark.parametrize("text", ['[data]\nfile = "a.csv"\n', '[data]\nfile = "a.csv"\n\n[columns]\n'])
def test_an_empty_line_separates_the_columns_from_the_data_above(text):
    document = {"data": {"file": "a.csv", "na": ["NA"]}, "columns": {"age": "keep"}}
    expected = '[data]\nfile = "a.csv"\nna = ["NA"]\n\n[columns]\nage = "keep"'
    assert update_document(text, document).rstrip() == expected


def test_a_section_that_its_author_wrote_without_an_empty_line_stays_so():
    text = "[data]\nfile = 'a.csv'\n[audit]\nseed = 1\n"
    updated = update_document(text, {"data": {"file": "a.csv"}, "audit": {"seed": 2}, "control": {"file": "c.csv"}})
    assert updated == "[data]\nfile = 'a.csv'\n[audit]\nseed = 2\n\n[control]\nfile = \"c.csv\"\n"


def test_a_text_that_is_not_toml_is_written_anew():
    assert update_document("a = [", {"title": "x"}) == 'title = "x"\n'
