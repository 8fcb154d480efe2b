"""Collect the messages of the source into the catalogs of all languages, and compile them.

`python tests/render_catalogs.py` writes `src/unmask/languages/LANGUAGE/LC_MESSAGES/unmask.po` and `.mo`. New messages
are empty, and tests/test_languages.py fails until they are translated.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from unmask.measures.registry import CRITERIA
from unmask.measures.registry import MEASURES as QUANTITIES
from unmask.policy.policies import read_shipped_policies
from unmask.results.names import CERTIFICATE_TEXTS

SOURCE = Path(__file__).parent.parent / "src" / "unmask"
KEYWORDS = {"gettext": None, "_": None, "mark": None, "say": None, "ngettext": (1, 2)}
METHODS = [("app/templates/*.j2", "jinja2"), ("render/templates/*.html.j2", "jinja2"), ("**.py", "python")]
OPTIONS = {
    pattern: {"trimmed": "false", "extensions": "jinja2.ext.i18n", "silent": "false"}
    for pattern, method in METHODS
    if method == "jinja2"
}


class Messages(Catalog):
    """Catalog whose header has no dates and no people, so that equal messages are equal files."""

    def __init__(self, locale: str | None = None) -> None:
        super().__init__(locale=locale, charset="utf-8", header_comment="# Messages of unmask.", fuzzy=False)

    @property
    def mime_headers(self) -> list[tuple[str, str]]:
        """Return what the library needs to read the catalog."""
        plural_forms = [("Plural-Forms", self.plural_forms)] if self.locale else []
        language = [("Language", str(self.locale))] if self.locale else []
        return [*language, *plural_forms, ("Content-Type", "text/plain; charset=utf-8")]


def collect() -> Catalog:
    """Return the messages of the source, in the order of files."""
    catalog = Messages()
    extracted = extract_from_dir(SOURCE, METHODS, OPTIONS, keywords=KEYWORDS)
    for _file, _line, message, comments, context in sorted(extracted, key=lambda item: (item[0], item[1])):
        if message not in ("", ("", "")):
            catalog.add(message, auto_comments=comments, context=context)
    for term in list_terms():
        catalog.add(term)
    return catalog


def list_terms() -> list[str]:
    """Return the messages that are data: names of adversaries and targets, shipped policies, measures and roles."""
    terms = [*TERMS, *CERTIFICATE_TEXTS.values()]
    for policy in read_shipped_policies().values():
        for requirement in policy.requirements:
            terms += [requirement.name, requirement.source, requirement.purpose]
    terms += [(QUANTITIES | CRITERIA)[name].meaning.partition(" (")[0] for name in MEANINGS]
    terms += [quantity.label for quantity in (*CRITERIA.values(), *(QUANTITIES[name] for name in TABLE_MEASURES))]
    return [term for term in dict.fromkeys(terms) if re.search("[a-z]{2}", term)]


TERMS = (
    "identity", "linkage", "membership", "membership of the rare", "secret", "singling out", "linkability",
    "prosecutor", "acquaintance", "insider", "modeler", "journalist", "matcher", "expert", "order reader", "observer",
    "collector", "eavesdropper",
    "Table audit", "Network criteria", "Network audit", "Linkage audit", "Channel audit",
    "releases", "original", "register", "control", "origins", "attacker", "hierarchies", "data", "auxiliary", "truth",
    "guesses", "channels", "prior", "file", "graph",
    "no. {n}", "seeds were chosen and not sampled", "number", "date", "datetime", "code", "text", "ordinal",
    "needs a control group, which shows which guesses hold for many people anyway (--control)",
    "needs the original table, on whose people guesses are tested (--original)",
)  # fmt: skip
"""Names of adversaries and targets, kinds of audits, roles of files, and texts that are joined where they are used."""

MEANINGS = (
    "k", "k_people", "alpha", "l_distinct", "t_equal", "t_ordered", "t_hierarchical", "unique_rows", "leakage_bits",
    "epsilon", "distortion", "share_of_limit", "success_probability", "realized_success", "estimation_error",
    "k_degree", "breached", "recall", "precision",
)  # fmt: skip
"""Measures whose meanings explain a single condition on a first screen."""

TABLE_MEASURES = (
    "success_probability", "effective_set_size", "guessing_entropy", "hartley_entropy_bits", "shannon_entropy_bits",
    "min_entropy_bits", "rank", "log_loss_bits", "calibration_error", "information_gain_bits", "total_variation",
    "delta_up", "delta_down", "estimation_error", "membership_auc", "epsilon_at_least", "true_positive_rate_at_0.1",
    "true_positive_rate_at_0.01", "true_positive_rate_at_0.001", "parts_linked", "singled_out",
    "singled_out_of_as_many", "k_degree", "k_neighborhood", "k_candidate", "k_twins", "breached", "recall",
    "precision", "realized_success", "rational_access", "rational_success", "rational_payoff", "rational_tries",
)  # fmt: skip
"""Measures that audits of tables have."""


def path_of(language: str, ending: str) -> Path:
    """Return the file of a catalog."""
    return SOURCE / "languages" / language / "LC_MESSAGES" / f"unmask.{ending}"


def read(language: str) -> Messages:
    """Return the catalog of a language."""
    catalog = Messages(locale=language)
    with path_of(language, "po").open("rb") as file:
        for message in read_po(file, locale=language):
            if message.id:
                catalog[message.id] = message
    return catalog


def compile_catalog(catalog: Catalog) -> bytes:
    """Return the compiled catalog."""
    buffer = io.BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def main(languages: tuple[str, ...] = ("de", "fr", "es")) -> None:
    """Update and compile the catalogs."""
    template = collect()
    for language in languages:
        catalog = read(language) if path_of(language, "po").exists() else Messages(locale=language)
        catalog.update(template, no_fuzzy_matching=True, update_creation_date=False)
        catalog.obsolete.clear()
        path_of(language, "po").parent.mkdir(parents=True, exist_ok=True)
        with path_of(language, "po").open("wb") as file:
            write_po(file, catalog, omit_header=False, no_location=True, width=120)
        path_of(language, "mo").write_bytes(compile_catalog(catalog))
        missing = [message.id for message in catalog if message.id and not all(_strings(message.string))]
        print(f"{language}: {len(catalog)} messages, {len(missing)} without a translation")  # noqa: T201


def _strings(string: str | tuple[str, ...]) -> tuple[str, ...]:
    return string if isinstance(string, tuple) else (string,)


if __name__ == "__main__":
    main()
