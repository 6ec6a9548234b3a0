"""What defaults of Winnow and of decision lists were weighed by: defaults.md.

    python bench/defaults.py --data DIR [--seeds 10] [--out DIR]

DIR as in utility.py. Choices are made on adult_a9a, clickbait and usps; mushroom, phishing and farm_ads are looked at
when they are made. Splits 80/20, medians, delta = 1e-6, replace one row. Tables of more than 256 columns have no
conjunctions.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import results
import utility

CHOSEN_ON = ("adult_a9a", "clickbait", "usps")
SETTINGS = {
    "Winnow, 20 updates": ("DPWinnowClassifier", {"n_updates": 20}),
    'Winnow, "auto"': ("DPWinnowClassifier", {}),
    "list, 7 rules": ("DecisionListClassifier", {"max_rules": 7}),
    "list, 10 rules": ("DecisionListClassifier", {"max_rules": 10}),
    "list, 25 rules": ("DecisionListClassifier", {"max_rules": 25}),
    "list, 15 rules": ("DecisionListClassifier", {"max_rules": 15}),
    "list, auto": ("DecisionListClassifier", {}),
    "list, 10 rules, conjunctions of two": ("DecisionListClassifier", {"max_rules": 10, "conjunctions": 2}),
}


def line(name, table, seeds):
    """Medians by epsilon; None where it is not for such a table."""
    kind, options = SETTINGS[name]
    if options.get("conjunctions") and table.X.shape[1] > 256:
        return None
    found = {epsilon: [] for epsilon in utility.EPSILONS}
    for split in utility.splits(table, seeds):
        for epsilon, accuracies in found.items():
            model = utility.learner(kind, split.X, epsilon, split.seed, **options).fit(split.X, split.y)
            accuracies.append(model.score(split.X_test, split.y_test))
    return [float(np.median(accuracies)) for accuracies in found.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for table in sorted(utility.tables(arguments.data), key=lambda table: table.name not in CHOSEN_ON):
        for name in SETTINGS if "/" not in table.name else ():
            found = line(name, table, arguments.seeds)
            if found:
                rows.append([table.name, name, *(f"{accuracy:.3f}" for accuracy in found)])
                print(*rows[-1], flush=True)
    text = results.table(["data", "setting", *(f"epsilon {epsilon:g}" for epsilon in utility.EPSILONS)], rows)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "defaults.md").write_text(text)


if __name__ == "__main__":
    main()
