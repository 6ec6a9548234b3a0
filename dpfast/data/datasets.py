"""Bundled data sets."""

from importlib import resources

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

_LABELS = {"mushroom": {-1: "edible", 1: "poisonous"}}


def load_dataset(name):
    """A bundled data set.

    Parameters
    ----------
    name : {"mushroom"}
        UCI Mushroom, 8124 rows and 126 one-hot columns, labels "edible" and "poisonous".

    Returns
    -------
    sklearn.utils.Bunch
        data : CSR array of uint8, shape (n, d), of 0 and 1; target : ndarray of str, shape (n,);
        feature_names : list of str, length d; DESCR : str, with source and licence.

    Raises
    ------
    ValueError
        If there is no such data set.
    """
    if name not in _LABELS:
        raise ValueError(f"name must be one of {', '.join(sorted(_LABELS))}, got {name!r}")
    folder = resources.files("dpfast.data") / "tables"
    with resources.as_file(folder / f"{name}.npz") as path:
        data = sp.csr_array(sp.load_npz(path))
        with np.load(path) as stored:
            labels = _LABELS[name]
            target = np.array([labels[y] for y in stored["y"].tolist()])
            feature_names = stored["feature_names"].tobytes().decode().split("\n")
    return Bunch(
        data=data,
        target=target,
        feature_names=feature_names,
        DESCR=(folder / "README.md").read_text(encoding="utf-8"),
    )
