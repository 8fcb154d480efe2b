"""`unmask game`: a document's protections, terms and attackers as a publisher's game."""

import math
import re
import shutil
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from tests.commands import invoke
from tests.envelopes import parsed
from unmask.core.errors import UnmaskError
from unmask.document import load
from unmask.economics import Attacker, AttackerKind, BestCampaign, ProtectedRelease, Publisher, PublisherGame, Terms
from unmask.graphs import Ensemble, Rematch
from unmask.plan import Cell
from unmask.render.page import render
from unmask.studies.beliefs import BELIEFS
from unmask.studies.cells import believed
from unmask.studies.game import make_result, play, priced, read_game, write_game
from unmask.studies.game.document import parse_game
from unmask.studies.game.offers import curves_of, offer_of, safer_offer
from unmask.studies.game.sentences import describe_spared
from unmask.studies.questions import QUESTIONS, list_question_lines
from unmask.studies.reading import read_plan
from unmask.studies.run import run_study
from unmask.studies.study_result import read_result
from unmask.studies.workers import finished
from unmask.toml_text import format_document

DOCUMENT = """
title = "Discharges"
[data]
use = "tables.synthetic_census"
with = { n = 20 }
[columns]
age = "quasi-identifier"
sex = "quasi-identifier"
zip = "quasi-identifier"
[[protections]]
use = "none"
[[protections]]
use = "tables.Mondrian"
grid = { k = [6] }
[[adversaries]]
name = "voters"
use = "tables.RegisterAttack"
knows = { coverage = 0.6 }
[publisher]
benefit = 1000
loss = 1000
fines = [0, 1000]
[[attackers]]
name = "broker"
adversary = "voters"
gain = %s
exploit_cost = 2
max_fines = 1
detection = 0.02
"""


EASY = {"publisher": {"benefit": 1, "loss": 1}, "attackers": [{"attacker": "case-study"}]}


def document(folder, text):
    path = folder / "unmask.toml"
    path.write_text(text, encoding="utf-8")
    return path


def opening(facts):
    """Return the decision and the headline of a game."""
    result = make_result(facts)
    return f"{result.decision.answer} {result.decision.sentence}", result.headline


def page(facts):
    return render(make_result(facts))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("game")


@pytest.fixture(scope="module")
def play_game(folder):
    with pytest.MonkeyPatch.context() as few_fines:
        few_fines.setattr("unmask.studies.game.offers.FINES", 4)
        return play(document(folder, DOCUMENT % 40))


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_a_first_screen_has_no_english_word_in_another_language(play_game, language):
    result = make_result(play_game)
    screens = (result.to_html(language=name).partition("<main")[0].partition("<body")[2] for name in ("en", language))
    english, other = (set(re.findall(r"[a-z]{4,}", re.sub("<style.*?</style>|<[^>]*>", " ", text))) for text in screens)
    same = {"attacker", "decision", "fine", "leaves", "left", "most", "offers", "people", "price", "release", "terms"}
    assert not same & other & english


@pytest.fixture
def again(monkeypatch, play_game):
    """The game, played once."""
    monkeypatch.setattr("unmask.studies.game.play", lambda *_, **__: play_game)


def test_the_game_of_a_document_is_that_of_its_beliefs(play_game):
    assert {offer.protection for offer in play_game.offers} == {"none", "Mondrian k=6", "no release"}
    payoffs = [offer.payoff[0] for offer in play_game.offers]
    assert payoffs == sorted(payoffs, reverse=True)
    assert play_game.people == 20
    equilibrium = play_game.taken
    assert [answer.attacks for answer in equilibrium.answers] == [False]
    assert equilibrium.payoff[0] == pytest.approx(1000 * equilibrium.utility)
    bare = next(offer for offer in play_game.stopping if offer.protection == "none")
    assert bare.announced == pytest.approx(bare.realized, rel=0.05)  # the belief is right about whom they re-identify


def test_every_number_of_a_document_has_both_ends(play_game):
    rows = {effect.parameter: effect for effect in play_game.sensitivity}
    assert set(rows) == {"gain", "exploit_cost", "detection", "number", "benefit", "loss"}
    assert (rows["gain"].low.value, rows["gain"].high.value) == (20, 80)
    lost = [
        max(end.payoff - end.taken for end in (effect.low, effect.high))
        for effect in play_game.sensitivity
        if effect.changes
    ]
    assert lost == sorted(lost, reverse=True)
    assert not play_game.deterring  # a release is advised


def test_terms_that_barely_deter_are_advised_with_a_margin():
    broker = Attacker(gain=1000, exploit_cost=5, fine=500, max_fines=1, detection=(0.05,), access_cost=50)
    game = PublisherGame(
        Publisher(benefit=6000, loss=900), {"raw": ProtectedRelease([1, 1, 2])}, {"broker": AttackerKind(broker)}
    )
    game_given = replace(parse_game(EASY, Path()), terms={"prices": (0.0,), "fines": (0.0, 30_000.0), "audits": (1.0,)})
    moves = game.moves(**game_given.terms)
    advised = safer_offer(game, game_given, offer_of(game, moves[0]))
    assert advised.fine == pytest.approx(moves[0].terms.fine * 1.01)
    assert [answer.attacks for answer in advised.answers] == [False]
    dearer = replace(broker, gain=1005)  # half a percent more for each person
    again = replace(game, attackers={"broker": AttackerKind(dearer)})
    assert again.response("raw", "broker", moves[0].terms).attacks
    assert again.response("raw", "broker", Terms(fine=advised.fine)).attacks is False
    assert safer_offer(game, game_given, offer_of(game, game.move("raw", Terms(fine=30_000)))) is None
    just = moves[0].terms.fine
    for highest, fine in ((just * 1.001, just * 1.001), (just, None)):  # no more than a court upholds
        little = safer_offer(
            game, replace(game_given, terms={**game_given.terms, "fines": (0.0, highest)}), offer_of(game, moves[0])
        )
        assert (little and little.fine) == fine


def test_advice_says_who_attacks_when_it_is_played_again(play_game):
    """The sentence does not claim that other attackers answer as before."""
    equilibrium = play_game.taken
    insurer = replace(equilibrium.answers[0], kind="insurer", attacks=True, payoff=(3, 3), re_identified=(1, 1))
    safer = replace(equilibrium, fine=470.0, payoff=(200.0, 200.0), answers=(*equilibrium.answers, insurer))
    assert "With them, insurer attacks, and 200 is left to you." in opening(replace(play_game, safer=safer))[1]
    assert "With them, no attacker attacks, and" in opening(replace(play_game, safer=replace(safer, answers=())))[1]


@pytest.mark.parametrize("recovered", [0.0, 0.5])
@pytest.mark.parametrize("price", [0.0, 300.0])
def test_a_curve_of_several_kinds_is_the_game_at_its_fines(price, recovered):
    kinds = {
        name: AttackerKind(Attacker(gain=gain, exploit_cost=5, fine=500, max_fines=cap, detection=(q,), access_cost=50))
        for name, gain, cap, q in (("a", 1000, 1, 0.05), ("b", 600, 2, 0.2), ("c", 300, math.inf, 0.3))
    }
    publisher = Publisher(benefit=6000, loss=900, recovered=recovered)
    game = PublisherGame(publisher, {"raw": ProtectedRelease([1, 1, 2]), "k3": ProtectedRelease([3, 3, 3], 0.6)}, kinds)
    game_given = replace(parse_game(EASY, Path()), terms={"prices": (price, 900.0), "fines": (0.0,), "audits": (1.0,)})
    for curve in curves_of(game, game_given, ["raw", "k3"]):
        moves = [game.move(curve.protection, Terms(price=price, fine=fine)) for fine in curve.fines]
        payoffs = [move.payoff.low for move in moves]
        if recovered:
            assert curve.payoffs == pytest.approx(payoffs)
        assert all(
            a <= b + 1e-6 for a, b in zip(curve.payoffs, payoffs, strict=True)
        )  # what they bring is looked at before
        stops = [game.break_even_fine(curve.protection, kind, price=price).high for kind in kinds]
        for kind, stop in zip(kinds, stops, strict=True):
            index = curve.fines.index(stop)
            assert moves[index].responses[kind].attacks is False
        lowest_prices = [
            max(game.break_even_price(curve.protection, kind, fine=fine).high for kind in kinds) for fine in curve.fines
        ]
        assert all(a >= b - 1e-6 for a, b in zip(curve.prices, lowest_prices, strict=True))
        assert curve.prices[0] == pytest.approx(lowest_prices[0])
        assert curve.payoffs[0] == pytest.approx(payoffs[0])
        assert curve.payoffs[-1] == pytest.approx(payoffs[-1])


def test_one_person_at_a_time_and_all_at_once(play_game):
    for attacker in play_game.alone:
        assert attacker.people == 20 == attacker.fully_tried + attacker.partly_tried + attacker.untried
        assert attacker.one_try <= attacker.known + 1e-9
        assert attacker.known <= attacker.inside + 1e-9
    bare = next(offer for offer in play_game.stopping if offer.protection == "none")
    assert next(attacker for attacker in play_game.alone if attacker.protection == "none").inside == pytest.approx(
        bare.announced
    )


def test_no_person_is_called_safe_if_none_is_safe_alone(play_game):
    exposed = tuple(replace(attacker, safe_alone=0, safe_re_identified=0.0) for attacker in play_game.alone)
    assert describe_spared(exposed) == "No person is safe alone."
    spared = (replace(exposed[0], safe_alone=3), *exposed)
    assert describe_spared(spared) == "People who are safe alone are safe in a campaign."


def test_kinds_have_a_heading_each_where_there_are_several(play_game):
    two_kinds = (*play_game.alone, *(replace(attacker, kind="insurer") for attacker in play_game.alone))
    assert "all at once: broker" not in page(play_game)
    assert "all at once: broker" in page(replace(play_game, alone=two_kinds))


def test_the_head_of_a_narrow_column_does_not_break(play_game):
    assert make_result(play_game).advice.headings == ("left\u00a0to\u00a0you",)


def test_the_fine_that_would_make_a_release_pay_does(tmp_path, monkeypatch):
    monkeypatch.setattr("unmask.studies.game.offers.sensitivity", lambda *_, **__: ())
    monkeypatch.setattr("unmask.studies.game.offers.FINES", 3)
    game = play(document(tmp_path, (DOCUMENT % 4000).replace("[0, 1000]", "[0]")))
    assert game.taken.protection == "no release"
    by_fine, by_price = game.deterring
    text = (DOCUMENT % 4000).replace("fines = [0, 1000]", f"fines = [{by_fine.fine}]\nprices = [{by_price.price}]")
    again = play(document(tmp_path, text))
    assert again.taken.payoff[0] == pytest.approx(max(by_fine.payoff[0], by_price.payoff[0]))
    assert "Ask for more: unprotected data, under a contractual fine of" in opening(game)[0]


def test_the_ends_of_a_range_are_games_of_their_own(tmp_path, monkeypatch):
    """The game has the middle; at each end the table has what a document with that number says."""
    monkeypatch.setattr("unmask.studies.game.offers.FINES", 3)
    game = play(document(tmp_path, DOCUMENT % "{ from = 5, to = 80 }"))
    row = next(effect for effect in game.sensitivity if effect.parameter == "gain")
    assert (row.ranged, row.value, game.has_ranges) == (True, 42.5, True)
    monkeypatch.setattr("unmask.studies.game.offers.sensitivity", lambda *_, **__: ())
    for end, value in ((row.low, 5), (row.high, 80)):
        offer = play(document(tmp_path, DOCUMENT % value)).taken
        assert (end.value, end.best.protection, end.best.fine) == (value, offer.protection, offer.fine)
        assert end.payoff == offer.payoff[0]
    assert "Every range is at its middle." in opening(game)[0]
    assert row.changes
    assert "The most sensitive input is " in opening(game)[1]


@pytest.fixture(scope="module")
def studied(folder):
    """A study of the document, whose workers are this process, and its game."""
    path, results = document(folder, DOCUMENT % 40), folder / "results"
    with pytest.MonkeyPatch.context() as few_prices:
        few_prices.setattr("unmask.studies.run.run_cells", lambda cells, **_: map(finished, cells))
        few_prices.setattr("unmask.studies.game.offers.FINES", 4)
        plan = read_plan(path)
        run_study(plan, results, source=path, priced=priced(plan, path))
        few_prices.setattr("unmask.studies.beliefs.believed", lambda _: pytest.fail("an adversary attacked again"))
        return results, write_game(path, results)


def test_a_study_keeps_what_its_game_prices(studied, play_game):
    """No protection is run twice, and the game is the one without a study."""
    results, game = studied
    assert len(list((results / BELIEFS).iterdir())) == 2
    assert {(offer.protection, offer.fine): offer.payoff[0] for offer in game.offers} == pytest.approx(
        {(offer.protection, offer.fine): offer.payoff[0] for offer in play_game.offers}
    )
    assert game.stopping[0].realized == pytest.approx(play_game.stopping[0].realized)
    assert read_game(results) == game


def test_the_page_of_a_study_has_its_game(studied):
    text = render(read_result(studied[0]))
    assert "What to release, and what to ask for it" in text
    assert make_result(studied[1]).decision.sentence in text
    assert "What stops each attacker" in text
    assert text.count(make_result(studied[1]).assumptions[0]) == 1


def test_a_lattice_is_a_protection_of_its_own(tmp_path, monkeypatch):
    several = DOCUMENT.index("[[protections]]"), DOCUMENT.index("[[adversaries]]")
    lattice = '[[protections]]\nuse = "tables.Lattice"\nwith = { k = 5 }\n'
    path = document(tmp_path, DOCUMENT[: several[0]] + lattice + DOCUMENT[several[1] :] % 40)
    assert [cell.protection.name for cell in priced(read_plan(path), path)] == ["Lattice"]
    monkeypatch.setattr("unmask.studies.game.offers.sensitivity", lambda *_, **__: ())
    monkeypatch.setattr("unmask.studies.game.offers.FINES", 3)
    game = play(path)
    belief = first_belief(path)
    assert [offer.protection for offer in game.stopping] == ["Lattice"]
    free = Attacker(gain=40, exploit_cost=2, max_fines=0)
    assert game.stopping[0].announced == pytest.approx(BestCampaign.of(free, belief).re_identified.high)


def test_damaged_files_of_a_study_are_made_again_or_named(studied, tmp_path):
    results = tmp_path / "run"
    shutil.copytree(studied[0], results)
    for file in (results / BELIEFS).iterdir():
        file.write_bytes(file.read_bytes()[:100])
    again = play(document(tmp_path, DOCUMENT % 40), study=results)
    assert again.taken == studied[1].taken
    for damaged in ("{", "[]", '{"title": 1}'):
        (results / "game.json").write_text(damaged)
        with pytest.raises(UnmaskError, match=r"game\.json of folder 'run' is damaged"):
            read_result(results)


def test_a_game_of_no_study_is_refused(folder):
    with pytest.raises(UnmaskError, match="has no study"):
        play(folder / "unmask.toml", study=folder / "nowhere")


@pytest.mark.usefixtures("again")
def test_the_page_says_what_the_terminal_says(folder):
    page = folder / "game.html"
    message = invoke("game", folder / "unmask.toml", "-o", page)
    assert message.exit_code == 0, message.output
    first = message.stdout.splitlines()[0]
    assert first.startswith("Release the data protected with \u201cMondrian k=6\u201d under a contractual fine of")
    text = page.read_text(encoding="utf-8")
    assert "under a contractual fine of" in text
    assert "What stops each attacker" in text
    assert "findings 4 and 5" in text


@pytest.mark.usefixtures("again")
def test_the_envelope_has_the_decision(folder):
    envelope = parsed(invoke("game", folder / "unmask.toml", "--json").stdout)
    assert envelope["results"][0]["protection"] == "Mondrian k=6"
    decision = envelope["tables"]["decision"][0]
    assert (decision["release"], decision["protection"]) == (True, "Mondrian k=6")
    assert decision["attackers"] == {"broker": "stays away"}
    assert decision["payoff"] == envelope["results"][0]["payoff"]


def test_detection_follows_its_true_rate_whatever_attackers_believe(tmp_path, monkeypatch):
    """Attackers who expect no detection are not deterred by any fine."""
    monkeypatch.setattr("unmask.studies.game.offers.sensitivity", lambda *_, **__: ())
    monkeypatch.setattr("unmask.studies.game.offers.FINES", 3)
    game = play(document(tmp_path, DOCUMENT % 40 + "believed_detection = 0\n"))
    assert {offer.fine for offer in game.stopping} == {(math.inf, math.inf)}
    assert [answer.expects for answer in game.now.answers] == [answer.re_identified for answer in game.now.answers]
    assert "expects" in make_result(game).decision.items[0].finding


def test_competitors_are_an_unknown_key_of_a_document(tmp_path):
    with pytest.raises(UnmaskError, match="rivals"):
        play(document(tmp_path, DOCUMENT % 400 + "rivals = 3\n"))


def test_a_profile_may_be_a_table_with_a_range():
    result = parse_game(
        {
            "publisher": {"benefit": 1, "loss": 1},
            "attackers": [{"name": "broker", "attacker": {"gain": {"from": 2, "to": 4}, "max_fines": 0}}],
        },
        Path(),
    )
    assert result.attackers["broker"].attacker.gain == 3
    assert [(parameter_range.of, parameter_range.parameter) for parameter_range in result.ranges] == [
        ("broker", "gain")
    ]


@pytest.mark.parametrize(
    ("document_text", "message"),
    [
        ({}, r"no \[publisher\]"),
        ({"publisher": {"benefit": 1}}, "no loss"),
        ({"publisher": {"benefit": 1, "loss": 1, "fine": 2}}, "'fine' that does not exist"),
        (
            {"publisher": {"benefit": 1, "loss": 1, "fines": 2}, "attackers": [{"gain": 1, "max_fines": 0}]},
            "fines is 2",
        ),
        ({"publisher": {"benefit": 1, "loss": 1}}, "no attackers"),
        ({**EASY, "attackers": [{"name": "b", "attacker": {"gain": {}}}]}, "gain of b has no from; expected from ="),
        ({**EASY, "attackers": [{"gain": 1, "max_fines": 0, "discount": 0.5}]}, "has the discount 0.5, expected 1"),
        ({**EASY, "attackers": [{"gain": 1, "max_fines": 0, "ties": "attack"}]}, "has ties = 'attack'"),
        ({"publisher": {"benefit": 1, "loss": {"low": 1}}}, "loss has a key 'low' that does not exist"),
        ({"publisher": {"benefit": 1, "loss": {"from": 2, "to": 1}}}, "rising"),
        (
            {"publisher": {"benefit": 1, "loss": 1}, "attackers": [{"gain": 1, "max_fines": 0, "prior": 0.5}]},
            "coverage",
        ),
        ({"publisher": {"benefit": 1, "loss": 1}, "attackers": [{"gains": 1}]}, "'gains' that does not exist"),
        ({"publisher": {"benefit": 1, "loss": 1}, "attackers": [{"name": "a"}] * 2}, "same name"),
    ],
)
def test_an_invalid_game_is_refused(tmp_path, document_text, message):
    path = tmp_path / "plan.toml"
    path.write_text(format_document(document_text))
    with pytest.raises(UnmaskError, match=message):
        parse_game(load(path), tmp_path)


def test_an_adversary_who_asks_something_else_has_no_game(tmp_path):
    text = (DOCUMENT % 40).replace('use = "tables.RegisterAttack"', 'use = "tables.SinglingOut"')
    with pytest.raises(UnmaskError, match="does not look for people's records"):
        play(document(tmp_path, text.replace("knows = { coverage = 0.6 }\n", "")))


def test_the_questions_of_init_are_a_game_once_their_marks_are_off():
    text = "\n".join(list_question_lines())
    game_read = parse_game(tomllib.loads(text), Path())
    assert {parameter_range.parameter for parameter_range in game_read.ranges} == {"gain", "detection"}
    questions = [question for question in QUESTIONS if question.assumed is not None]
    assert text.count("# Assumed; ") == len(questions)
    assert all(f"\n{question.name} = " in text for question in questions)
    tested = re.sub(r"\ndetection = .*", "", text).replace("# detection_prior", "detection_prior")
    assert parse_game(tomllib.loads(tested), Path()).attackers["broker"].attacker.detection_prior == (1, 19)


STAKES = """\
[publisher]
benefit = 1000
loss = 30
[[attackers]]
gain = 50
exploit_cost = 10
max_fines = 0
"""

NETWORK = """
[data]
use = "graphs.barabasi_albert"
with = { n = 80, m = 4 }
[[protections]]
use = "none"
[[adversaries]]
use = "graphs.Rematch"
knows = { node_overlap = 0.6, edge_overlap = 0.8, seeds = "random.25", n_seeds = 8 }
"""

PLACES = """
[data]
use = "channels.grid"
with = { n = 3, size = 1000.0 }
[[protections]]
use = "channels.PlanarLaplace"
with = { epsilon = 0.002 }
[[adversaries]]
use = "channels.BayesChannelAttack"
loss = "euclidean"
targets = 20
"""


def re_identified(belief, gain, cost):
    """Return people re-identified without a fine: person by person, with the best place to stop."""
    result = 0.0
    for row in belief.observation:
        probabilities = np.exp(belief.log_probability[belief.indptr[row] : belief.indptr[row + 1]])
        shared = np.full(max(belief.n_unlisted[row], 0), belief.unlisted[row] / max(belief.n_unlisted[row], 1))
        likely = np.sort(np.concatenate([probabilities, shared]))[::-1]
        found_before = np.concatenate([[0.0], likely.cumsum()])
        payoffs = np.cumsum(gain * likely - cost * (1 - found_before[:-1]))
        result += found_before[payoffs.argmax() + 1] if payoffs.max(initial=0.0) > 0 else 0.0
    return result


def first_belief(path):
    """Return the adversary's belief about the first release of a document."""
    plan = read_plan(path)
    return believed(Cell(plan.datasets[0], plan.protections[0], plan.adversaries[0], plan.seeds[0], ("utility",)))[0]


@dataclass(frozen=True)
class Sure:
    """An attack whose scores are taken for probabilities."""

    def __call__(self, release, knowledge):
        return replace(Rematch()(release, knowledge), status="model")


@dataclass(frozen=True)
class Present:
    """An attack whose probabilities hold for people in the release alone."""

    def __call__(self, release, knowledge):
        belief = Ensemble(rounds=1)(release, knowledge)
        return replace(belief, confidence="calibrated", refused=())


def test_a_network_has_a_game_if_its_adversary_announces_probabilities(tmp_path, monkeypatch):
    monkeypatch.setattr("unmask.studies.game.offers.sensitivity", lambda *_, **__: ())
    path = document(tmp_path, 'title = "Friends"' + NETWORK + STAKES)
    with pytest.raises(UnmaskError, match="Rematch has scores for none, and a price needs probabilities: calibrate it"):
        play(path)
    with monkeypatch.context() as few_fines:
        few_fines.setattr("unmask.studies.cells.instantiate", lambda *_: Ensemble(rounds=1))
        with pytest.raises(UnmaskError, match="seeds were chosen and not sampled"):  # of the quarter with most contacts
            play(path)
        few_fines.setattr("unmask.studies.cells.instantiate", lambda *_: Present())
        with pytest.raises(UnmaskError, match="a price needs probabilities: nothing tells who is absent"):
            play(path)
    monkeypatch.setattr("unmask.studies.cells.instantiate", lambda *_: Sure())
    game = play(path)
    assert 0 < game.people < 80  # whom they knew before is no target
    answer = game.now.answers[0]
    assert answer.attacks
    assert answer.re_identified[1] <= game.people
    assert answer.re_identified == pytest.approx([re_identified(first_belief(path), 50, 10)] * 2)


def test_noisy_places_have_a_game(tmp_path, monkeypatch):
    monkeypatch.setattr("unmask.studies.game.offers.sensitivity", lambda *_, **__: ())
    path = document(tmp_path, 'title = "Places"' + PLACES + STAKES)
    game = play(path)
    assert game.people == 20
    assert 0 < game.now.utility < 1
    assert game.now.answers[0].attacks
    assert game.now.answers[0].re_identified == pytest.approx([re_identified(first_belief(path), 50, 10)] * 2)


# --- the smallest k ---------------------------------------------------------------------------------------------------

SEARCHED = """
title = "Discharges"
[data]
use = "tables.synthetic_census"
with = { n = 60 }
[columns]
age = "quasi-identifier"
sex = "quasi-identifier"
[[protections]]
use = "tables.Mondrian"
grid = { k = [2] }
[[adversaries]]
name = "neighbor"
use = "tables.ClassAttack"
[publisher]
benefit = 1000
loss = 100
largest_k = %d
[[attackers]]
gain = 100
exploit_cost = 20
max_fines = 0
"""


def test_the_smallest_k_that_deters_everybody_does_and_one_less_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr("unmask.studies.game.offers.sensitivity", lambda *_, **__: ())
    monkeypatch.setattr("unmask.studies.game.offers.FINES", 3)
    facts = play(document(tmp_path, SEARCHED % 60))
    (size,) = facts.sizes
    assert (size.protection, size.release) == ("Mondrian", f"Mondrian k={size.k}")
    (offer,) = (offer for offer in facts.offers if offer.protection == size.release)
    assert not any(answer.attacks for answer in offer.answers)
    assert offer.utility < 1
    text = (SEARCHED % 60).replace("k = [2]", f"k = [{size.k - 1}, {size.k}]").replace("largest_k = 60\n", "")
    again = {offer.protection: offer for offer in play(document(tmp_path, text)).offers}
    assert again[f"Mondrian k={size.k - 1}"].answers[0].attacks
    assert not again[f"Mondrian k={size.k}"].answers[0].attacks
    assert f"k = {size.k} deters every attacker" in page(facts)


def test_a_search_without_a_k_that_deters_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("unmask.studies.game.offers.sensitivity", lambda *_, **__: ())
    monkeypatch.setattr("unmask.studies.game.offers.FINES", 3)
    facts = play(document(tmp_path, SEARCHED % 3))
    assert [(size.k, size.release) for size in facts.sizes] == [(None, None)]
    assert "no k up to 3 deters every attacker" in page(facts)


@pytest.mark.parametrize("largest", [1, -2, 2.5, True, "many"])
def test_an_invalid_largest_k_is_refused(tmp_path, largest):
    with pytest.raises(UnmaskError, match="largest_k"):
        parse_game({**EASY, "publisher": {"benefit": 1, "loss": 1, "largest_k": largest}}, tmp_path)


def test_init_writes_a_game_that_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,sex\n" + "".join(f"{age},{sex}\n" for age in range(20, 60) for sex in "fm") * 3)
    assert invoke("init", "people.csv", "--publisher").exit_code == 0
    text = Path("unmask.toml").read_text()
    assert "\n[publisher]\n" in text
    assert "take the marks off" not in text
    facts = parse_game(load(Path("unmask.toml")), tmp_path)
    assert facts.publisher.loss == 500
    assert {part.use for part in read_plan(Path("unmask.toml")).protections} == {"none", "tables.Mondrian"}
