"""
Learning from a stream
======================

Winnow learns as rows come. Its hypotheses, and when they come, are private; the prediction for a row depends on that
row and is for its owner.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfast

rng = np.random.default_rng(0)
n, d = 40_000, 500
X = rng.integers(0, 2, (n, d)).astype(bool)
y = np.where(X[:, 3] & X[:, 8], "yes", "no")

stream = dpfast.DPWinnowClassifier(epsilon=1.0, n_updates=10, random_state=0)
wrong, updates = [], []
for start in range(0, n, 1000):
    rows = slice(start, start + 1000)
    predicted = stream.stream(X[rows], y[rows], classes=["no", "yes"])
    wrong.append(np.mean(predicted != y[rows]))  # the owner of the labels knows which are mistakes
    updates.append(stream.updates_)
    if stream.updates_ == stream.n_updates_:
        break
print(stream.privacy_)

# %%
# Mistakes in each thousand rows, and the releases so far.
figure, axes = plt.subplots(figsize=(6, 3.5))
axes.plot(np.arange(len(wrong)) * 1000, wrong, drawstyle="steps-post", label="share of mistakes (owner's eyes only)")
axes.plot(np.arange(len(wrong)) * 1000, np.array(updates) / stream.n_updates_, label="share of releases made")
axes.set(xlabel="rows of the stream", ylim=(0, 1.05))
axes.legend()
figure.tight_layout()
