import numpy as np
import pytest

from unmask.channels.datasets import (
    AUSTIN,
    Crowds,
    Grid,
    MixRun,
    PoolMix,
    Traffic,
    gowalla,
    grid,
    read_check_ins,
    to_meters,
)
from unmask.core.errors import UnmaskError
from unmask.measures import estimation_error


def error_of(channel):
    belief = channel.posterior()
    return float(belief.weight @ estimation_error().per_target(belief))


# --- Crowds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(2, 0.5), (10, 0.05), (50, 0.7)])
def test_crowds_closed_forms(n, p):
    # Rebollo-Monedero et al. 2012, equation (10) and the error below it; epsilon is the log-ratio of the rows
    crowd = Crowds(n, p)
    channel = crowd.channel()
    belief = channel.posterior()
    own_probability = np.exp(belief.log_probability[belief.candidate == np.repeat(np.arange(n), n)])
    np.testing.assert_allclose(own_probability, p + (1 - p) / n, rtol=1e-6)
    assert error_of(channel) == pytest.approx((1 - p) * (1 - 1 / n), abs=1e-6)
    assert crowd.estimation_error == pytest.approx((1 - p) * (1 - 1 / n))
    log_p = np.log(channel.dense())
    assert np.ptp(log_p, axis=0).max() == pytest.approx(crowd.epsilon)
    assert crowd.epsilon == pytest.approx(np.log(1 + p * n / (1 - p)))


def simulate_crowd(channel, submit, messages, rng):
    """Author, last holder and forwards of messages that are passed on one by one."""
    author = rng.choice(channel.n_x, size=messages, p=channel.prior)
    last, forwards, active = author.copy(), np.zeros(messages, dtype=np.int64), np.arange(messages)
    while len(active):
        active = active[rng.random(len(active)) >= submit]
        last[active] = rng.integers(channel.n_x, size=len(active))
        forwards[active] += 1
    return author, last, forwards


def test_crowds_as_simulated_agrees_with_the_closed_forms_within_its_standard_error():
    n, p, messages = 8, 0.3, 200_000
    crowd = Crowds(n, p)
    author, last, forwards = simulate_crowd(crowd.channel(), p, messages, np.random.default_rng(11))
    share_right = (author == last).mean()
    expected = 1 - crowd.estimation_error
    assert abs(share_right - expected) <= 4 * np.sqrt(expected * (1 - expected) / messages)
    assert abs(forwards.mean() - crowd.expected_delay) <= 4 * forwards.std() / np.sqrt(messages)
    joint = np.zeros((n, n))
    np.add.at(joint, (author, last), 1 / messages)
    p_xy = crowd.channel().joint()
    assert np.all(np.abs(joint - p_xy) <= 4.5 * np.sqrt(p_xy / messages))


def test_a_strong_prior_makes_the_adversary_ignore_the_last_holder():
    # section 2.5 of the notes on the paper's example: prior 0.9, p = 0.05, n = 10
    prior = np.full(10, 0.1 / 9)
    prior[3] = 0.9
    assert error_of(Crowds(10, 0.05).channel(prior)) == pytest.approx(0.1, abs=1e-6)
    author, _, _ = simulate_crowd(Crowds(10, 0.05).channel(prior), 0.05, 20_000, np.random.default_rng(0))
    assert abs((author == 3).mean() - 0.9) <= 4 * np.sqrt(0.09 / 20_000)


def test_error_and_epsilon_rank_crowds_in_opposite_orders():
    small, large = Crowds(5, 0.2), Crowds(500, 0.2)
    assert large.estimation_error > small.estimation_error
    assert large.epsilon > small.epsilon
    assert Crowds(1, 0.5).epsilon == 0
    assert Crowds(3, 1.0).epsilon == np.inf


@pytest.mark.parametrize(
    ("n", "p", "words"), [(0, 0.5, "n is 0"), (3, 0.0, "submit is 0.0"), (3, 1.1, "submit is 1.1")]
)
def test_wrong_crowds_are_refused(n, p, words):
    with pytest.raises(UnmaskError, match=words):
        Crowds(n, p)


# --- mixes -----------------------------------------------------------------------------------------------------------


def friendly(seed=0) -> Traffic:
    return Traffic.friends(30, 20, friends=3, rng=np.random.default_rng(seed))


RUNS = {
    "threshold": lambda: PoolMix(8).run(friendly(), rounds=50, rng=np.random.default_rng(1)),
    "pool": lambda: PoolMix(8, 5).run(friendly(), rounds=50, rng=np.random.default_rng(1)),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_mix_conserves_messages(name):
    run: MixRun = RUNS[name]()
    came, went = run.inputs().sum(axis=1), run.outputs().sum(axis=1)
    inside = np.cumsum(came) - np.cumsum(went)
    assert came.sum() == len(run.sender)
    assert came.sum() - went.sum() == (run.exited < 0).sum() == inside[-1]
    assert inside.min() >= 0
    has_exited = run.exited >= 0
    assert np.all(run.exited[has_exited] >= run.entered[has_exited])
    assert run.truth().sum() == has_exited.sum() == run.outputs().sum()
    np.testing.assert_array_equal(run.truth().sum(axis=0), run.outputs().sum(axis=0))


@pytest.mark.parametrize("name", RUNS)
def test_messages_go_only_to_friends_and_a_seed_repeats_the_run(name):
    run, again = RUNS[name](), RUNS[name]()
    assert np.all(friendly().profile[run.sender, run.receiver] > 0)
    np.testing.assert_array_equal(run.receiver, again.receiver)
    np.testing.assert_array_equal(run.exited, again.exited)


def test_the_threshold_mix_empties_itself_each_round():
    run = RUNS["threshold"]()
    assert (run.exited == run.entered).all()
    assert set(run.inputs().sum(axis=1)) == set(run.outputs().sum(axis=1)) == {8}


def test_the_pool_mix_keeps_its_pool_and_its_delays_are_geometric():
    batch, pool, rounds = 10, 20, 6_000
    run = PoolMix(batch, pool).run(friendly(), rounds=rounds, rng=np.random.default_rng(7))
    assert (run.exited < 0).sum() == pool
    assert run.inputs().sum(axis=1)[:2].tolist() == [batch + pool, batch]
    early = run.entered < rounds - 200  # all of these are out
    delay = (run.exited - run.entered)[early]
    assert delay.min() == 0
    # within a round the messages compete for the same places, which makes their mean steadier than this
    assert abs(delay.mean() - pool / batch) <= 4 * delay.std() / np.sqrt(len(delay))
    q = batch / (batch + pool)
    assert abs((delay == 0).mean() - q) <= 4 * np.sqrt(q * (1 - q) / len(delay))


def test_the_entropy_of_the_pool_mix_is_that_of_its_geometric_delays():
    # sum over rounds of b messages of chance (N / (b + N))^k / (b + N)
    batch, pool = 10, 20
    p = np.repeat((pool / (batch + pool)) ** np.arange(400) / (batch + pool), batch)
    assert PoolMix(batch, pool).sender_entropy_bits == pytest.approx(-(p * np.log2(p)).sum())
    assert PoolMix(16, 0).sender_entropy_bits == 4


def test_profiles_are_recovered_from_the_truth():
    traffic = Traffic(np.array([[0.2, 0.8, 0.0], [0.0, 0.5, 0.5]]), weight=np.array([1.0, 3.0]))
    run = PoolMix(10).run(traffic, rounds=4_000, rng=np.random.default_rng(9))
    counts = run.truth().toarray()
    sent = counts.sum(axis=1, keepdims=True)
    assert np.all(np.abs(counts / sent - traffic.profile) <= 4.5 * np.sqrt(0.25 / sent))
    assert abs(sent[1, 0] / 40_000 - 0.75) <= 4 * np.sqrt(0.75 * 0.25 / 40_000)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Traffic(np.array([[0.5, 0.4]])), "row 0 of the channel sums to 0.9"),
        (lambda: Traffic(np.eye(2), weight=np.array([1.0])), r"shape \(1,\)"),
        (lambda: Traffic(np.eye(2), weight=np.array([-1.0, 1.0])), "at least 0"),
        (lambda: Traffic(np.eye(2), weight=np.zeros(2)), "all senders have weight 0"),
        (lambda: Traffic.friends(3, 2, friends=3, rng=np.random.default_rng(0)), "friends is 3"),
        (lambda: PoolMix(0), "batch is 0"),
        (lambda: PoolMix(2, -1), "pool is -1"),
        (lambda: PoolMix(2).run(friendly(), rounds=0, rng=np.random.default_rng(0)), "rounds is 0"),
    ],
)
def test_wrong_mixes_are_refused(make, words):
    with pytest.raises(UnmaskError, match=words):
        make()


# --- places ----------------------------------------------------------------------------------------------------------


def test_a_grid_finds_its_own_points_again():
    cells = Grid(3, 5, 20.0, (-7.0, 4.0))
    assert len(cells) == len(cells.points) == len(cells.labels) == 15
    np.testing.assert_array_equal(cells.cell_of(cells.points), np.arange(15))
    assert cells.labels[7] == "1,2"
    assert cells.cell_of(np.array([[-7.1, 10.0], [0.0, 104.1]])).tolist() == [-1, -1]
    assert grid(4) == Grid(4, 4, 1.0)
    with pytest.raises(UnmaskError, match="0 x 3 cells"):
        grid(0, 3)


def test_blocks_of_a_grid_are_rectangles():
    blocks = np.array(Grid(5, 4).blocks(2, 3)).reshape(5, 4)
    np.testing.assert_array_equal(np.unique(blocks, return_counts=True)[1], [6, 2, 6, 2, 3, 1])
    assert (blocks[0:2, 0:3] == blocks[0, 0]).all()
    with pytest.raises(UnmaskError, match="0 x 1 cells"):
        Grid(2, 2).blocks(0, 1)


def test_meters_have_the_lengths_of_the_globe():
    # one degree along a meridian of a sphere of radius 6,371,008.8 m
    assert to_meters(np.array([31.27, -97.74]), center=AUSTIN)[1] == pytest.approx(np.pi / 180 * 6_371_008.8)
    east, north = to_meters(np.array([AUSTIN[0], AUSTIN[1] + 0.1]), center=AUSTIN)
    arc = 2 * 6_371_008.8 * np.arcsin(np.cos(np.radians(AUSTIN[0])) * np.sin(np.radians(0.1) / 2))  # haversine
    assert (east, north) == pytest.approx((arc, 0.0), rel=1e-5)
    across = to_meters(np.array([-16.5, -179.99]), center=(-16.5, 179.99))
    assert across[0] == pytest.approx(np.radians(0.02) * 6_371_008.8 * np.cos(np.radians(16.5)))


def test_gowalla_on_a_grid():
    visits = gowalla()
    # counted with pandas: 157,181 distinct check-ins in all, 38,000 of them within 10 km squares around Austin
    assert len(visits.user) == 38_000
    assert len(visits.users) == 357
    assert np.all(np.diff(visits.user) >= 0)
    same_user = visits.user[1:] == visits.user[:-1]
    assert np.all(np.diff(visits.time)[same_user] >= 0)
    prior = visits.prior()
    assert prior.sum() == pytest.approx(1)
    assert (prior > 0).sum() == 191
    assert visits.prior(pseudocount=1.0).min() == pytest.approx(1 / 38_400)


def test_gowalla_transitions_count_each_step_of_each_user_once():
    visits = gowalla(cells=8, size=2_500.0)
    everybody = visits.transitions()
    assert everybody.sum() == len(visits.user) - len(visits.users)
    users = visits.users[:20]
    for user in users:
        cells = visits.cell[visits.user == user]
        by_hand = np.zeros((64, 64))
        np.add.at(by_hand, (cells[:-1], cells[1:]), 1)
        np.testing.assert_array_equal(visits.transitions(user=int(user)).toarray(), by_hand)
    assert 0 < visits.transitions(max_seconds=3_600.0).sum() < everybody.sum()
    with pytest.raises(UnmaskError, match="no visit on this grid"):
        visits.transitions(user=10**6)


def test_a_grid_in_the_sea_holds_no_check_in():
    gowalla()  # where the data are not to be had, this test is skipped
    with pytest.raises(UnmaskError, match="holds no check-in"):
        gowalla(center=(0.0, -30.0))


def test_check_ins_of_a_file_are_visits_of_cells_around_their_median(tmp_path):
    path = tmp_path / "check-ins.csv"
    path.write_text(
        "user,timestamp,latitude,lon\nb,2024-05-01T08:30,0,0\na,2024-05-01T09:00,0,0.01\na,2024-05-01T08:00,0,-0.01\n"
        "a,2024-05-01T10:00,9,9\nc,2024-05-01T10:00,0,0\n"
    )
    visits = read_check_ins(path, cells=4, size=1_000.0)  # 0.01 degrees are 1,112 m; the check-in at 9, 9 is outside
    assert (visits.user.tolist(), visits.cell.tolist()) == ([0, 0, 1, 2], [2, 14, 10, 10])
    assert np.diff(visits.time).tolist()[:1] == [3600.0]
    moved = read_check_ins(path, center=(9.0, 9.0), cells=1, size=10.0)
    assert moved.cell.tolist() == [0]


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("u,1,91,0", "line 2 of check-ins.csv has a lat"),
        ("u,1,0,east", "lon that is not a number"),
        ("u,1,,0", "no lat"),
    ],
)
def test_coordinates_that_are_no_degrees_are_refused_without_the_cell(tmp_path, line, hint):
    path = tmp_path / "check-ins.csv"
    path.write_text(f"user,time,lat,lon\n{line}\n")
    with pytest.raises(UnmaskError, match=hint) as error:
        read_check_ins(path)
    assert "91," not in str(error.value)
    assert "east" not in str(error.value)
