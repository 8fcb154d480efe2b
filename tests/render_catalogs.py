"""Collect the messages of the source into the catalogs of all languages, and compile them.

`python tests/render_catalogs.py` writes `src/unmask/languages/LANGUAGE/LC_MESSAGES/unmask.po` and `.mo`. New messages
are empty, and tests/test_languages.py fails until they are translated.
"""

from __future__ import annotations

import ast
import io
import itertools
import re
from collections.abc import Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from unmask.app.adversaries_screen import COVERAGE, TARGETS
from unmask.app.form_screen import _show_limit
from unmask.app.workflows import WORKFLOWS
from unmask.economics.audit.parameters import PARAMETERS
from unmask.languages import SENTENCE_END
from unmask.measures.registry import CRITERIA
from unmask.measures.registry import MEASURES as QUANTITIES
from unmask.policy.policies import read_shipped_policies
from unmask.results.names import CERTIFICATE_TEXTS
from unmask.studies.game.sentences import INPUTS
from unmask.studies.questions import QUESTIONS

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
    for message in (*list_terms(), *list_sentences()):
        catalog.add(message)
    return catalog


def list_sentences() -> list[str]:
    """Return the sentences that the functions of `SENTENCES` write, with fields in place of values."""
    return [sentence for path, names in SENTENCES.items() for name in names for sentence in _read_sentences(path, name)]


def _read_sentences(path: str, name: str) -> Iterator[str]:
    tree = ast.parse((SOURCE / path).read_text(encoding="utf-8"))
    body, found = tree.body, []
    for part in name.split("."):
        found = [node for node in body if part in _list_names(node)]
        body = getattr(found[0], "body", []) if found else []
    assert len(found) == 1, f"{path} has no {name}; correct SENTENCES in {__file__}"
    docstring = ast.get_docstring(found[0], clean=False) if isinstance(found[0], ast.FunctionDef) else None
    inner = {id(value) for node in ast.walk(found[0]) if isinstance(node, ast.JoinedStr) for value in node.values}
    for node in ast.walk(found[0]):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != docstring
        if isinstance(node, ast.JoinedStr) or (is_text and id(node) not in inner):
            for sentence in re.split(PARTS, _write_message(node).strip()):
                if (
                    " " in sentence
                    and not sentence.startswith("unmask ")
                    and re.search("[a-z]{2}", re.sub(r"\{\w+\}", "", sentence))
                ):
                    yield sentence


def _list_names(node: ast.stmt) -> set[str]:
    """Return the names of a function, or of the constants that a statement assigns."""
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    names = {item.id for target in targets if target for item in ast.walk(target) if isinstance(item, ast.Name)}
    return names | {getattr(node, "name", "")}


def _write_message(node: ast.expr) -> str:
    """Return a text with the names of its variables as fields; values of other expressions are called value."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.FormattedValue):
        return f"{{{node.value.id if isinstance(node.value, ast.Name) else 'value'}}}"
    assert isinstance(node, ast.JoinedStr)
    message = "".join(map(_write_message, node.values))
    number = itertools.count(1)
    several = message.count("{value}") > 1
    return re.sub(r"\{value\}", lambda _: f"{{value{next(number)}}}", message) if several else message


PARTS = rf"{SENTENCE_END.pattern}|(?<=[.!?]) (?={{)|(?<=}}) (?=[A-Z])"
"""Spaces between sentences, of which some are fields."""


def list_terms() -> list[str]:
    """Return the messages that are data: names of adversaries and targets, shipped policies, measures and roles."""
    terms = [*TERMS, *CERTIFICATE_TEXTS.values(), *INPUTS.values(), *(name for name, _ in PARAMETERS.values())]
    terms += [COVERAGE.title, TARGETS.title, *_list_form_texts()]
    terms += [text for question in QUESTIONS for text in (question.asks, question.anchor, question.role)]
    for policy in read_shipped_policies().values():
        for requirement in policy.requirements:
            terms += [requirement.name, requirement.source, requirement.purpose]
    terms += [(QUANTITIES | CRITERIA)[name].meaning.partition(" (")[0] for name in MEANINGS]
    terms += [quantity.label for quantity in (*CRITERIA.values(), *(QUANTITIES[name] for name in TABLE_MEASURES))]
    return [term for term in dict.fromkeys(terms) if re.search("[a-z]{2}", term)]


def _list_form_texts() -> Iterator[str]:
    """Yield the labels of fields and limits in the forms of the app."""
    for workflow in WORKFLOWS:
        for form in workflow.forms.values():
            for field in (field for document in FORM_DOCUMENTS for field in form.fields(document)):
                yield field.title
                if isinstance(field.options, Mapping):
                    yield from field.options.values()
                elif get_origin(field.hint) is Literal:
                    yield from (value.replace("_", " ") for value in get_args(field.hint))
            for limit in form.limits:
                yield from itemgetter("title", "meaning", "side", "unit")(_show_limit(limit.condition, "", None))


FORM_DOCUMENTS: tuple[dict[str, Any], ...] = (
    {}, {"protections": [{"with": {}}]}, {"protections": [{"with": {}}], "data": {"file": ""}},
)  # fmt: skip
"""Documents on which the fields of forms depend."""

TERMS = (
    "identity", "linkage", "membership", "membership of the rare", "secret", "singling out", "linkability",
    "prosecutor", "acquaintance", "insider", "modeler", "journalist", "matcher", "expert", "order reader", "observer",
    "collector", "eavesdropper",
    "Audit of published tables", "Records", "Published tables {name}", "Price", "Prices of group sizes",
    "{n} areas", "1 area", "once", "all {n} records", "1 record", "Deterrence", "What deters an attack",
    "survey weight: number of people that a row represents",
    "unprotected", "drop", "quasi-identifier", "sensitive", "weight", "month", "quarter", "year", "decade", "rare",
    "Conditions",
    "{value} attacks", "{value} may attack", "Publisher's game", "Study", "Utility", "Contractual fine",
    "are re-identified", "would be re-identified",
    "Take {name}: of the acceptable protections it keeps the most utility.", "{n} protections", "1 protection", "With",
    "On", "utility", "reached", "left\u00a0to\u00a0you", "the policy of this study",
    "Table audit", "Network criteria", "Network audit", "Linkage audit", "Channel audit",
    "releases", "original", "register", "control", "origins", "attacker", "hierarchies", "data", "auxiliary", "truth",
    "guesses", "channels", "prior", "file", "graph",
    "no. {n}", "seeds were chosen and not sampled", "number", "date", "datetime", "code", "text", "ordinal",
    "needs a control group, which shows which guesses hold for many people anyway (--control)",
    "needs the original table, on whose people guesses are tested (--original)",
)  # fmt: skip
"""Names of adversaries and targets, kinds of audits, roles of files, and texts that are joined where they are used."""

SENTENCES: dict[str, tuple[str, ...]] = {
    "economics/audit/deterrence.py": ("GAINS", "FAILS", "_make_decision", "_describe_change"),
    "economics/audit/group_sizes.py": ("_make_decision",),
    "economics/audit/sentences.py": ("describe_campaign", "format_bounds"),
    "aggregates/audit/aggregate_audit.py": ("_cautions",),
    "aggregates/audit/blocks.py": ("ADVICE", "headline", "describe_risk"),
    "app/adversaries_screen.py": ("PRICES", "REGISTER", "CONTROL", "HELD_BACK"),
    "app/channel_workflow.py": ("TRIALS",),
    "app/column_shapes.py": ("_count_bars", "_build_ladder", "_list_levels"),
    "app/graph_workflow.py": ("TRIALS", "_read_file"),
    "app/hierarchy_screen.py": ("STARTS", "_list_starts"),
    "app/protect_screen.py": ("COLUMNS",),
    "app/roles_screen.py": ("ROLES", "TYPES"),
    "app/table_workflow.py": ("TRIALS",),
    "tables/risk/column_facts.py": ("_suggest_role", "_REASONS", "POSSIBLY_KNOWN"),
    "economics/attacker.py": ("Attacker.warnings",),
    "policy/verdict.py": ("_find_obstacle",),
    "studies/decision.py": (
        "COUNTED_TARGETS",
        "NO_LIMIT",
        "make_decision",
        "_judge",
        "_describe_options",
        "_dataset_item",
        "_describe_state",
        "make_headline",
        "_describe_risk",
    ),
    "studies/game/game_result.py": ("_make_decision", "_make_item", "_make_risk", "_make_advice"),
    "studies/game/sentences.py": (
        "describe_protection",
        "describe_terms",
        "describe_decision",
        "_describe_deterring",
        "describe_judgment",
        "_describe_payoff",
        "_describe_safer",
        "describe_answer",
        "describe_most_sensitive",
    ),
    "studies/questions.py": ("describe_assumption",),
    "studies/study_result.py": ("read_result",),
}
"""File -> its functions and constants whose sentences stand on first screens."""

MEANINGS = (
    "k", "k_people", "alpha", "l_distinct", "t_equal", "t_ordered", "t_hierarchical", "unique_rows", "leakage_bits",
    "epsilon", "distortion", "coverage", "share_of_limit", "success_probability", "realized_success",
    "estimation_error", "k_degree", "breached", "recall", "precision",
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
