"""Names by which rows of singling out and of linkability are known, and what is said of who asks."""

from __future__ import annotations

from collections.abc import Mapping

SINGLING, PARTS = "singling out", "linkability"
"""What these adversaries are after."""

ASKED = ("singled_out", "parts_linked")
"""Measures that say how often they reach it."""

ONE, SOME, WHOLE, BOX = "one value", "some columns", "whole row", "key in a box"
LINKER = "linker"

WORDS: Mapping[str, str] = {
    ONE: "guesses that a value of one released row is one person's",
    SOME: "guesses that what a released row says in two to four columns fits one person",
    WHOLE: "guesses that a whole released row fits one person",
    BOX: "guesses that one person in the box of a class has the hash that a random key picks",
    LINKER: "has some columns of people from one source, others from another, and puts them together",
}
"""Adversary -> words that complete "an adversary who ..."."""
