"""Whom the playouts of a strong bot ask for their moves, where nobody says, on boards of each size."""

import functools

from jaxgo.playing.policies.in_order import InOrder
from jaxgo.playing.policies.named import policies_of
from jaxgo.playing.policies.policy import Policy
from search.bots import SUITED_POLICIES


@functools.cache
def _of(text: str) -> Policy:
    policies = policies_of(text)
    return policies[0] if len(policies) == 1 else InOrder(policies)


class Suited(Policy):
    """The policy of `search.bots.SUITED_POLICIES` for the board that a bot begins to play on."""

    ARRAYS = ()

    def begun(self, size: int) -> Policy:
        """That policy, always the same, so that bots' playouts can go together."""
        return _of(next(text for text, largest in SUITED_POLICIES if size <= largest))

    def __repr__(self) -> str:
        return self._named()
