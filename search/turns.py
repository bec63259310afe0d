"""Whose turn it is: those who share something have as much of it as each other, however much each of them asks for."""

import weakref
from collections.abc import Iterable


class Turns:
    """Keeps who has had how much, and when.

    Newcomers come first, then whoever has had least since he came, then whoever has waited the longest. Nobody saves up what he
    does not use: who has been away comes before those who have had more meanwhile, but no more than once.
    """

    def __init__(self) -> None:
        self._had: weakref.WeakKeyDictionary[object, tuple[float, int]] = weakref.WeakKeyDictionary()
        """How much, and the number of the last turn."""
        self._least, self._count = 0.0, 0
        """What the one who had the last turn had had before it: none of those who want one has had less."""

    def order(self, clients: Iterable) -> list:
        """The clients, the one whose turn it is first; newcomers stay in the order that they are given in."""
        return sorted(dict.fromkeys(clients), key=self._key)

    def _key(self, client) -> tuple[float, int]:
        had, last = self._had.get(client, (0.0, 0))
        return max(had, self._least), last

    def took(self, client, cost: float = 1.0) -> None:
        """Notes that a client has had his turn, and how much of what is shared."""
        self._least, _ = self._key(client)
        self._count += 1
        self._had[client] = self._least + cost, self._count
