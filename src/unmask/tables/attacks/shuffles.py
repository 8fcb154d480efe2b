"""Shuffles that anyone can repeat: the permutation that a small seed gives, and its last places for many seeds at once.

All of them are Fisher-Yates from the end: for i = n - 1, ..., 1 the places j and i are swapped, j drawn from 0 to i by
rejection. So the last place of the permutation is settled by the first draw, and a few words of each generator tell
nearly every seed apart. What passes is confirmed with the permutation itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]

WORDS = 64
"""Words of 32 bits that are taken from the generator of every seed."""

FIRST = 16
"""The first of them, which tell nearly every seed apart, are kept for the next release: 6 MiB of 100,000 seeds."""

_AT_ONCE = 10_000
"""Seeds whose generators are held at once."""


@dataclass(frozen=True)
class Shuffle:
    """A generator of permutations.

    words       : seeds -> (n_seeds, WORDS), the first words of 32 bits that each gives
    permutation : (seed, n) -> the permutation of n places
    high_bits   : whether a draw takes the high bits of a word; else its low bits
    """

    name: str
    words: Callable[[NDArray[np.int64]], Words]
    permutation: Callable[[int, int], NDArray[np.int64]]
    high_bits: bool = False


class LastPlaces:
    """The last places of the permutations of many seeds, one after another: which place of the source stands there.

    alive : (n_seeds,) the seeds still asked for; those whose words are used up can no longer be told and stay.
    """

    def __init__(self, shuffle: Shuffle, seeds: Sequence[int], n: int) -> None:
        self.shuffle, self.seeds, self.n = shuffle, np.array(seeds, dtype=np.int64), n
        self.high_bits = shuffle.high_bits
        self.words = np.zeros((WORDS, len(seeds)), dtype=np.uint32)
        self.words[:FIRST] = _first_words(shuffle, seeds)
        self.used = np.zeros(len(seeds), dtype=np.int64)
        self.drawn: list[NDArray[np.int64]] = []

    def next(self, alive: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The seeds among `alive` that can be told, and what place of the source the next place from the end holds."""
        i = self.n - 1 - len(self.drawn)
        draw = np.full(len(self.used), -1, dtype=np.int64)
        asked = alive
        while asked.size:
            asked = asked[self.used[asked] < WORDS]
            self._continue(asked[self.used[asked] == FIRST])
            word = self.words[self.used[asked], asked].astype(np.int64)
            value = word >> (32 - (i + 1).bit_length()) if self.high_bits else word & ((1 << i.bit_length()) - 1)
            self.used[asked] += 1
            draw[asked[value <= i]] = value[value <= i]
            asked = asked[value > i]
        self.drawn.append(draw)
        told = alive[draw[alive] >= 0]
        return told, self._source(told)

    def _continue(self, asked: NDArray[np.int64]) -> None:
        """Take the further words of seeds whose first are used up."""
        for at in range(0, len(asked), _AT_ONCE):
            part = asked[at : at + _AT_ONCE]
            self.words[:, part] = self.shuffle.words(self.seeds[part]).T

    def _source(self, told: NDArray[np.int64]) -> NDArray[np.int64]:
        """What stands at the place just drawn: follow the swaps backwards."""
        place = self.drawn[-1][told]
        for step in reversed(range(len(self.drawn) - 1)):
            place = np.where(self.drawn[step][told] == place, self.n - 1 - step, place)
        return place


@lru_cache(maxsize=3)  # one for each of `SHUFFLES`
def _first_words(shuffle: Shuffle, seeds: Sequence[int]) -> Words:
    """(FIRST, n_seeds)"""
    parts = (seeds[at : at + _AT_ONCE] for at in range(0, len(seeds), _AT_ONCE))
    words = np.concatenate([shuffle.words(np.array(part, dtype=np.int64))[:, :FIRST] for part in parts]).T
    words.flags.writeable = False
    return words


# --- NumPy's default_rng(seed) ----------------------------------------------------------------------------------------


def _hashed(value: Words, constant: int, multiplier: int) -> tuple[Words, int]:
    """One step of the hash of a SeedSequence, and its next constant."""
    following = constant * multiplier & 0xFFFFFFFF
    value = (value ^ np.uint32(constant)) * np.uint32(following)
    return value ^ (value >> np.uint32(16)), following


def _seed_state(seeds: NDArray[np.int64]) -> list[NDArray[np.uint64]]:
    """SeedSequence(seed).generate_state(4, uint64) for seeds below 2^32."""
    zero = np.zeros(len(seeds), dtype=np.uint32)
    constant, pool = 0x43B0D7E5, []
    for entropy in (seeds.astype(np.uint32), zero, zero, zero):
        value, constant = _hashed(entropy, constant, 0x931E8875)
        pool.append(value)
    for source in range(4):
        for target in (at for at in range(4) if at != source):
            value, constant = _hashed(pool[source], constant, 0x931E8875)
            mixed = pool[target] * np.uint32(0xCA01F9DD) - value * np.uint32(0x4973F715)
            pool[target] = mixed ^ (mixed >> np.uint32(16))
    constant, words = 0x8B51F9DD, []
    for at in range(8):
        value, constant = _hashed(pool[at % 4], constant, 0x58F38DED)
        words.append(value.astype(np.uint64))
    return [words[2 * at] | words[2 * at + 1] << np.uint64(32) for at in range(4)]


_Wide = tuple[NDArray[np.uint64], NDArray[np.uint64]]
"""Numbers of 128 bits as (high, low)."""


def _plus(a: _Wide, b: _Wide) -> _Wide:
    low = a[1] + b[1]
    return a[0] + b[0] + (low < a[1]), low


def _times(a: _Wide, b: tuple[int, int]) -> _Wide:
    """The product modulo 2^128; the low words are multiplied in halves of 32 bits."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    high, low = np.uint64(b[0]), np.uint64(b[1])
    a1, a0, b1, b0 = a[1] >> half, a[1] & mask, low >> half, low & mask
    middle = a1 * b0 + (a0 * b0 >> half)
    carried = a0 * b1 + (middle & mask)
    return a1 * b1 + (middle >> half) + (carried >> half) + a[0] * low + a[1] * high, a[1] * low


_PCG = (0x2360ED051FC65DA4, 0x4385DF649FCCF645)


def _pcg64(seeds: NDArray[np.int64]) -> Words:
    """PCG64(seed).random_raw(), low half of each word first."""
    one, top = np.uint64(1), np.uint64(63)
    state = _seed_state(seeds)
    step = (state[2] << one) | (state[3] >> top), (state[3] << one) | one
    number = _plus(_times(_plus(step, (state[0], state[1])), _PCG), step)
    words = np.empty((len(seeds), WORDS // 2), dtype=np.uint64)
    for at in range(WORDS // 2):
        number = _plus(_times(number, _PCG), step)
        mixed, turn = number[0] ^ number[1], number[0] >> np.uint64(58)
        words[:, at] = mixed >> turn | mixed << (np.uint64(64) - turn & top)
    return words.view(np.uint32)


# --- the Mersenne Twister: NumPy's RandomState, Python's random -------------------------------------------------------


def _mt19937(seeds: NDArray[np.int64]) -> Words:
    """RandomState(seed): the words that follow init_genrand(seed)."""
    state = np.empty((WORDS + 398, len(seeds)), dtype=np.uint32)
    state[0] = seeds
    for at in range(1, len(state)):
        state[at] = np.uint32(1812433253) * (state[at - 1] ^ (state[at - 1] >> np.uint32(30))) + np.uint32(at)
    upper, lower = np.uint32(0x80000000), np.uint32(0x7FFFFFFF)
    mixed = (state[:WORDS] & upper) | (state[1 : WORDS + 1] & lower)
    y = state[397 : 397 + WORDS] ^ (mixed >> np.uint32(1)) ^ (mixed & np.uint32(1)) * np.uint32(0x9908B0DF)
    y ^= y >> np.uint32(11)
    y ^= (y << np.uint32(7)) & np.uint32(0x9D2C5680)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    return np.asarray((y ^ (y >> np.uint32(18))).T, order="C")


def _python(seeds: NDArray[np.int64]) -> Words:
    """random.Random(seed)."""
    generator, bits = random.Random(), 32 * WORDS
    words = []
    for seed in seeds.tolist():
        generator.seed(seed)
        words.append(generator.getrandbits(bits).to_bytes(bits // 8, "little"))
    return np.frombuffer(b"".join(words), dtype="<u4").reshape(len(seeds), WORDS)


def _shuffled_list(seed: int, n: int) -> NDArray[np.int64]:
    places = list(range(n))
    random.Random(seed).shuffle(places)
    return np.array(places, dtype=np.int64)


SHUFFLES = (
    Shuffle("numpy.random.default_rng", _pcg64, lambda seed, n: np.random.default_rng(seed).permutation(n)),
    Shuffle("numpy.random.RandomState", _mt19937, lambda seed, n: np.random.RandomState(seed).permutation(n)),
    Shuffle("random.Random", _python, _shuffled_list, high_bits=True),
)
"""NumPy's two, the second of which pandas' `sample(frac=1, random_state=seed)` and scikit-learn use, and Python's."""
