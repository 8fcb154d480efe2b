"""The glossary names measures as results name them."""

import re
from pathlib import Path

from unmask.catalog import examples, list_catalog
from unmask.results import Row

TEXT = (Path(__file__).parent.parent / "docs" / "glossary.md").read_text(encoding="utf-8")

STATES = {
    "exact",
    "model",
    "calibrated",
    "scores",
    "refuted",
    "identity",
    "direction",
    "utility",
    "knows",
    "leakage_bits",
}


def test_every_name_in_the_glossary_exists():
    names = set(re.findall(r"`([a-z_]+(?:_at_[\d.]+)?)`", TEXT))
    measured = {name for kind in ("measures", "criteria", "utilities") for name in list_catalog()[kind]}
    fields = set(Row.__dataclass_fields__)
    assert len(names) > 50
    assert names - measured - fields - STATES == set()
    assert set(re.findall(r"`(\w+\.[A-Z]\w+)`", TEXT)) <= examples("protections").keys()


def test_terms_are_sorted_into_groups_and_unique():
    terms = [term for block in re.findall(r"```{glossary}\n(.*?)```", TEXT, flags=re.DOTALL)
             for line in re.findall(r"^(\S.*)$", block, flags=re.MULTILINE) for term in line.split(", ")]  # fmt: skip
    assert len(terms) > 45
    assert len(terms) == len(set(terms))
