"""Goodness of fit for the statistical tests.

All of them use fixed seeds, so that a test passes always or never; `ALPHA` is the chance that a correct engine would have
failed for a new seed.
"""

from collections.abc import Hashable, Mapping

import numpy as np
from scipy import stats

ALPHA = 1e-4
MIN_EXPECTED = 10.0
"""Cells that expect fewer counts are pooled: the chi-square law is an approximation for large counts."""


def p_value(observed: Mapping[Hashable, float], probabilities: Mapping[Hashable, float]) -> float:
    """The chance of a fit as bad as that of the observed counts to the probabilities; 0 if something impossible was seen."""
    if any(count and not probabilities.get(cell) for cell, count in observed.items()):
        return 0.0
    total = sum(observed.values())
    cells = sorted(probabilities, key=probabilities.__getitem__)
    expected = total * np.array([probabilities[cell] for cell in cells])
    counts = np.array([observed.get(cell, 0) for cell in cells], dtype=float)
    num_pooled = int(np.sum(expected < MIN_EXPECTED))
    if num_pooled:
        # The rare cells together may still be too rare: then the next larger one joins them.
        while expected[:num_pooled].sum() < MIN_EXPECTED and num_pooled < len(cells):
            num_pooled += 1
        expected = np.append(expected[num_pooled:], expected[:num_pooled].sum())
        counts = np.append(counts[num_pooled:], counts[:num_pooled].sum())
    if len(expected) == 1:
        return 1.0
    return float(stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue)


def uniform_p_value(counts: np.ndarray) -> float:
    """The chance of a fit as bad as that of the counts to equal probabilities."""
    return float(stats.chisquare(np.asarray(counts).reshape(-1)).pvalue)


def ranks_p_value(ranks: Mapping[int, list[int]], min_freedom: int) -> float:
    """The chance of a fit as bad as that of ranks to uniform ones: how often each was chosen of so many, by their number.

    Numbers of which few choices were made are left out; asserts that there are `min_freedom` degrees of freedom.
    """
    statistic, freedom = 0.0, 0
    for k, counts in ranks.items():
        if k > 1 and sum(counts) >= 5 * k:
            result = stats.chisquare(counts)
            statistic, freedom = statistic + result.statistic, freedom + k - 1
    assert freedom >= min_freedom
    return float(stats.chi2.sf(statistic, freedom))
