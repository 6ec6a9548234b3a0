"""Plain programs that choose: run once with a generator, or along every path for their exact law."""

import math


class Drawn:
    """Chooses with a numpy generator."""

    def __init__(self, rng):
        self.rng = rng

    def choose(self, law):
        """A key of a dict of probabilities."""
        keys = list(law)
        return keys[self.rng.choice(len(keys), p=[law[key] for key in keys])]


class _Path:
    """Chooses as told as far as told, then the first; notes the alternatives."""

    def __init__(self, told):
        self.told, self.taken, self.probability, self.left = told, [], 1.0, []

    def choose(self, law):
        keys = [key for key, p in law.items() if p > 0]
        i = self.told[len(self.taken)] if len(self.taken) < len(self.told) else 0
        if len(self.taken) >= len(self.told):
            self.left += [[*self.taken, other] for other in range(1, len(keys))]
        self.taken.append(i)
        self.probability *= law[keys[i]]
        return keys[i]


def law_of(program):
    """{outcome: probability} of a program of one argument, which chooses."""
    law, waiting = {}, [[]]
    while waiting:
        path = _Path(waiting.pop())
        outcome = program(path)
        law[outcome] = law.get(outcome, 0.0) + path.probability
        waiting += path.left
    assert math.isclose(math.fsum(law.values()), 1, rel_tol=1e-9)
    return law


def hockey_stick(p, q, epsilon):
    return sum(max(0.0, mass - math.exp(epsilon) * q.get(outcome, 0.0)) for outcome, mass in p.items())


def laplace_at_least(gap, epsilon):
    """P(X >= gap) for discrete Laplace noise of scale 1 / epsilon."""
    if gap <= 0:
        return 1 - laplace_at_least(1 - gap, epsilon)
    return math.exp(-epsilon * gap) / (1 + math.exp(-epsilon))


def geometric(epsilon, most):
    """{z: P(Z = z)}, P proportional to exp(-epsilon z) from 0 on; all that is above `most` is at most."""
    law = {z: (1 - math.exp(-epsilon)) * math.exp(-epsilon * z) for z in range(most)}
    return law | {most: math.exp(-epsilon * most)}
