# fmt: off
# ruff: noqa: E501
"""Options of commands by the function or the dataclass that declares them. tests/render_options.py writes this file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from unmask.cli.generated import FILE, FileOrName, check_number, parse_pairs

DECLARED: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "unmask.channels.audit:audit": {
        "loss": {"help": "Loss: hamming, squared, absolute, euclidean, haversine, euclidean_medoid, haversine_medoid, or a CSV.", "default": "hamming", "show_default": True, "type": FileOrName(("hamming", "squared", "absolute", "euclidean", "haversine", "euclidean_medoid", "haversine_medoid")), "metavar": "NAME|PATH"},
        "coordinates": {"help": "CSV of secret and coordinates (default: the secrets are numbers).", "type": FILE},
    },
    "unmask.channels.criteria:advise": {
        "what": {"help": "Goal of the adversary: identity (the person of a record), attribute (a value) or sender (of a message).", "required": True, "type": click.Choice(("identity", "attribute", "sender"))},
        "loss": {"help": "Hamming if every wrong answer costs the same, graded if some are nearer (default: hamming, or graded if the loss is unknown).", "type": click.Choice(("hamming", "graded"))},
        "loss_known": {"help": "Loss is known.", "default": True, "show_default": True, "is_flag": True},
        "observations": {"help": "One observation, or many of a long stationary sequence that the adversary wants as a whole.", "default": "one", "show_default": True, "type": click.Choice(("one", "many"))},
        "dmax": {"help": "Largest loss, if the loss is unknown.", "type": click.FloatRange(0, None, min_open=True), "parse": check_number},
        "rank_by": {"help": "Measure by which you want to rank releases (rejected, with the reason, if that is unsound).", "type": str},
    },
    "unmask.channels:optimal_mechanism": {
        "budget": {"help": "Largest expected distortion.", "required": True, "type": click.FloatRange(0, None), "parse": check_number},
        "epsilon": {"help": "Largest epsilon of local privacy.", "type": click.FloatRange(0, None, min_open=True), "parse": check_number},
        "delta": {"help": "Largest change of any belief, in nats.", "type": click.FloatRange(0, None, min_open=True), "parse": check_number},
        "worst_case": {"help": "Least error of the adversary at every output.", "type": click.FloatRange(0, None), "parse": check_number},
    },
    "unmask.data.engine:EngineOptions": {
        "engine": {"help": "Keep tables in an engine, so that a table may be a glob, a folder of Parquet, or DATABASE::TABLE.", "type": str, "heading": "Large data", "metavar": "duckdb|spark[://MASTER]"},
        "memory_limit": {"help": "Memory of the engine and of the arrays together, 4GiB by default (needs --engine).", "type": str, "heading": "Large data", "metavar": "SIZE"},
        "temp_directory": {"help": "Spill directory (needs --engine).", "type": FILE, "heading": "Large data"},
        "dry_run": {"help": "Estimate the work, and do nothing else (needs --engine).", "default": False, "show_default": True, "is_flag": True, "heading": "Large data"},
    },
    "unmask.graphs.audit.identity_advice:advise": {
        "identities": {"help": "Number of identities you would take (default: 5, or as many as in --discovery).", "type": click.IntRange(1, 1000), "parse": check_number},
        "discovery": {"help": "Probability that each is found, such as 0.3,0.1."},
        "runs": {"help": "Simulated attacks for each identity, from which --discovery is estimated (0: no simulation).", "default": 0, "show_default": True, "type": click.IntRange(0, None), "parse": check_number},
        "attack": {"help": "Attack to simulate (needs --runs).", "default": "Rematch", "show_default": True, "type": str},
        "leaked": {"help": "People that the adversary knows already.", "default": 100, "show_default": True, "type": click.IntRange(1, None), "parse": check_number},
        "k": {"help": "Number of people, including you, that no attack shall tell apart: what a new identity needs for that.", "type": click.IntRange(2, None), "parse": check_number},
        "seed": {"help": "Random seed of every draw.", "default": 0, "show_default": True, "type": click.IntRange(0, None), "parse": check_number},
    },
    "unmask.graphs.audit:audit": {
        "auxiliary": {"help": "Network of the adversary, in which they know the people."},
        "truth": {"help": "Table of who is who: id in AUXILIARY, id in RELEASE."},
        "truth_partial": {"help": "Do not judge people without a line in --truth, who may be in RELEASE.", "default": False, "show_default": True, "is_flag": True},
        "truth_sampled": {"help": "People of a partial --truth are drawn at random, and stand for all.", "default": False, "show_default": True, "is_flag": True},
        "similarity": {"help": "Table of similar people (needs --auxiliary): id in AUXILIARY, id in RELEASE, larger weights for the more similar, in an order that Rematch and Climb use."},
        "overlaps": {"help": "Shares of people and edges in common of two networks made from RELEASE, in place of --auxiliary."},
        "largest_component": {"help": "Cut both networks of --overlap to it, as papers do, and judge only its people.", "default": False, "show_default": True, "is_flag": True},
        "attacks": {"help": "Attacks, separated by commas, with parameters after colons, as in Bumblebee:theta=0.5 (default: all, and Rematch once forced).", "type": str, "multiple": True},
        "seeds": {"help": "Leaked identities: random, random.25, top, clique.4, betweenness.1 and more, drawn with the truth, or match_profiles, match_top and match_cliques without it.", "type": str},
        "runs": {"help": "Runs, each with other graphs or seeds.", "default": 4, "show_default": True, "type": click.IntRange(1, None), "parse": check_number},
        "transition": {"help": "Other numbers of leaked identities to attack from, such as 5,25,100."},
        "seed": {"help": "Random seed of every draw.", "default": 0, "show_default": True, "type": click.IntRange(0, None), "parse": check_number},
        "checkpoint": {"help": "Keep each round of Ensemble in a folder: after an interruption the same command goes on from there.", "type": FILE},
    },
    "unmask.graphs:EdgeListOptions": {
        "delimiter": {"help": "Delimiter of the ids: a character, or tab, bar, semicolon, comma or blank (any run of blanks).", "type": str},
        "header": {"help": "First row names columns.", "is_flag": True},
        "skip_lines": {"help": "Lines to skip at the top.", "default": 0, "show_default": True, "type": click.IntRange(0, None), "parse": check_number},
        "comment": {"help": "Mark of comments, also below the first row (none: no line is a comment).", "type": str},
        "encoding": {"help": "Encoding of a text file that is not UTF-8.", "type": str},
        "form": {"help": "Rows are edges (links), nodes with their neighbors (adjacency), or rows of a matrix.", "type": click.Choice(("links", "adjacency", "matrix"))},
        "ids": {"help": "07 and 7, or 12.0 and 12, are one id (number) or two (text).", "type": click.Choice(("text", "number"))},
        "missing_ids": {"help": "Drop edges with a missing end, keep their other end as a person (isolated), or keep the word as an id.", "type": click.Choice(("drop", "isolated", "keep"))},
        "two_mode": {"help": "Ends of two kinds, such as people and items.", "is_flag": True},
    },
    "unmask.graphs:IdentitySeparation": {
        "model": {"help": "Contacts may be dropped (best), doubled (worst), both (realistic) or neither (basic).", "default": "basic", "show_default": True, "type": click.Choice(("basic", "realistic", "realistic_minimal", "best", "worst"))},
        "identities": {"help": "Identities of each adopter.", "default": 2, "show_default": True, "type": int},
        "adopters": {"help": "People who adopt several identities: a share such as 0.1, or without a point a number.", "default": 0.1, "show_default": True, "type": float},
        "cooperation": {"help": "Draw of adopters: singly (none), as neighbors (local), by most contacts (degree) or by lowest local anonymity (lta).", "default": "none", "show_default": True, "type": click.Choice(("none", "local", "degree", "lta"))},
        "group": {"help": "Size of a group of neighbors.", "default": 10, "show_default": True, "type": click.IntRange(1, None), "parse": check_number},
        "refuse_top": {"help": "Share of the people with most contacts who refuse to adopt.", "default": 0.0, "show_default": True, "type": click.FloatRange(0, 1), "parse": check_number},
        "minimum_degree": {"help": "Fewest contacts of an adopter drawn singly.", "default": 3, "show_default": True, "type": click.IntRange(0, None), "parse": check_number},
    },
    "unmask.studies.game.solution:play": {
        "study": {"help": "Folder of a study of the document: its beliefs are priced, and no attack runs again.", "type": FILE},
    },
    "unmask.tables.audit:audit": {
        "original": {"help": "Table before protection: gives targets and truth."},
        "origin": {"help": "Row of the original behind each record, of one release or by release.", "type": str},
        "register": {"help": "Table of people with some of the quasi-identifiers."},
        "control": {"help": "Control group: similar people who are not in the original, to show what being in it adds."},
        "hold_back": {"help": "Share of the original that was withheld at random: withheld people in no release are control people.", "default": 0.0, "show_default": True, "type": click.FloatRange(0, 1, max_open=True), "parse": check_number},
        "synthetic": {"help": "No released row is a person's, and only inference of values is tested.", "default": False, "show_default": True, "is_flag": True},
        "coverage": {"help": "Probability that the person behind a record is in the register.", "default": 1.0, "show_default": True, "type": click.FloatRange(0, 1, min_open=True), "parse": check_number},
        "targets": {"help": "Number of people attacked, drawn from the original (default: all).", "type": click.IntRange(1, None), "parse": check_number},
        "seed": {"help": "Random seed of every draw.", "default": 0, "show_default": True, "type": click.IntRange(0, None), "parse": check_number},
        "attacker": {"help": "Rational attacker: a TOML file with [attacker], or case-study, the embedded assumption.", "type": str},
        "steps": {"help": "Try one step of generalization of each quasi-identifier, of releases whose original and origin are given.", "default": False, "show_default": True, "is_flag": True},
        "without": {"help": "Standard adversaries to leave out: all columns, insider, learner, order, several rows.", "type": str, "multiple": True},
        "together": {"help": "All the releases are published, and an adversary combines them.", "default": False, "show_default": True, "is_flag": True},
        "parts": {"help": "Two parts of columns, A,B:C,D, that an adversary has from two sources and tries to link."},
        "protection": {"help": "Protection that made the release, which another adversary knows."},
    },
    "unmask.tables:Mondrian": {
        "k": {"help": "Fewest people of a class (rows, if every row is a person).", "default": 10, "show_default": True, "type": int},
        "l": {"help": "Fewest distinct values of a sensitive column in a class.", "type": int},
        "t": {"help": "Largest distance, of the equal ground, of a class's sensitive values from the whole table's.", "type": float},
    },
    "unmask.tables:Table.read": {
        "quasi_identifiers": {"help": "Columns that an adversary may know, separated by commas.", "required": True, "type": str},
        "sensitive": {"help": "Columns that an adversary wants to learn, separated by commas.", "type": str},
        "keep": {"help": "Columns released unchanged, on purpose (columns without a role are dropped).", "type": str},
        "weight": {"help": "Column with the number of people that a row represents, such as a survey weight (risks by weights need numbers of at least 1).", "type": str},
        "identifiers": {"help": "Columns of the file that identify a person, and are dropped.", "type": str},
        "person": {"help": "Column whose equal values are rows of one person, or `row` if each row is another person.", "type": str},
        "cells": {"help": "Cells of columns with a hierarchy in a release: any sets of its leaves, or its nodes alone.", "default": "any", "show_default": True, "type": click.Choice(("any", "nodes"))},
        "hierarchies": {"help": "COLUMN=FILE, generalization hierarchy.", "type": str, "multiple": True, "parse": parse_pairs},
        "orders": {"help": "COLUMN=LOWEST,...,HIGHEST: the values of an ordinal column in their order.", "type": str, "multiple": True, "parse": parse_pairs},
        "types": {"help": "COLUMN=number|date|datetime|code|text|ordinal, for dates such as 03/04/1970 date:day-first or date:month-first (default: found in the column and noted).", "type": str, "multiple": True, "parse": parse_pairs},
        "missing": {"help": "Meaning of a missing quasi-identifier: a value of its own, any value, or a row left out.", "default": "own", "show_default": True, "type": click.Choice(("own", "wildcard", "excluded"))},
        "decimal": {"help": "Mark before the decimals of numbers (default: found in each column).", "type": click.Choice((".", ","))},
        "na": {"help": "Texts for a missing cell, besides an empty one, '' for none (default: NA, n/a, NULL, ? and similar texts).", "type": str},
        "delimiter": {"help": "Delimiter of a text file (default: guessed).", "type": str},
        "header": {"help": "Names of the columns of a text file, or whether its first line has them (default: found).", "is_flag": True},
        "encoding": {"help": "Encoding of a text file that is not UTF-8 (default: guessed and noted).", "type": str},
    },
}
