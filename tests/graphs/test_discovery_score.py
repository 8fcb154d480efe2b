"""The score of an identity in a series of experiments, equation (3.6) of Gulyas 2015, run by run."""

import numpy as np

from tests.graphs.problems import Owned
from unmask.graphs import Auxiliary, IdentitySeparation, Nar09, SocialGraph, datasets, select_seeds, split
from unmask.graphs.disclosure import discovery, seed_pair
from unmask.graphs.knowledge import SeedPairs


def test_the_score_sums_what_each_run_gives():
    people = datasets.barabasi_albert(400, 6, rng=np.random.default_rng(1))
    pair = split(people, 0.9, 0.9, np.random.default_rng(2))
    separated = IdentitySeparation(adopters=0.3)(
        pair.target, rng=np.random.default_rng(3), eligible=pair.truth[pair.common]
    )
    owned, runs = Owned(pair.truth, separated.origin), 4
    people_asked = np.flatnonzero((owned.count > 1) & np.isin(pair.truth, separated.adopters))[:3]

    def seeds(whole_people, rng):
        return select_seeds(whole_people, "random.25", 25, rng, error=0.2)

    actual = discovery(pair, separated, people_asked, Nar09(), seeds, runs=runs, rng=np.random.default_rng(4))
    rng = np.random.default_rng(4)
    drawn = [seeds(seed_pair(pair, separated), rng) for _ in range(runs)]
    expected = []
    for person in people_asked.tolist():
        for place, identity in enumerate(owned.nodes_of(person).tolist()):
            nodes = sorted({*range(separated.release.n_nodes)} - _list_others(owned, people_asked, place))
            release = separated.release.take(np.array(nodes))
            scores = [_score(release, nodes, pair.source, seeds, person, identity) for seeds in drawn]
            expected.append((person, identity, sum(scores)))
    assert list(zip(actual.person.tolist(), actual.node.tolist(), actual.score.tolist(), strict=True)) == expected
    assert {score for *_, score in expected} - {runs, 0, -runs}  # mixed cases too


def _list_others(owned, people_asked, place):
    """Identities of the people asked for but the one at this place."""
    identities = [owned.nodes_of(person).tolist() for person in people_asked.tolist()]
    return {node for nodes in identities for i, node in enumerate(nodes) if i != place}


def _score(release: SocialGraph, nodes, source, seeds: SeedPairs, person, identity):
    """s(v, mu) of (3.2): 1 for the identity, 0 without a match, -1 for another node."""
    number = {node: i for i, node in enumerate(nodes)}
    is_kept = np.isin(seeds.target, nodes)  # a wrong seed may be an identity that is taken out
    target = np.array([number[node] for node in seeds.target[is_kept].tolist()])
    guess = int(Nar09()(release, Auxiliary(source, (seeds.source[is_kept], target))).mapping[person])
    return 0 if guess < 0 else 1 if nodes[guess] == identity else -1
