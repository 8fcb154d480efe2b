"""Anonymeter's three risks, by Anonymeter, for `wp216.py`: one line of JSON for each evaluator.

    ANONYMETER_PYTHON=.../bin/python python verification/wp216.py

Anonymeter 1.1 needs an older NumPy than unmask, so it has another environment. The parameters are those of its example
notebook. argv: a folder with train.csv, control.csv and synthetic.csv; seeds
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
    """Run the evaluators; singling out once more on as many people as in the control group."""
    import numpy as np
    import pandas as pd
    from anonymeter import evaluators

    train, control, synthetic = (pd.read_csv(Path(folder) / f"{n}.csv") for n in ("train", "control", "synthetic"))
    for seed in map(int, seeds):
        np.random.seed(seed)  # noqa: NPY002 - the generator of Anonymeter
        sample = train.sample(len(control), random_state=seed)
        for name, people in (("", train), (", as many", sample)):
            for mode, n in (("univariate", 500), ("multivariate", 100)):
                data = {"ori": people, "syn": synthetic, "control": control, "n_attacks": n, "seed": seed}
                print_counts(mode + name, seed, evaluators.SinglingOutEvaluator(**data, n_cols=4).evaluate(mode=mode))
        data = {"ori": train, "syn": synthetic, "control": control}
        link = evaluators.LinkabilityEvaluator(**data, n_attacks=2000, aux_cols=LINKED, n_neighbors=10)
        print_counts("linkability", seed, link.evaluate(n_jobs=1))
        for secret in SECRETS:
            names = [name for name in train.columns if name != secret]
            infer = evaluators.InferenceEvaluator(**data, n_attacks=1000, secret=secret, aux_cols=names)
            print_counts(f"inference of {secret}", seed, infer.evaluate(n_jobs=1))


def print_counts(name: str, seed: int, evaluator: object) -> None:
    """Print the counts of an evaluator."""
    results = evaluator.results()  # type: ignore[attr-defined]
    counts = {"attack": results.n_success, "baseline": results.n_baseline, "control": results.n_control}
    row = {"name": name, "seed": seed, "n": results.n_attacks_ori, **{key: float(n) for key, n in counts.items()}}
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
