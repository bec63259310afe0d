"""Whose turn it is: those who share something have it one after the other, however much each of them asks for."""

import weakref
from collections.abc import Iterable


class Turns:
    """Keeps who has had his turn when. Newcomers come first, then whoever has waited the longest."""

    def __init__(self):
        self._last: weakref.WeakKeyDictionary[object, int] = weakref.WeakKeyDictionary()
        self._count = 0

    def order(self, clients: Iterable) -> list:
        """The clients, the one whose turn it is first; newcomers stay in the order that they are given in."""
        return sorted(dict.fromkeys(clients), key=lambda client: self._last.get(client, 0))

    def took(self, client) -> None:
        """Notes that a client has had his turn."""
        self._count += 1
        self._last[client] = self._count
