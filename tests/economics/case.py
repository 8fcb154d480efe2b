"""The attacker of the published case study, fined once, with a constant chance of detection."""

from unmask.economics import Attacker

CASE = Attacker(
    gain=8000,
    access_cost=100,
    exploit_cost=10,
    fine=10_000,
    max_fines=1,
    detection_base=-4.59,
    detection_growth=0.0,
    prior=0.63,
)
