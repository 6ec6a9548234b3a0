"""A model's file whose digest is right is refused, or its model works, within the time and memory of any other."""

import json
import os
import resource
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest
from fields import HOSTILE, changed, fields
from hostile import BYTES, SECONDS
from saved import KINDS, document

import dpfast

REFUSED = (ValueError, OSError)


def used(path):
    """Load a model, and let it say and do what models do."""
    model = dpfast.load(path)
    str(model), str(model.privacy_)
    for name in ("to_text", "terms", "rule_worth"):
        if hasattr(model, name):
            getattr(model, name)()
    if not hasattr(model, "encoder_") and model.n_features_in_ <= 1000:
        X = np.zeros((2, model.n_features_in_), np.int64)
        for name in ("predict", "predict_proba"):
            if hasattr(model, name):
                getattr(model, name)(X)


def outcome(path):
    """What is wrong with how a file fares: another error than a refusal, or too much time; "" if nothing is."""
    start, wrong = time.process_time(), ""
    resource.setrlimit(resource.RLIMIT_CPU, (int(start) + 10, resource.RLIM_INFINITY))
    try:
        used(path)
    except REFUSED:
        pass
    except BaseException as error:
        wrong = f"{type(error).__name__}: {str(error)[:100]}"
    spent = time.process_time() - start
    return f"{wrong} after {spent:.1f} s" if spent > SECONDS else wrong


def outcomes(whole, cases, path):
    """The outcome of each case, in a child process whose memory is bounded; fewer than there are if one ends it."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            warnings.simplefilter("ignore")
            path.write_text(json.dumps(whole))
            outcome(path)  # what it imports is there then
            size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (size + BYTES, resource.RLIM_INFINITY))
            for at, value in cases:
                path.write_text(changed(whole, at, value))
                os.write(tell, f"{outcome(path)}\n".encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(tell)
    with os.fdopen(told) as pipe:
        said = pipe.read().split("\n")[:-1]
    os.waitpid(child, 0)
    return said


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="a process does not know its size here")
@pytest.mark.parametrize("kind", KINDS)
def test_any_field_may_be_anything_in_a_file_with_the_right_digest(kind, tmp_path, rng, many):
    whole = document(kind, tmp_path)
    cases = [(at, value) for at in fields(whole) for value in HOSTILE]
    cases = [cases[k] for k in rng.permutation(len(cases))[: many(30, len(cases))]]
    wrong, left = [], cases
    while left:
        said = outcomes(whole, left, tmp_path / "model.json")
        said += ["ends its process"] * (len(said) < len(left))
        wrong += [f"{at} = {str(value)[:40]}: {each}" for (at, value), each in zip(left, said, strict=False) if each]
        left = left[len(said) :]
    assert not wrong, "\n".join(wrong)
