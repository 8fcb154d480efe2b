"""Findings about channels: the headline, the blocks of a page, who is at risk, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from unmask.channels.audit.facts import ChannelFacts, Mechanism
from unmask.channels.audit.tables import ANSWERS
from unmask.languages import gettext as _
from unmask.languages import mark
from unmask.measures.registry import SHARES
from unmask.results import Advice, Alternative, AtRisk, Block, Chart, Fact
from unmask.results.formats import number, percent
from unmask.results.words import UNITLESS, amount, more_than, quantity, release_name, short, wrong_by

ADVERSARIES = {
    "gibbs": "answers with a draw from the posterior",
    "map": "answers with the likeliest secret",
}
"""Adversaries besides the best one -> words that complete "an adversary who ..."."""

LOW_PRIOR = 0.05
"""Error without any output up to which the average error hides most outputs."""

RELATIVE_TOLERANCE = 1e-6
"""Relative difference of values that count as equal."""

AVERAGE_HIDES_MOST = (
    "Without any output the adversary is wrong in only {prior} of cases. The average error then hardly changes, even "
    "if some outputs reveal the secret. Read the most revealing output instead."
)

MECHANISM_COLUMNS = (
    "Errors on average and at the most revealing output are those of the best adversary. Leakage is the mutual "
    "information of secret and output; \u03b5 is the largest log ratio between probabilities of an output."
)

SPREAD_NOTE = "Outputs count by their probability. If the steps begin far to the left, a few outputs reveal much."

RATIO_NOTE = "Ratio is the bound divided by the true value: the closer to 1, the tighter the bound."

SECRETS_NOTE = "How sure the adversary is of each secret, on average over the outputs that it gives."


def make_blocks(facts: ChannelFacts) -> tuple[Block, ...]:
    """Return the findings of an audit of channels, in the order of the page."""
    blocks = [_limit_block(facts), _mechanism_block(facts)]
    if facts.outputs:
        blocks.append(_output_block(facts))
    if facts.secrets:
        blocks.append(_secret_block(facts))
    if facts.bounds:
        blocks.append(Block("bounds", "Bounds and true values", _tightest(facts), (), ("channel_bounds",), RATIO_NOTE))
    return tuple(blocks)


def equal(a: float, b: float) -> bool:
    """Return whether two values are equal up to rounding; infinite values are equal to themselves."""
    return a == b or math.isclose(a, b, rel_tol=RELATIVE_TOLERANCE, abs_tol=1e-12)


# --- sentences -------------------------------------------------------------------------------------------------------


def headline(facts: ChannelFacts) -> str:
    """Return the error of the best adversary, on average and at the most revealing output."""
    mechanism, unit = facts.first, facts.model.unit
    sentence = _describe_error(mechanism, facts.prior_error, unit)
    is_certain = amount(mechanism.privacy, unit) == amount(0.0, unit) != amount(facts.prior_error, unit)
    return sentence if is_certain else f"{sentence} {_worst_output(mechanism, unit)}"


def _describe_error(mechanism: Mechanism, prior_error: float, unit: str) -> str:
    """Return the error of the best adversary with and without an output."""
    before, error = wrong_by(prior_error, unit), wrong_by(mechanism.privacy, unit)
    if amount(mechanism.privacy, unit) == amount(prior_error, unit):
        message = {
            (True, True): mark("Behind {name} the best adversary is {before}, as much as without any output."),
            (True, False): mark("Behind {name} the best adversary is {before}, hardly less than without any output."),
            (False, True): mark(
                "Behind {name} the best adversary is {before} on average, as much as without any output."
            ),
            (False, False): mark(
                "Behind {name} the best adversary is {before} on average, hardly less than without any output."
            ),
        }[unit in SHARES, equal(mechanism.privacy, prior_error)]
    elif amount(mechanism.privacy, unit) == amount(0.0, unit):
        message = mark("Behind {name} the best adversary is never wrong; without any output they would be {before}.")
    elif unit in SHARES:
        message = mark("Behind {name} the best adversary is {error}; without any output they would be {before}.")
    else:
        message = mark(
            "Behind {name} the best adversary is {error} on average; without any output they would be {before}."
        )
    return _(message, name=release_name(mechanism.name), before=before, error=error)


def _worst_output(mechanism: Mechanism, unit: str) -> str:
    if math.isnan(mechanism.worst):
        return "The error at the most revealing output was not computed."
    if equal(mechanism.worst, mechanism.privacy):
        return "No output reveals more than another."
    if amount(mechanism.worst, unit) == amount(0.0, unit):
        return "At the most revealing output they are never wrong."
    return f"At the most revealing output they are {wrong_by(mechanism.worst, unit)}."


def cautions(facts: ChannelFacts) -> tuple[str, ...]:
    """Return the warning that averages hide most, if few answers are wrong without any output."""
    if facts.model.unit not in SHARES or not 0 < facts.prior_error <= LOW_PRIOR:
        return ()
    return (AVERAGE_HIDES_MOST.format(prior=percent(facts.prior_error)),)


def _against_limit(facts: ChannelFacts) -> str:
    """Return the error that a mechanism of the same distortion can leave at most, and the share that is reached."""
    mechanism, unit = facts.first, facts.model.unit
    limit, share = facts.limit_at(mechanism.distortion), facts.share_of_limit(mechanism)
    if limit is None or math.isnan(mechanism.privacy):
        return ""
    distorts = (
        f"{release_name(mechanism.name)} distorts by {quantity(mechanism.distortion, facts.model.distortion_unit)}"
    )
    if limit <= mechanism.privacy or amount(limit, unit) == amount(mechanism.privacy, unit):
        return f"{distorts}; no mechanism does better at that distortion."
    reached = "" if share is None else f", so that it reaches {percent(share)} of the limit"
    return f"{distorts}; no mechanism with that distortion leaves the adversary {more_than(limit, unit)}{reached}."


def _compare_mechanisms(facts: ChannelFacts) -> str:
    """Return the mechanisms behind which the error is largest and smallest."""
    finite = [mechanism for mechanism in facts.mechanisms if math.isfinite(mechanism.privacy)]
    if len(finite) < 2:
        return ""
    largest, smallest = (pick(finite, key=lambda mechanism: mechanism.privacy) for pick in (max, min))
    unit = facts.model.unit
    if amount(largest.privacy, unit) == amount(smallest.privacy, unit):
        return f"Behind all {len(finite)} mechanisms the adversary is {wrong_by(largest.privacy, unit)}."
    high, low = (f"{release_name(mechanism.name)}{_cost_clause(mechanism, facts)}" for mechanism in (largest, smallest))
    best, worst = (wrong_by(mechanism.privacy, unit) for mechanism in (largest, smallest))
    return f"Of {len(finite)} mechanisms, {high} leaves the adversary {best}, more than any other; {low} only {worst}."


def _cost_clause(mechanism: Mechanism, facts: ChannelFacts) -> str:
    if math.isnan(mechanism.distortion):
        return ""
    return f", which distorts by {quantity(mechanism.distortion, facts.model.distortion_unit)},"


def _compare_adversaries(facts: ChannelFacts, words: Mapping[str, str] = ADVERSARIES) -> str:
    """Return the errors of other adversaries behind the mechanism in detail."""
    mechanism, unit = facts.first, facts.model.unit
    errors = {name: error for name, error in mechanism.errors.items() if error is not None and not math.isnan(error)}
    clauses = [
        f"{_adversary_clause(name, words.get(name, ''), first=i == 0)} is {wrong_by(error, unit)}"
        for i, (name, error) in enumerate(errors.items())
    ]
    return f"Behind {release_name(mechanism.name)} {'; '.join(clauses)}." if clauses else ""


def _adversary_clause(name: str, words: str, *, first: bool) -> str:
    if not words:
        return f"another adversary ({name})" if first else f"one more ({name})"
    return f"another adversary, who {words}," if first else f"one who {words}"


def _tightest(facts: ChannelFacts) -> str:
    ratios = [ratio for row in facts.bounds if (ratio := row.ratio) is not None and math.isfinite(ratio)]
    if not ratios:
        return "The true values are 0 or unknown, so that no bound can be compared."
    return f"The tightest bound is {number(min(ratios), 2)} times the true value."


# --- blocks ----------------------------------------------------------------------------------------------------------


def _limit_block(facts: ChannelFacts) -> Block:
    charts = tuple(chart for chart in (_error_chart(facts), _spread_chart(facts)) if chart is not None)
    notes = (*_chart_notes(facts), *((SPREAD_NOTE,) if facts.spread else ()))
    heading = "What the best adversary can still estimate"
    return Block("channel", heading, _against_limit(facts), charts, notes=notes, open=True)


def _error_chart(facts: ChannelFacts) -> Chart | None:
    """Return errors against distortion under the limit; None without a mechanism of finite distortion and error."""
    if not any(mechanism.is_finite for mechanism in facts.mechanisms):
        return None
    unit = facts.model.unit
    errors = "; ".join(f"{mechanism.name} {quantity(mechanism.privacy, unit)}" for mechanism in facts.mechanisms)
    same_unit = unit == facts.model.distortion_unit and unit not in UNITLESS
    return Chart(
        "points",
        "channel_errors",
        "distortion",
        "error",
        by="series",
        text="mechanism",
        mark="mark",
        title="What is left to privacy, and what it costs",
        label=f"Error of the adversary against distortion. Best adversary behind {errors}.",
        rules={f"without any output {amount(facts.prior_error, unit)}": facts.prior_error},
        diagonal="error = distortion" if same_unit else "",
    )


def _spread_chart(facts: ChannelFacts) -> Chart | None:
    if not any(math.isfinite(error) for error, _ in facts.spread):
        return None
    mechanism, unit = facts.first, facts.model.unit
    rules = {"worst": mechanism.worst, "on average": mechanism.privacy}
    if amount(mechanism.worst, unit) == amount(mechanism.privacy, unit):
        rules = {"worst and on average": mechanism.privacy}
    rules["without any output"] = facts.prior_error
    return Chart(
        "steps",
        "channel_spread",
        "error",
        "share",
        title=f"Error over outputs: {short(mechanism.name, 24)}",
        label=f"Share of cases by the largest error at the output, behind {mechanism.name}.",
        x_rules={f"{name} {amount(error, unit)}": error for name, error in rules.items()},
        y_max=1.0,
    )


def _chart_notes(facts: ChannelFacts) -> Iterator[str]:
    """Yield what the chart of errors leaves out, and how to read the limit."""
    if not any(mechanism.is_finite for mechanism in facts.mechanisms):
        return
    if facts.limit:
        yield "No mechanism lies above the limit. The best one reaches it if the adversary's best answer is a secret."
    if facts.model.unit and facts.model.unit == facts.model.distortion_unit:
        yield "Where error equals distortion, all distortion serves privacy; below that line, part of it is wasted."
    left_out = [mechanism.name for mechanism in facts.mechanisms if not mechanism.is_finite]
    if left_out:
        yield f"Not in the chart, because distortion or error is not finite: {', '.join(left_out)}."


def _mechanism_block(facts: ChannelFacts) -> Block:
    sentence = " ".join(filter(None, (_compare_mechanisms(facts), _compare_adversaries(facts))))
    notes = (MECHANISM_COLUMNS, *_mechanism_notes(facts))
    return Block("mechanisms", "The mechanisms", sentence, (), ("channel_mechanisms",), _introduce(facts), notes)


def _introduce(facts: ChannelFacts) -> str:
    model = facts.model
    in_unit = f", in {model.unit}" if model.unit and model.unit not in SHARES else ""
    probability = " The loss is a probability of being wrong." if model.unit in SHARES else ""
    several = f" of {facts.first.name}" if len(facts.mechanisms) > 1 else ""
    return (
        f"The adversary knows how the mechanism works and how likely each of {facts.n_secrets:,} secrets is. They see "
        f"one of {facts.n_outputs:,} outputs{several} and give the answer of least expected loss: "
        f"{model.name.replace('_', ' ')}{in_unit}.{probability} The larger their error, the more privacy is left."
    )


def _mechanism_notes(facts: ChannelFacts) -> Iterator[str]:
    """Yield what the columns mean, and the special values in them."""
    for name in facts.other_adversaries:
        if name in ADVERSARIES:
            yield f"{ANSWERS[name].capitalize()}: an adversary who {ADVERSARIES[name]}."
    if any(math.isinf(mechanism.epsilon) for mechanism in facts.mechanisms):
        yield "unbounded: some output rules out a secret with certainty; no finite \u03b5 bounds that."
    shares = [facts.share_of_limit(mechanism) for mechanism in facts.mechanisms] if facts.limit else []
    if shares:
        yield "Share of the limit: error on average, divided by that of an optimal mechanism with the same distortion."
    if any(share is not None and share > 1.0001 for share in shares):
        yield "Above 100 %: the limit is drawn straight between computed distortions, and lies higher there."
    if any(share is None for share in shares):
        yield "\u2013: the limit is 0, or was not computed at that distortion."


def _output_block(facts: ChannelFacts) -> Block:
    n_shown = len(facts.outputs)
    if n_shown >= facts.n_outputs:
        scope = f"All {n_shown:,} outputs of {facts.first.name}, the smallest error first."
    else:
        scope = f"{n_shown:,} of {facts.n_outputs:,} outputs of {facts.first.name}, the smallest error first."
    introduction = f"{scope} Probability is how often an output occurs; error is the expected loss of the best answer."
    sentence = f"At the first of them the adversary is {wrong_by(facts.outputs[0].error, facts.model.unit)}."
    heading = "The most revealing outputs"
    return Block("outputs", heading, sentence, (), ("channel_per_observation",), introduction, is_finding=False)


def _secret_block(facts: ChannelFacts) -> Block:
    first = facts.secrets[0]
    name = short(first.secret, 24) or "(empty)"
    if equal(first.belief, first.prior):
        sentence = "An output makes the adversary no surer of any secret."
    else:
        rise = f"from {percent(first.prior)} to {percent(first.belief)}"
        sentence = f"The adversary's belief in {name} rises {rise} where it is the truth."
    return Block("secrets", "The most exposed secrets", sentence, (), ("channel_per_secret",), SECRETS_NOTE)


# --- first screen ----------------------------------------------------------------------------------------------------


def describe_risk(facts: ChannelFacts) -> AtRisk | None:
    """Return how sure the adversary is of the most exposed secret."""
    if not facts.secrets:
        return None
    first, risk_facts = facts.secrets[0], tuple(_risk_facts(facts))
    if equal(first.belief, first.prior):
        return AtRisk(_("No secret"), _("is known any better than without any output"), risk_facts)
    sentence = _(
        "is the mean belief in {secret}; {prior} without any output",
        secret=_exposed_secrets(facts),
        prior=percent(first.prior),
    )
    return AtRisk(percent(first.belief), sentence, risk_facts)


def _exposed_secrets(facts: ChannelFacts) -> str:
    """Return the most exposed secret, as the object of a belief."""
    if facts.n_most_exposed == facts.n_secrets:
        return _("the true secret")
    n_others, name = facts.n_most_exposed - 1, short(facts.secrets[0].secret, 24) or "(empty)"
    if n_others == 1:
        return _("the most exposed secret, {name} or one of 1 other, if it is the true one", name=name)
    if n_others:
        return _("the most exposed secret, {name} or one of {n} others, if it is the true one", name=name, n=n_others)
    return _("the most exposed secret, {name}, if it is the true one", name=name)


def _risk_facts(facts: ChannelFacts) -> Iterator[Fact]:
    mechanism, unit = facts.first, facts.model.unit
    share = next((share for error, share in facts.spread if equal(error, mechanism.worst)), None)
    if share is not None and not equal(mechanism.worst, mechanism.privacy):
        error = wrong_by(mechanism.worst, unit)
        yield Fact(_("Smallest error"), _("{error}, for {share} of cases", error=error, share=percent(share)))
    elif math.isfinite(mechanism.worst):
        yield Fact(_("Every case"), wrong_by(mechanism.worst, unit))
    if facts.outputs and facts.outputs[0].likeliest:
        yield Fact(_("Belief there"), percent(facts.outputs[0].likeliest[0][1]))
    if len(facts.mechanisms) > 1:
        yield Fact(_("Mechanism"), mechanism.name)


def advise(facts: ChannelFacts) -> Advice | None:
    """Return the compared mechanisms, the most private first, and the command that designs the best one.

    None if a single mechanism leaves the adversary the error that they have without any output.
    """
    budget, sentence = _design(facts)
    command = f"unmask design {facts.design_options} --budget {budget} -o mechanism.csv"
    ranked = sorted(facts.mechanisms, key=lambda mechanism: -mechanism.privacy)
    if len(ranked) > 1:
        headings = (_("error left"), *((_("distortion"),) if facts.distortion_known else ()))
        return Advice(sentence, command, headings, tuple(_alternative(item, facts) for item in ranked[:4]))
    if equal(ranked[0].privacy, facts.prior_error):
        return None
    return Advice(sentence, command)


def _design(facts: ChannelFacts) -> tuple[str, str]:
    """Return a budget for the best mechanism, and what it achieves.

    The budget is the distortion of the mechanism at hand if that leaves less than the limit. Otherwise it is twice that
    distortion, at most the distortion that hides everything; half of the latter if the mechanism distorts nothing.
    """
    mechanism, unit = facts.first, facts.model.distortion_unit
    distortion, full_privacy = mechanism.distortion, facts.full_privacy_distortion
    limit, share = facts.limit_at(distortion), facts.share_of_limit(mechanism)
    if limit is not None and share is not None and share < 1 - 1e-4:
        error = _wrong_by_up_to(limit, facts.model.unit)
        message = mark(
            "At the same distortion, {distortion}, the adversary could be {error}. This finds that mechanism:"
        )
        return f"{distortion:.6g}", _(message, distortion=quantity(distortion, unit), error=error)
    budget = min(2 * distortion, full_privacy or math.inf) if distortion > 0 else full_privacy and full_privacy / 2
    if not budget or not math.isfinite(budget):
        return "BUDGET", _("This finds the best mechanism within a budget of distortion:")
    if limit is None:
        return f"{budget:.6g}", _(
            "This finds the best one at distortion {distortion}:", distortion=quantity(budget, unit)
        )
    message = mark(
        "No mechanism is better at distortion {current}. This finds the best one at distortion {distortion}:"
    )
    return f"{budget:.6g}", _(message, current=quantity(distortion, unit), distortion=quantity(budget, unit))


def _wrong_by_up_to(limit: float, unit: str) -> str:
    """Return the largest error in words: "off by up to 1.24 km"."""
    if unit in SHARES:
        return _("wrong in up to {share} of cases", share=amount(limit, unit))
    return _("off by up to {value}", value=quantity(limit, unit))


def _alternative(mechanism: Mechanism, facts: ChannelFacts) -> Alternative:
    has_distortion = not math.isnan(mechanism.distortion)
    cost = quantity(mechanism.distortion, facts.model.distortion_unit) if has_distortion else "unknown"
    error = quantity(mechanism.privacy, facts.model.unit)
    return Alternative(mechanism.name, (error, *((cost,) if facts.distortion_known else ())))
