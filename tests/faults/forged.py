"""Models whose files fit together and were changed in several places at once, and how they fare.

    python tests/faults/forged.py 10000           that many files, in turn of every kind
    python tests/faults/forged.py 10000 --seed 7

A file is loaded or refused within 2 seconds of the processor and 200 MB, and so is what a loaded model shows of itself.
"""

import argparse
import copy
import json
import os
import resource
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
from fields import fields
from saved import KINDS, document

import dpfast
from dpfast.base import saving

SECONDS, BYTES = 2, 200 << 20
REFUSED = (ValueError, OSError)
_BATCH = 50  # files to a process
_NUMBERS = (
    0, 1, 2, -1, 3, 7, 63, 64, 255, 1 << 10, 1 << 14, 10**5, 10**6, 1 << 24, 10**9, (1 << 31) - 1, 1 << 31, 1 << 32,
    1 << 53, (1 << 63) - 1, 1 << 63, 10**200, 0.5, 1e-9, 1e-300, 5e-324, 1.0, 1e9, 1e150, 1e300, -0.5,
)  # fmt: skip
_COSTS = ("pure", "range", "zcdp", "gaussian", "cover", "pair")


def forged(whole, rng):
    """The text of a file like this one with several changes, of at most some 200 kB."""
    document = copy.deepcopy(whole)
    document.pop("digest", None)
    for _ in range(int(rng.integers(1, 4))):
        with suppress(AttributeError, LookupError, TypeError, ValueError):  # an earlier change left no place for it
            _CHANGES[int(rng.integers(len(_CHANGES)))](document, rng)
    text = json.dumps(document, default=float)
    return forged(whole, rng) if len(text) > 200_000 else json.dumps(document | {"digest": saving._digest(document)})


def _entry(document, at):
    for name in at:
        document = document[name]
    return document


def _some(document, rng, kinds):
    """The path of an entry of one of these types."""
    paths = [at for at in fields(document) if type(_entry(document, at)) in kinds]
    return paths[int(rng.integers(len(paths)))]


def _put(document, at, value):
    _entry(document, at[:-1])[at[-1]] = value


def _number(document, rng):
    _put(document, _some(document, rng, (int, float)), _NUMBERS[int(rng.integers(len(_NUMBERS)))])


def _everywhere(document, rng):
    """Replace an integer by another one wherever it stands: the width of a table, say."""
    old = _entry(document, _some(document, rng, (int,)))
    new = _NUMBERS[int(rng.integers(len(_NUMBERS)))]

    def replaced(entry):
        if isinstance(entry, dict):
            return {name: replaced(each) for name, each in entry.items()}
        if isinstance(entry, list):
            return [replaced(each) for each in entry]
        return new if type(entry) is int and entry == old else entry

    for name in [*document]:
        document[name] = replaced(document[name])


def _longer(document, rng):
    """Make every list of one length longer, or shorter, and each number that is this length."""
    old = len(_entry(document, _some(document, rng, (list,))))
    new = int(rng.choice([0, old + 1, 2 * old + 1, 100, 1000, 10_000]))

    def replaced(entry):
        if isinstance(entry, dict):
            return {name: replaced(each) for name, each in entry.items()}
        if isinstance(entry, list):
            if len(entry) == old:
                return (entry * (1 + new // max(1, old)))[:new]
            return [replaced(each) for each in entry]
        return new if type(entry) is int and entry == old else entry

    chosen = [*document] if rng.random() < 0.5 else [str(rng.choice([*document]))]
    for name in chosen:
        document[name] = replaced(document[name])


def _rising(document, rng):
    """Make a list one of many rising integers or reals, as places and edges are."""
    size = int(rng.choice([2, 10, 1000, 10_000]))
    step = [1, 3, 0.5][int(rng.integers(3))]
    _put(document, _some(document, rng, (list,)), [step * k for k in range(size)])


def _moved(document, rng):
    """Put one entry in the place of another."""
    kinds = [(int, float), (list,), (dict,), (str,)][int(rng.integers(4))]
    paths = [at for at in fields(document) if type(_entry(document, at)) in kinds]
    source, target = (paths[int(k)] for k in rng.integers(len(paths), size=2))
    _put(document, target, copy.deepcopy(_entry(document, source)))


def _cost(document, rng):
    """Give the claim a cost of few or many parts, of one kind or of all."""
    size, kinds = int(np.exp(rng.uniform(0, 7))), rng.choice(_COSTS, int(rng.integers(1, 7)))
    costs = []
    for _ in range(size):
        kind, each = str(rng.choice(kinds)), float(np.exp(rng.uniform(-16, 2))) / size
        times = int(rng.choice([1, 1, 1, 2, 50, 8000, 10**9, 10**200]))
        if kind == "cover":
            costs.append([kind, each, times, 0.0, each * float(rng.random()), int(np.exp(rng.uniform(0, 40)))])
        else:
            delta = float(rng.choice([0.0, 1e-12, 1e-300, 0.5])) if kind in ("gaussian", "pair") else 0.0
            costs.append([kind, each, times, delta])
    claims = [document["privacy"], document.get("encoder", {}).get("privacy", document["privacy"])]
    claims[int(rng.integers(2))]["cost"] = costs
    if rng.random() < 0.5:
        epsilon = float(np.exp(rng.uniform(-3, 9)))
        for entry in (document["privacy"], document["parameters"]):
            entry["epsilon"] = epsilon


def _nothing(document, rng):
    _put(document, _some(document, rng, (int, float, str, list, dict, bool)), [None, [], {}, "", True][rng.integers(5)])


_CHANGES = _number, _number, _everywhere, _everywhere, _longer, _longer, _rising, _moved, _cost, _cost, _nothing


def shown(path):
    """Load a model and let it show itself."""
    model = dpfast.load(path)
    str(model), str(model.privacy_), model.privacy_.to_dict()
    model._reporter.text()
    for name in ("to_text", "terms", "rule_worth", "_repr_html_"):
        if hasattr(model, name):
            getattr(model, name)()
    for name in ("coef_", "intercept_"):
        getattr(model, name, None)
    if not hasattr(model, "encoder_") and model.n_features_in_ <= 1000:
        X = np.zeros((2, model.n_features_in_), np.int64)
        for name in ("predict", "predict_proba"):
            if hasattr(model, name):
                getattr(model, name)(X)


def fared(path):
    """How a file fares: "shown", "refused", or what is wrong, which ends with "!"."""
    start, outcome = time.process_time(), "shown"
    resource.setrlimit(resource.RLIMIT_CPU, (int(start) + 20, resource.RLIM_INFINITY))
    try:
        shown(path)
    except REFUSED as error:
        outcome = f"{str(error)[:150]}!" if "MemoryError" in str(error) else "refused"
    except BaseException as error:
        outcome = f"{type(error).__name__}: {str(error)[:150]}!"
    spent = time.process_time() - start
    return f"{outcome} after {spent:.1f} s!" if spent > SECONDS else outcome


def outcomes(whole, texts, path):
    """How files fare, in a child process of bounded memory; one that ends it is the last. `whole` is a right file."""
    told, tell = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            warnings.simplefilter("ignore")
            path.write_text(json.dumps(whole))
            fared(path)  # what it imports is there then
            size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (size + BYTES, resource.RLIM_INFINITY))
            for text in texts:
                path.write_text(text)
                os.write(tell, (fared(path).replace("\n", " ") + "\n").encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(tell)
    with os.fdopen(told) as pipe:
        said = pipe.read().split("\n")[:-1]
    os.waitpid(child, 0)
    return said + ["ended its process!"] * (len(said) < len(texts))


def fates(whole, cases, text_of, path):
    """Yield each case with how the file of its text fares."""
    left = [*cases]
    while left:
        found = outcomes(whole, [text_of(case) for case in left[:_BATCH]], path)
        yield from zip(left, found, strict=False)
        left = left[len(found) :]


def _forged_by_seed(whole, seed):
    return forged(whole, np.random.default_rng(seed))


def run(kinds, number, seed, folder):
    """The outcomes of so many files of each kind, and what is wrong, by kind and seed."""
    tally, wrong = {"shown": 0, "refused": 0}, []
    for kind in kinds:
        whole, seeds = document(kind, folder), [(seed, k) for k in range(number)]
        for at, each in fates(whole, seeds, partial(_forged_by_seed, whole), folder / "forged.json"):
            tally[each] = tally.get(each, 0) + 1 if each in tally else 1
            if each.endswith("!"):
                wrong.append(f"{kind}, seed {at}: {each}")
    return tally, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    each, all_wrong = -(-asked.files // len(asked.kinds)), 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in asked.kinds:
            tally, wrong = run([kind], each, asked.seed, Path(folder))
            print(*wrong, sep="\n", end="\n" * bool(wrong))
            print(f"{kind}: {tally['shown']:,} shown, {tally['refused']:,} refused, {len(wrong):,} wrong", flush=True)
            all_wrong += len(wrong)
    sys.exit(bool(all_wrong))


if __name__ == "__main__":
    main()
