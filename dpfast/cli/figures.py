"""What fit tells of the test part: private figures of merit."""


def figures(estimator, X, y, rng, *, units=None, rows_per_unit=1):
    """Names and texts of noisy figures on the test part; epsilon-DP together, for the estimator's relation.

    Each row went to the test part by a coin of its own, so neighbouring tables differ in one part only: a model from
    the training part and these releases together are (epsilon, delta)-DP, no more. Two classes with probabilities have
    an area under the curve too, and each figure half of epsilon. Of persons, each of whom is in one part, at most
    `rows_per_unit` rows count, each at so much less of epsilon.
    """
    from dpfast import metrics
    from dpfast.accounting.checks import exact
    from dpfast.learners.units import bounded_rows, own_generator, picked

    if units is not None:
        X, y = picked(X, y, bounded_rows(units, rows_per_unit, own_generator(rng)), len(units))
    two = len(estimator.classes_) == 2 and hasattr(estimator, "predict_proba")
    paid = {
        "epsilon": exact("epsilon", estimator.epsilon) / (1 + two) / rows_per_unit,
        "neighbors": estimator.neighbors,
        "random_state": rng,
    }
    told = [("test accuracy", metrics.accuracy(y, estimator.predict(X), **paid))]
    if two:
        positive = y == estimator.classes_[1]
        told.append(("test AUC", metrics.roc(positive, estimator.predict_proba(X)[:, 1], **paid).auc))
    return [(name, str(figure)) for name, figure in told]
