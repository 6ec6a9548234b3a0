"""
A table of numbers and categories
=================================

What is declared of a table - ranges, values, what may be missing - turns each row into codes, by itself. A halfspace on
codes is an additive model: one curve for each column.
"""

import dpfast
from dpfast import metrics, plot

adult = dpfast.load_dataset("adult")
train, test = adult.data.slice(0, 40_000), adult.data.slice(40_000)
y, y_test = adult.target[:40_000], adult.target[40_000:]

model = dpfast.HalfspaceClassifier(epsilon=1.0, schema=adult.schema, random_state=0).fit(train, y)
print(model.privacy_)

# %%
# What each column adds to the score, those that matter most first.
plot.terms(model, most=9)

# %%
# How well it ranks people it never saw, as a release that is private too.
positive = y_test == model.classes_[1]
curve = metrics.roc(positive, model.predict_proba(test)[:, 1], epsilon=1.0, random_state=1)
print(curve.auc)
plot.roc(curve)
