"""What a process pays for its first model: importing dpfast and a fit of 1,000 rows, beside scikit-learn alone.

    python bench/start.py [--repeat 5]

Every line is a process of its own, in turn with the others. Printed are the processor's milliseconds, the least of the
repeats, and their ratio to the import of `sklearn.base`, from which every learner inherits, with numpy and pandas. The
work is checked: the first fit of a process gives the model of its second one.
"""

import argparse
import os
import subprocess
import sys

os.environ["DPFAST_THREADS"] = "1"

PEER = "import numpy, pandas, sklearn.base"
IMPORTED = "import numpy, pandas, dpfast; learner = dpfast.HalfspaceClassifier"
FITTED = f"""{IMPORTED}
X = pandas.DataFrame({{f"x{{j}}": numpy.random.default_rng(j).normal(size=1000) for j in range(20)}})
fit = lambda: learner(random_state=0).fit(X, (X.x0 > 0).to_numpy())
first = fit()"""
CHECKED = f"{FITTED}\nassert first.model_ == fit().model_"
TIMED = "import time\nstart = time.process_time()\n{}\nprint(time.process_time() - start)"
LINES = {"numpy, pandas, sklearn.base": PEER, "and dpfast with a learner": IMPORTED, "and a first fit": FITTED}


def run(program):
    """Return what a program prints in a process of its own."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, capture_output=True, text=True)
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    p = parser.parse_args()
    run(CHECKED)
    seen = [{name: float(run(TIMED.format(LINES[name]))) for name in LINES} for _ in range(p.repeat)]
    least = {name: min(each[name] for each in seen) for name in LINES}
    for name, seconds in least.items():
        print(f"{name:30} {1e3 * seconds:8.0f} ms {seconds / least['numpy, pandas, sklearn.base']:6.2f}")


if __name__ == "__main__":
    main()
