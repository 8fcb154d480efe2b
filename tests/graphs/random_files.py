"""Networks written to files in random dialects: another vocabulary than the reader's, and the edges that are right."""

import csv
import gzip
import io
import random
import shlex
from dataclasses import dataclass

from unmask.core.errors import AmbiguousInput, UnmaskError
from unmask.graphs import SocialGraph

ENDS = (
    ("source", "target"), ("from", "to"), ("user_id", "friend_id"), ("caller_id", "callee_id"), ("id1", "id2"),
    ("mentor", "mentee"), ("lender", "borrower"), ("host", "guest"), ("nadawca", "odbiorca"), ("seller", "buyer"),
    ("expéditeur", "destinataire"), ("giver", "taker"), ("subscriber", "called_party"), ("playerA", "playerB"),
    ("parent", "child"), ("patron", "client"), ("a", "b"), ("kontakt_od", "kontakt_do"), ("emp_id", "boss_id"),
    ("Absender", "Empfänger"),
)  # fmt: skip
ATTRIBUTES = (
    "calls", "since", "tonnes", "weight", "rok", "layer", "n_sms", "hits", "rank", "ts", "comment", "ref", "ticket",
    "region", "kwh", "status", "premium", "Dauer", "shop", "flag",
)  # fmt: skip
STYLES = (
    "plain",
    "plain",
    "plain",
    "padded",
    "prefix",
    "name",
    "mail",
    "marked",
    "hex",
    "accent",
    "comma",
    "float",
    "phone",
    "user",
    "node",
)
COMMENTS = ("made by x", "Nodes: 12 Edges: 9", "id, x and y", "see readme", "exported 2020-01-01")


@dataclass
class RandomFile:
    """A file, the edges that are right as sets of two labels, and what was drawn."""

    path: object
    edges: set
    people: set
    facts: dict


def draw_file(seed, folder, sizes=(12, 30, 80, 300)):
    """Write a random network in a random dialect."""
    rng = random.Random(seed)
    n = rng.choice(sizes)
    pairs = _pairs(rng, n, int(n * rng.choice([1.5, 3, 8])))
    style = rng.choice(STYLES)
    labels = _labels(rng, n, style)
    columns = [[labels[node] for node in side] for side in zip(*pairs, strict=True)]
    names, kinds = list(rng.choice(ENDS)), ["end", "end"]
    for name in rng.sample(ATTRIBUTES, rng.choice([0, 0, 1, 1, 2, 3])):
        kind, cells = _attribute(rng, len(pairs), n)
        place = rng.choice([len(columns), len(columns), 0, 1])
        columns.insert(place, cells)
        names.insert(place, name)
        kinds.insert(place, kind)
    header, delimiter = rng.random() < 0.6, rng.choice([",", ",", ";", "\t", " ", "|"])
    rows = [list(row) for row in zip(*columns, strict=True)]
    lines = _lines(rng, [names, *rows] if header else rows, delimiter)
    zero = columns[names.index("weight")] if header and "weight" in names else ["1"] * len(pairs)
    canonical = {label: str(int(float(label))) if style == "float" else label for label in labels}
    expected_edges = {
        frozenset(canonical[labels[node]] for node in pair)
        for pair, weight in zip(pairs, zero, strict=True)
        if not _is_zero(weight)
    }
    people = {canonical[labels[node]] for pair in pairs for node in pair}
    path, dress = _write(rng, lines, folder, seed)
    facts = {"style": style, "header": header, "delimiter": delimiter, "kinds": kinds, "names": names, **dress}
    return RandomFile(path, expected_edges, people, facts)


def _is_zero(cell):
    try:
        return float(cell) == 0
    except ValueError:
        return False


def _pairs(rng, n, m):
    shape = rng.choice(["uniform", "uniform", "preferential", "hub"])
    weights = [1] * n if shape == "uniform" else [1 / (node + 1) ** 0.7 for node in range(n)]
    sizes = [1] * n if shape == "hub" else weights
    result = set()
    for pair in zip(rng.choices(range(n), weights, k=2 * m), rng.choices(range(n), sizes, k=2 * m), strict=True):
        if len(result) < m and pair[0] != pair[1] and pair[::-1] not in result:
            result.add(pair)
    ordered = sorted(result)
    return ordered if rng.random() < 0.5 else rng.sample(ordered, len(ordered))


def _labels(rng, n, style):
    base = rng.sample(range(1, n * rng.choice([1, 3, 50]) + 1), n)
    return [
        {
            "plain": f"{k}", "padded": f"{k:07d}", "prefix": f"u{k}", "mail": f"p{k}@x.org", "accent": f"Jörg{k}",
            "name": f"{rng.choice(['Ann', 'Bob', 'Cid', 'Eve'])}{k} {rng.choice(['Lee', 'Moe', 'Roe'])}",
            "marked": ("#" if k % 5 == 0 else "") + f"t{k}", "hex": f"{k * 2654435761 % 2**32:08x}",
            "comma": f"Doe, {k}", "float": f"{k}.0", "phone": f"+49 {170_000_000 + k}",
            "user": f"user{k}", "node": f"node_{k}",
        }[style]
        for k in base
    ]  # fmt: skip


def _attribute(rng, m, n):
    kind = rng.choice(
        ["one", "few", "count", "large", "year", "time", "share", "town", "serial", "date", "empty", "word"]
    )
    draw = {
        "one": lambda _: "1", "few": lambda _: str(rng.randint(1, 4)),
        "count": lambda _: str(int(rng.expovariate(0.2))),
        "large": lambda _: str(rng.randint(0, 3 * n)), "year": lambda _: str(rng.randint(1990, 2024)),
        "time": lambda _: str(1_300_000_000 + rng.randint(0, 10**8)), "share": lambda _: f"{rng.random():.3f}",
        "town": lambda _: rng.choice(["Ulm", "Bonn", "Ulm, Germany", "Bad Tölz"]), "serial": str,
        "date": lambda _: f"2020-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
        "empty": lambda _: rng.choice(["", "x"]), "word": lambda _: rng.choice(["friend", "kin", "work"]),
    }[kind]  # fmt: skip
    return kind, [draw(k) for k in range(m)]


def _lines(rng, rows, delimiter):
    if delimiter == " ":
        blank = rng.choice([" ", "  ", " "])
        return [blank.join(f'"{cell}"' if " " in cell or not cell else cell for cell in row) for row in rows]
    file = io.StringIO()
    quoting = csv.QUOTE_ALL if rng.random() < 0.15 else csv.QUOTE_MINIMAL
    csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(rows)
    return file.getvalue().rstrip("\n").split("\n")


def _write(rng, lines, folder, seed):
    comments = []
    if rng.random() < 0.25:
        mark = rng.choice(["#", "%", "//"])
        comments = [f"{mark} {text}" for text in rng.sample(COMMENTS, rng.randint(1, 3))]
    blank = ["", ""] if rng.random() < 0.1 else []
    end = rng.choice(["\n", "\n", "\n", "\r\n"])
    text = end.join([*comments, *lines, *blank]) + (end if rng.random() < 0.9 else "")
    encoding = rng.choice(["utf-8"] * 6 + ["utf-8-sig", "utf-16", "cp1252"])
    packed = rng.random() < 0.1
    path = folder / f"file{seed}.txt"
    path.write_bytes(gzip.compress(text.encode(encoding)) if packed else text.encode(encoding))
    return path, {"comments": comments, "end": end, "encoding": encoding, "packed": packed}


# --- how a file is read ---------------------------------------------------------------------------------------------


def read(path, **options):
    """Return the edges and the people of a file."""
    graph = SocialGraph.read(path, **options)
    names = [str(label) for label in graph.labels.tolist()]
    return {frozenset((names[u], names[v])) for u, v in zip(*(side.tolist() for side in graph.edges()), strict=True)}, {
        *names
    }


def keywords(text):
    """Return the arguments of Python for options of the command line."""
    words, result = shlex.split(text), {}
    while words:
        name = words.pop(0).removeprefix("--").replace("-", "_")
        if name in ("header", "no_header"):
            result["header"] = name == "header"
        elif name in ("two_mode", "one_mode"):
            result["two_mode"] = name == "two_mode"
        else:
            result[name] = int(words.pop(0)) if name == "skip_lines" else words.pop(0)
    return result


def outcome(drawn):
    """Return how a file is read: right, asked with an option that is right, asked without one, refused or wrong."""
    expected = drawn.edges, drawn.people
    try:
        return "right" if read(drawn.path) == expected else "wrong"
    except AmbiguousInput as question:
        return "asked" if _is_answered(drawn.path, question, expected, {}) else "asked in vain"
    except UnmaskError as refusal:
        return f"refused: {refusal}"


def _is_answered(path, question, expected, options, depth=3):
    for option in question.options:
        merged = {**options, **keywords(option)}
        try:
            if read(path, **merged) == expected:
                return True
        except AmbiguousInput as further:
            if depth and _is_answered(path, further, expected, merged, depth - 1):
                return True
        except UnmaskError:
            continue
    return False


# --- damage and dress -----------------------------------------------------------------------------------------------


def damage(rng, data):
    """Return a file with one damaged line below the first 3, in bytes of UTF-8."""
    lines = data.split(b"\n")
    place = rng.randrange(3, max(4, len(lines) - 2))
    cells = lines[place].split(b",")
    lines[place] = rng.choice(
        [
            cells[0], lines[place] + b",x,y", b'"' + lines[place], b"# " + lines[place],
            lines[place].replace(b",", b"\x00", 1), b",".join([b"", *cells[1:]]), b",".join([b"NA", *cells[1:]]),
        ]
    )  # fmt: skip
    return b"\n".join(lines)


def redress(rng, text):
    """Return the bytes of a text in a dress that changes nothing: line ends, a mark, blank lines, an encoding."""
    lines = text.rstrip("\n").split("\n")
    lines += [""] * rng.choice([0, 1, 3])
    lines.insert(rng.choice([0, len(lines) // 2]), "")
    joined = rng.choice(["\n", "\r\n"]).join(lines)
    return joined.encode(rng.choice(["utf-8", "utf-8-sig", "utf-16"]))
