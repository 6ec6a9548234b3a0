import numpy as np
import peer_worker
import scipy.sparse as sp


def test_arrays_come_back_as_they_were_stored(tmp_path):
    X, y = sp.csr_array([[1, 0], [0, 2]]), np.arange(3, dtype=np.int8)
    peer_worker.store(tmp_path / "input.npz", X=X, y=y)
    back = peer_worker.load(tmp_path / "input.npz")
    np.testing.assert_array_equal(back["X"].toarray(), X.toarray())
    np.testing.assert_array_equal(back["y"], y)
    assert back["y"].dtype == np.int8
