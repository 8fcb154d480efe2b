"""Anonymeter's three risks, by Anonymeter, for `wp216.py`: one line of JSON for each evaluator.

    ANONYMETER_PYTHON=.../bin/python python verification/wp216.py

Anonymeter 1.1 needs an older NumPy than unmask, so it has an environment of its own. The parameters are those of its
example notebook. argv: a folder with train.csv, control.csv and synthetic.csv; seeds
"""

import json
import sys
import warnings
from pathlib import Path

LINKED = (
    ["type_employer", "education", "hr_per_week", "capital_loss", "capital_gain"],
    ["race", "sex", "fnlwgt", "age", "country"],
)
SECRETS = ("occupation", "marital", "income", "sex")


def main(folder: str, *seeds: str) -> None:
    """Run the evaluators; singling out once more on as many people as there are control people."""
    import numpy as np
    import pandas as pd
    from anonymeter import evaluators

    train, control, synthetic = (pd.read_csv(Path(folder) / f"{n}.csv") for n in ("train", "control", "synthetic"))
    for seed in map(int, seeds):
        np.random.seed(seed)  # noqa: NPY002 - what Anonymeter draws from
        alike = train.sample(len(control), random_state=seed)
        for name, people in (("", train), (", as many", alike)):
            for mode, n in (("univariate", 500), ("multivariate", 100)):
                given = {"ori": people, "syn": synthetic, "control": control, "n_attacks": n, "seed": seed}
                say(mode + name, seed, evaluators.SinglingOutEvaluator(**given, n_cols=4).evaluate(mode=mode))
        given = {"ori": train, "syn": synthetic, "control": control}
        link = evaluators.LinkabilityEvaluator(**given, n_attacks=2000, aux_cols=LINKED, n_neighbors=10)
        say("linkability", seed, link.evaluate(n_jobs=1))
        for secret in SECRETS:
            known = [name for name in train.columns if name != secret]
            infer = evaluators.InferenceEvaluator(**given, n_attacks=1000, secret=secret, aux_cols=known)
            say(f"inference of {secret}", seed, infer.evaluate(n_jobs=1))


def say(name: str, seed: int, evaluated: object) -> None:
    """What was reached, as counts."""
    found = evaluated.results()  # type: ignore[attr-defined]
    counts = {"attack": found.n_success, "baseline": found.n_baseline, "control": found.n_control}
    told = {"name": name, "seed": seed, "n": found.n_attacks_ori, **{key: float(n) for key, n in counts.items()}}
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
