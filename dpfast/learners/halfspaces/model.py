"""What a fit of `HalfspaceClassifier` has released so far, and the model that this makes."""

import math

import numpy as np

from dpfast.learners.halfspaces.images import CodeImage
from dpfast.learners.halfspaces.link import starts
from dpfast.learners.halfspaces.pairs import Pairs
from dpfast.learners.halfspaces.shrunken import JoinedDescent, ShrunkenDescent


class Model:
    """What was released so far: nothing, the opening, rounds, pairs."""

    def __init__(self, image, classes, width):
        self.image, self._columns = image, 1 if classes == 2 else classes
        self._width, self.constants, self.descent = width, np.zeros(self._columns), None
        self.interactions = ()

    def begin(self, deviation, p):
        """Go on from the opening, which the image has taken up."""
        image, classes = self.image, len(self.image.opening.sizes)
        self.descent = ShrunkenDescent(image.groups, classes, deviation, image.opening.n, p.n_rounds, image.fastest)
        if p.fit_intercept:
            self.constants = starts(image.opening.sizes)

    def pairs(self, deviation, n_rounds, most):
        """The pairs to choose from, for so many rounds to come with this noise."""
        image = self.image
        longer = math.sqrt(image.radius**2 + most)  # entries of pairs are 1
        coef, _, _ = image.linear(self.descent.seen())
        return Pairs(image.opening, coef, deviation * longer / math.sqrt(n_rounds))

    def join(self, interactions, deviation, n_rounds):
        """Go on for so many rounds with these pairs, if there are any."""
        if not interactions:
            return
        before, at = self.image, self.image.pairs_at
        self.image, self.interactions = before.joined(interactions), tuple(interactions)
        image, classes = self.image, len(before.opening.sizes)
        self.descent.rescale(image.radius / before.radius)
        groups = image.groups[at : image.pairs_at]
        joined = ShrunkenDescent(groups, classes, deviation, image.opening.n, n_rounds, image.fastest)
        self.descent = JoinedDescent(self.descent, joined, at)

    def linear(self):
        """Coefficients, intercepts and shifts, shapes (columns, m), (columns,) and (columns,)."""
        if self.descent is None:
            return np.zeros((self._columns, self._width)), np.zeros(self._columns), self.constants
        coef, intercept, shift = self.image.linear(self.descent.model())
        return np.ascontiguousarray(coef.T), intercept + 0.0, self.constants + shift

    def noise(self):
        """Deviations of the noise in coefficients of codes, shape (columns, m); None before a round, and of others."""
        if self.descent is None or not isinstance(self.image, CodeImage):
            return None
        return np.ascontiguousarray(self.image.deviations(self.descent.noise()).T)
