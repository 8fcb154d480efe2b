"""README, documentation and notebooks are plain English: short sentences, glossary terms, no private phrases."""

import ast
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.render_options import list_commands
from unmask.cli import main

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [
    README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(DOCS.rglob("*.md")),
    *sorted(DOCS.rglob("*.ipynb")),
]
IDS = [str(page.relative_to(ROOT)) for page in PAGES]

OPENERS = {"what", "who", "whom", "whose", "whoever", "whatever", "where", "wherever", "which", "whether", "how", "of"}
"""Words that open a sentence whose subject comes late, unless it is a question."""

PHRASES = re.compile(
    r"\b(?:nobody(?:'s)?|somebody(?:'s)?|whom|whoever|(?:is|are) none|(?<!there )is no \w+"
    r"|(?:said|told|asked) of|held against"
    r"|reckon\w*|comes? true|came true|gives? (?:\w+ )?away|given away|beside|takes? part|tells? of|commonest|worst-off"
    r"|so many|(?:(?<=[.:;(] )|(?<=\bof )|(?<=\bfor ))who (?:knows|has|links)|alike in|held back"
    r"|(?:rows?|files?|cells?|columns?|releases?|records?) (?:says?|tells?|stands?|leaves?|gives?))\b",
    re.IGNORECASE,
)

SYNONYMS = re.compile(
    r"\b(?:victims?|(?<!motivated )intruders?|background knowledge|key variables?|QIs?|control people"
    r"|holdouts?|scramblers?|marketers' risk|undominated|voter file|phone book)\b",
    re.IGNORECASE,
)
"""Words for which the glossary has another term."""

MAX_HELP_FAULTS = {"openers": 0, "phrases": 0, "semicolons": 0, "long sentences": 0}
"""Faults of help texts; these limits may only shrink."""

ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|vs|etc|cf|Fig|Eq|al|approx|Mr|Dr|No|resp|Inc|St)\.\s", re.IGNORECASE)
WORD = re.compile(r"[A-Za-z0-9][\w'’.,%/=:-]*")


def paragraphs(text: str) -> list[str]:
    """Return the prose of a page: without code, formulas, tables, headings, pictures and the addresses of links."""
    text = re.sub(r"(?ms)^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", "\n\n", text)
    text = re.sub(r"\$\$.*?\$\$", " X ", text, flags=re.DOTALL)
    text = re.sub(r"\$[^$\n]+\$", "X", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)|<[^>]+>", " ", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\{term\}`([^`<\n]*?)(?: <[^`\n]*>)?`", r"\1", text)
    text = re.sub(r"`+[^`]*`+", "CODE", text)
    text = re.sub(r"[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}", "", text)
    blocks = [""]
    for line in text.splitlines():
        line = line.strip().lstrip("> ")
        if not line or line.startswith(("#", "|", ":::", ">>>")) or re.fullmatch(r"[-=|: ]+", line):
            blocks.append("")
        elif item := re.match(r"(?:[-*+]|\d+[.)]|:)\s+(.*)", line):
            blocks.append(item[1])
        else:
            blocks[-1] += " " + line
    return [re.sub(r"\s+", " ", block).strip() for block in blocks if len(re.findall(r"[A-Za-z]+", block)) > 3]


def sentences(text: str) -> list[str]:
    """Return the sentences of a page that have four words or more."""
    faults = []
    for block in paragraphs(text):
        protected = ABBREVIATIONS.sub(lambda match: match[0].replace(". ", "\u2024 "), block)
        faults += re.split(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z(\"'`“]|unmask\b)", protected)
    return [sentence for sentence in faults if n_words(sentence) > 3]


def n_words(sentence: str) -> int:
    return len(WORD.findall(sentence))


def opener(sentence: str) -> bool:
    first = re.match(r"\W*(\w+)", sentence)
    return bool(first) and first[1].lower() in OPENERS and not sentence.rstrip(" )\"'").endswith("?")


def chained(sentence: str) -> bool:
    return bool(re.search(r";.*;|:.*;|;.*:", sentence))


def read(page: Path) -> str:
    """Return the text of a page, or the prose of a notebook."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        return "\n\n".join(
            "".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"
        )
    return re.sub(r"```\{glossary\}|^```$", "", text, flags=re.MULTILINE) if page.stem == "glossary" else text


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_sentences_of_a_page_are_short(page):
    """T1, T2: at most 25 words in README; elsewhere 12 % of the sentences above 25 words, and 2 % above 35."""
    lines = sentences(read(page))
    longest = [line for line in lines if n_words(line) > 35]
    long = [line for line in lines if n_words(line) > 25]
    if page == README:
        assert long == []
    if len(lines) >= 20:
        assert len(longest) <= 0.02 * len(lines), longest
        assert len(long) <= 0.12 * len(lines), long


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_sentences_of_a_page_open_with_their_subject(page):
    """T3: no sentence but a question opens with a question word or with Of."""
    assert [line for line in sentences(read(page)) if opener(line)] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_a_sentence_has_one_idea(page):
    """T4, T5: a semicolon in 1,000 words, two at most on a short page; no chains."""
    lines = sentences(read(page))
    words = sum(n_words(line) for line in lines)
    with_semicolon = [line for line in lines if ";" in line]
    assert sum(line.count(";") for line in lines) <= max(1, words / 1000), with_semicolon
    assert [line for line in lines if chained(line)] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_a_page_has_no_private_phrase(page):
    """T6, T7: phrases that no other documentation uses, and words for which the glossary has a term; in tables, too."""
    text = read(page)
    lines = [
        *sentences(text),
        *(re.sub(r"`[^`]*`", "CODE", line) for line in text.splitlines() if line[:1] in ("|", "#")),
    ]
    patterns = [PHRASES] if page.stem == "glossary" else [PHRASES, SYNONYMS]
    assert [line for line in lines if any(pattern.search(line) for pattern in patterns)] == []


def test_definitions_of_the_glossary_are_short():
    """T8: 20 words, in the first sentence of a definition."""
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    definitions = re.findall(r"^  (\S.*(?:\n  \S.*)*)", text, flags=re.MULTILINE)
    assert len(definitions) > 40
    first = [sentences(text)[:1] for text in definitions]
    assert [lines for lines in first if lines and n_words(lines[0]) > 20] == []


def test_readme_is_read_in_a_minute():
    """T11: at most 700 words, at most 120 of them before the first command."""
    text = README.read_text(encoding="utf-8")
    assert len(text.split()) <= 700
    assert len(text.partition("```")[0].split()) <= 120


def help_texts() -> list[str]:
    """Return the description of every command without its examples, and the help line of every option."""
    commands = list_commands().values()
    options = (option for command in commands for option in command.params)
    lines = [getattr(option, "help", None) or "" for option in options]
    descriptions = (re.sub(r"\x08\n(?:.+\n?)*", "", command.help or "") for command in commands)
    return [*descriptions, *dict.fromkeys(lines)]


def test_help_has_at_most_the_faults_that_it_had():
    """T1 to T6 over `--help`. The limits may only shrink."""
    lines = [line for text in help_texts() for line in sentences(text)]
    assert len(lines) > 100
    assert sum(opener(line) for line in lines) <= MAX_HELP_FAULTS["openers"]
    assert sum(bool(PHRASES.search(line)) for line in lines) <= MAX_HELP_FAULTS["phrases"]
    assert sum(line.count(";") for line in lines) <= MAX_HELP_FAULTS["semicolons"]
    assert sum(n_words(line) > 35 for line in lines) <= MAX_HELP_FAULTS["long sentences"]


MAX_PHRASES_IN_CODE = 98
"""Phrases in docstrings and messages of the source; this limit may only shrink."""


def test_docstrings_and_messages_have_at_most_the_phrases_that_they_had():
    """T6 over the source: doctests and the constant None are no prose."""
    found = []
    for path in sorted((ROOT / "src/unmask").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                prose = re.sub(r">>>.*", "", node.value)
                found += [
                    f"{path.name}:{node.lineno}: {match[0]}"
                    for match in PHRASES.finditer(prose)
                    if match[0] != "is None"
                ]
    for name in ("measures/names.csv", "studies/questions.toml"):
        text = (ROOT / "src/unmask" / name).read_text(encoding="utf-8")
        found += [f"{name}: {match[0]}" for match in PHRASES.finditer(text)]
    assert len(found) <= MAX_PHRASES_IN_CODE, found


@pytest.mark.parametrize("name", list_commands())
def test_help_fits_a_terminal_of_80_columns(name):
    """T10: all lines but examples, which can be copied."""
    screen = CliRunner().invoke(main, [*name.split(), "--help"], terminal_width=80).output
    assert [line for line in screen.splitlines() if len(line) > 80 and "unmask " not in line] == []
