"""DP-GreedyCover and EMCover of [BF] as their listings print them, for `reference.chance`."""

import math


def exponential_mechanism(scores, epsilon):
    """M_E by exp(epsilon q), as in the proofs; section 2 prints exp(-epsilon q / 2), which maximises nothing."""
    top = max(scores.values())
    weights = {h: math.exp(epsilon * (q - top)) for h, q in scores.items()}
    total = math.fsum(weights.values())
    return {h: weight / total for h, weight in weights.items()}


def greedy_cover(chance, S, features, exponent):
    """DP-GreedyCover on examples (x, label), features f(x); the constant true among them, as None."""
    left, rules = [None, *features], []
    while left:
        q = {(f, b): -sum(1 for x, label in S if (f is None or f(x)) and label != b) for f in left for b in (0, 1)}
        f, b = chance.choose(exponential_mechanism(q, exponent))
        rules.append((f, b))
        S = [(x, label) for x, label in S if not (f is None or f(x))]
        left = [g for g in left if g is not f]
    return tuple(rules)


def em_cover(chance, S, H, covers, score, rounds, exponent):
    """EMCover: `score(drawn)` is the function q_t(S, h) of the next round; drawn candidates are not drawn again."""
    drawn = ()
    for _ in range(rounds):
        q = score(drawn)
        h = chance.choose(exponential_mechanism({h: q(S, h) for h in H if h not in drawn}, exponent))
        drawn = (*drawn, h)
        S = [z for z in S if not covers(h, z)]
    return drawn
