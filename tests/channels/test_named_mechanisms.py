"""A mechanism by name, NAME:KEY=VALUE, takes the place of a file."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from unmask.channels import Crowds, PoolMix
from unmask.channels.named_mechanisms import is_mechanism, parse_mechanism
from unmask.cli import main
from unmask.core.errors import UnmaskError


def audit(*arguments):
    result = CliRunner().invoke(main, ["audit", "channel", *map(str, arguments), "--json"])
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)["results"]
    return {row["measure"]: row["posterior"] for row in rows}


def test_crowds_are_audited_by_name_with_error_epsilon_and_delay():
    measures = audit("Crowds:n=20:submit=0.3")
    assert measures["estimation_error"] == pytest.approx(0.665)
    assert measures["expected_delay"] == pytest.approx(7 / 3)
    assert Crowds(20, 0.3).epsilon == pytest.approx(2.258782, abs=1e-6)


def test_a_pool_mix_has_the_entropy_of_its_closed_form():
    measures = audit("PoolMix:batch=10:pool=5")
    assert measures["shannon_entropy_bits"] == pytest.approx(4.699372, abs=1e-6)
    assert measures["expected_delay"] == 0.5


def simulate_predecessors(crowd, n_messages, rng):
    """Return author and predecessor of messages that reach a corrupted user; users from n - c on are corrupted."""
    pairs = []
    for author in rng.integers(crowd.n_honest, size=n_messages):
        holder = author
        while rng.random() >= crowd.submit:
            following = rng.integers(crowd.n)
            if following >= crowd.n_honest:
                pairs.append((author, holder))
                break
            holder = following
    return np.array(pairs)


def test_corrupted_users_see_the_author_as_often_as_in_a_simulated_crowd():
    crowd = Crowds(6, 0.3, corrupted=2)
    author, predecessor = simulate_predecessors(crowd, 40_000, np.random.default_rng(0)).T
    share, expected = (author == predecessor).mean(), crowd.channel().dense()[0, 0]
    assert expected == pytest.approx(1 - 0.7 * 3 / 6)
    assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / len(author))


@pytest.mark.parametrize(("n", "corrupted", "submit"), list(product((2, 7, 20), (0, 1), (0.2, 0.9))))
def test_error_and_epsilon_of_crowds_are_those_of_their_channel(n, corrupted, submit):
    crowd, table = Crowds(n, submit, corrupted), Crowds(n, submit, corrupted).channel().dense()
    assert crowd.estimation_error == pytest.approx(1 - table.max(axis=0).mean())
    assert crowd.epsilon == pytest.approx(np.log(table.max() / table.min()))


def test_a_pool_mix_in_a_ring_is_doubly_stochastic():
    table = PoolMix(3, 4).channel(np.full(12, 1 / 12)).dense()
    np.testing.assert_allclose(table.sum(axis=0), 1)
    with pytest.raises(UnmaskError, match="multiple of the batch"):
        PoolMix(3, 4).channel(np.full(10, 0.1))


def test_mechanisms_of_places_take_coordinates_and_a_prior(tmp_path):
    grid = np.arange(-9, 9.01, 0.25)
    weights = np.exp(-(grid**2) / 2)
    (tmp_path / "places.csv").write_text("name,x\n" + "".join(f"p{i},{x}\n" for i, x in enumerate(grid)))
    (tmp_path / "prior.csv").write_text(
        "secret,probability\n" + "".join(f"p{i},{w:.17g}\n" for i, w in enumerate(weights / weights.sum()))
    )
    options = ("--coordinates", tmp_path / "places.csv", "--prior", tmp_path / "prior.csv", "--loss", "squared")
    measures = audit("PlanarGaussian:sigma=1.5", *options, "--no-limit")
    assert measures["estimation_error"] == pytest.approx(1.5**2 / (1 + 1.5**2), abs=0.002)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Nope:n=3", "'channels.Nope' is unknown"),
        ("Crowd:n=3", "did you mean 'channels.Crowds'"),
        ("Crowds:n=20", "needs submit"),
        ("Crowds:n=20:submit=2", "submit of Crowds is 2"),
        ("Crowds:n=20:submit=0.5:corrupted=20", "expected fewer than all"),
        ("Crowds:m=20:submit=0.5", "m"),
        ("Crowds:n=many:submit=0.5", "n of Crowds is a text"),
        ("Coin:keep=0.3", "--prior"),
        ("PlanarLaplace:epsilon=1", "--coordinates"),
        ("Shrink:sigma=1:spread=2", "a study of channels.grid"),
        ("PoolMix:batch=10:pool=9000", "smaller pool"),
    ],
)
def test_a_mechanism_that_cannot_be_audited_is_one_sentence(text, hint):
    result = CliRunner().invoke(main, ["audit", "channel", text])
    assert (result.exit_code, result.stdout, result.stderr.count("Error:")) == (2, "", 1)
    assert hint in result.stderr


def test_a_document_names_a_mechanism_in_place_of_a_file(tmp_path):
    document = tmp_path / "unmask.toml"
    document.write_text('[channel]\nchannels = ["Crowds:n=20:submit=0.3:corrupted=2"]\nno_limit = true\n')
    assert audit(document)["estimation_error"] == pytest.approx(0.7 * 17 / 20)
    assert is_mechanism(tmp_path / "Crowds:n=20:submit=0.3")
    assert parse_mechanism(Path("folder/channels.Crowds:n=4:submit=0.5")).mechanism == Crowds(4, 0.5)
