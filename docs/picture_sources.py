"""Sources of the pictures of the documentation: documents, commands, pages, charts, screens and terminals."""

ROLES = ("-q", "age,sex,zip", "-s", "diagnosis")
HELD = ("held.csv", *ROLES, "--original", "people.csv", "--origin", "own/held.csv", "--hold-back", "0.3")
RELEASE = ("release.csv", *ROLES, "--original", "people.csv", "--origin", "own/origin.csv")

COLUMNS = """
[columns]
age = "quasi-identifier"
sex = "quasi-identifier"
zip = "quasi-identifier"
diagnosis = "sensitive"
"""
"""Roles of the generated people in a document."""

DOCUMENT = f"""
title = "Discharges of a year, for research"

[data]
file = "people.csv"
{COLUMNS}
[[releases]]
file = "signed.csv"
origin = "own/signed.csv"

[[policy]]
use = "ema-0.09"

[certificate]
released_by = "St. Mary Hospital, data trustee"
recipient = "University of Springfield"
purpose = "research on hypertension"
access = "contract of 2026-02-01, no linkage"
method = "Mondrian, k = 12"
contact = "trustee@example.org"
review = "2027-06-01"
"""

POLICY = """
title = "Research files"

[[policy]]
require = "identity:success_probability.worst <= 0.09"
name = "Largest re-identification risk"
source = "EMA policy 0070"

[[policy]]
require = "k >= 5"
name = "Smallest class"
source = "board, 2026-03"

[[policy]]
require = "alpha <= 0.9"
name = "Largest diagnosis share"
source = "dominance rule"

[[policy]]
require = "diagnosis:realized_success.excess <= 0.02"
name = "Diagnosis, beyond control"
source = "WP216, inference"
"""

PLAN = f"""
title = "A thousand people"
seeds = 3
measures = ["success_probability", "realized_success", "estimation_error", "utility"]

[data]
use = "tables.file"
file = "people.csv"
{COLUMNS}
[[policy]]
require = "neighbor:success_probability <= 0.09"
source = "EMA policy 0070"

[[protections]]
name = "none"
use = "none"

[[protections]]
name = "Mondrian"
use = "tables.Mondrian"
grid = {{ k = [2, 5, 10, 25, 50] }}

[[protections]]
name = "cells suppressed"
use = "tables.SuppressCells"
grid = {{ k = [2, 5, 10] }}

[[adversaries]]
name = "neighbor"
use = "tables.ClassAttack"
knows = {{ targets = 300, error = 0.05 }}

[[adversaries]]
name = "employer"
use = "tables.AttributeInference"
with = {{ sensitive = "diagnosis" }}
knows = {{ targets = 300 }}
"""

MECHANISM = """
title = "Rank swapping, and an adversary who knows it"
seeds = 2
measures = ["realized_success", "utility"]

[data]
file = "numbers.csv"

[columns]
income = "quasi-identifier"
savings = "quasi-identifier"
rent = "quasi-identifier"

[[protections]]
name = "swap"
use = "tables.RankSwap"
grid = { share = [0.02, 0.05, 0.1, 0.2] }

[[adversaries]]
name = "nearest row"
use = "tables.NearestNeighbor"
knows = { targets = 200 }

[[adversaries]]
name = "knows the mechanism"
use = "tables.MechanismAttack"
knows = { targets = 200 }
"""

AUDITS = {
    "table": ("audit", *RELEASE, "--policy", "research.toml"),
    "control": ("audit", *HELD),
    "price": ("audit", *RELEASE, "--register", "register.csv", "--coverage", "0.8", "--attacker", "case-study"),
    "graph": ("audit", "graph", "network.csv", "--overlap", "0.6,0.7", "--attack", "Nar09,Rematch",
              "--seeds", "random.25:30", "--runs", "2", "--transition", "5,15,50",
              "--policy", "recall <= 0.09"),
    "linkage": ("audit", "linkage", "--truth", "truth.csv", "--guess", "near.csv", "--guess", "far.csv",
                "--beta", "0.5", "--policy", "breached <= 0.1"),
    "channel": ("audit", "channel", "response.csv", "geometric.csv", "--loss", "absolute", "--policy", "epsilon <= 1"),
    "aggregates": ("audit", "aggregates", "published", "--original", "areas.csv"),
    "demo": ("demo",),
    "badges": ("audit", "badges", "shown.txt", "--truth", "people.txt", "--trust", "0.8"),
}  # fmt: skip
"""Page -> the command that writes it with `--report`."""

RUNS = {"study": "plan.toml", "mechanism": "mechanism.toml"}
"""Page -> the plan of its study."""

PAGES = ("table", "graph", "linkage", "channel", "study", "demo", "certificate")
"""Pages with pictures of the first screen, wide and narrow, light and dark, and printed."""

CHARTS = {
    "chart-success": ("table", "#success figure"),
    "chart-people": ("table", "#people figure"),
    "chart-promises": ("table", "#promises figure"),
    "chart-shapes": ("table", "#shapes figure"),
    "chart-risk": ("table", ".verdict svg[role=img]:not(.state)"),
    "chart-control": ("control", "#added figure"),
    "chart-singled": ("control", "figure:has(svg[aria-label^='Guesses that are right'])"),
    "chart-plane": ("study", "figure:has(svg[aria-label*='utility' i]), #plane figure"),
    "chart-grid": ("study", "figure:has-text('Mondrian: success over')"),
    "chart-mechanism": ("mechanism", "figure:has-text('success over')"),
    "chart-edges": ("graph", "figure:has(svg[aria-label*='by edges of the person'])"),
    "chart-leaked": ("graph", "figure:has(svg[aria-label*='by leaked identities'])"),
    "chart-passes": ("graph", "figure:has-text('Matches made or changed')"),
    "chart-merges": ("linkage", "figure:has-text('Items of others mixed in')"),
    "chart-breached": ("linkage", "figure:has-text('Subjects breached')"),
    "chart-slope": ("linkage", "figure:has-text('Risk slope')"),
    "chart-distortion": ("channel", "figure:has-text('What is left to privacy')"),
    "chart-observations": ("channel", "figure:has(svg[aria-label^='Share of cases'])"),
    "chart-reconstructed": ("aggregates", "#records figure:has(svg[aria-label^='Records reconstructed'])"),
    "chart-price": ("price", "#price-sizes figure"),
}
"""Chart -> its page, and a selector whose first match is used."""

SCREENS = (
    "app-open", "app-roles", "app-hierarchy", "app-adversaries", "app-verdict", "app-protect", "app-game", "app-sign",
)  # fmt: skip
"""The screens of `unmask open`."""

KINDS = ("app-network", "app-clusters", "app-channel")
"""Screens of `unmask open` for other data than tables."""

LOOKS = (("", "light", 1280), ("-dark", "dark", 1280), ("-400", "light", 400), ("-400-dark", "dark", 400))
"""Ending of a picture's name, color scheme, and width of the window."""

TERMINALS = {
    "terminal-help": ("--help",),
    "terminal-columns": ("columns", "people.csv"),
    "terminal-init": ("init", "people.csv", "-o", "made.toml"),
    "terminal-gate": ("audit", *RELEASE[:5], "--policy", "k >= 10",
                      "--policy", "identity:success_probability.worst <= 0.1"),
    "terminal-choose": ("choose", "run-study", "--policy", "neighbor:success_probability<=0.1"),
    "terminal-advise": ("advise", "--what", "attribute", "--loss", "graded", "--observations", "one"),
}  # fmt: skip
"""Picture of a terminal -> its command."""
