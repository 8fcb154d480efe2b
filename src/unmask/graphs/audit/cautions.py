"""What a reader must know before the figures of an audit of networks, a sentence each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unmask.graphs import Dropped
from unmask.graphs.audit.scenes import Acquired, Scene
from unmask.graphs.communities import two_sided
from unmask.graphs.seeds import Listed


def cautions(scene: Scene) -> Iterator[str]:
    """Of seeds that are nobody's or wrong, of what no attack looks at, and of nodes that may be no people."""
    if isinstance(scene, Acquired):
        yield from _given(scene)
    whose, given = ("network", scene.people) if scene.released is None else ("release", scene.released)
    if scene.similarity is None:  # which says what the adversary knows besides edges
        yield from overlooked(whose, given.dropped)
    if any(two_sided(graph) for graph in (scene.people, scene.released) if graph is not None):
        yield (
            "Every edge joins one side of the network to the other, as in a list of people and their groups or events: "
            "if one side is none of people, it is counted as people all the same."
        )


def overlooked(whose: str, dropped: Dropped) -> tuple[str, ...]:
    """Of a release that tells more than any attack looks at; no number says what that is worth."""
    if not (names := dropped.besides_edges):
        return ()
    more = "an adversary who knows more than edges may re-identify more people"
    return (f"No attack looks at {names}, which the {whose} has besides edges: {more}.",)


def _given(scene: Acquired) -> Iterator[str]:
    """Of leaked identities that were given: who is nobody, and who is somebody else by the truth."""
    if isinstance(scene.given, Listed) and scene.given.said:
        yield f"Of the file of leaked identities, {scene.given.said}."
    if scene.given is None or scene.truth is None:
        return
    truth, image = scene.truth[scene.given.source], scene.given.target
    person = np.arange(scene.target.n_nodes) if scene.origin is None else scene.origin
    wrong = (truth >= 0) & (person[truth] != person[image])
    if not scene.truth_partial:
        wrong |= truth < 0
    if n := int(wrong.sum()):
        which = f"{n:,} of {len(image):,} leaked identities {'is' if n == 1 else 'are'} wrong"
        yield f"By the truth, {which}; the adversary takes them for right."
