"""How the memory that the process may take is shared out."""

#: The largest search's part of all trees' memory: one in so many.
LARGEST = 16
#: What must stay free, as a multiple of what a new search takes: for a client who has none under way, and for others.
FREE_FOR_FIRST, FREE_FOR_MORE = 2, 4
#: Processes that may share it, each of which must have room for the largest.
MOST_PROCESSES = LARGEST // FREE_FOR_FIRST


class Trees:
    """The memory of all searches' trees.

    A search is given what it can need at most, before it begins, so that the sum is never exceeded; what it is given depends on
    nothing but the search and the limit, or its result would depend on who else is there. A search begins only while several
    times its need is free: large ones soon wait for each other, and always leave room for smaller ones and for other clients.

    Args:
      total: bytes.
      processes: among which they are shared out; this is of one of them.
    """

    def __init__(self, total: int, processes: int = 1):
        self._largest, self.total, self.held = total // LARGEST, total // processes, 0

    def share(self, wanted: int) -> int:
        """Bytes that a search is given when it wants so many."""
        return min(wanted, self._largest)

    def has_room(self, share: int, first: bool) -> bool:
        """Whether a search may begin now: the first of its client, or one more."""
        return share * (FREE_FOR_FIRST if first else FREE_FOR_MORE) <= self.total - self.held

    def take(self, share: int) -> None:
        """Counts a search's share."""
        self.held += share

    def give_back(self, share: int) -> None:
        """Counts a search's share no more."""
        self.held -= share


class Queues:
    """The memory of all that clients have waiting. Callers see to it that one thread asks at a time.

    A client may have as much as he leaves to the others, so that one alone can fill half of it.

    Args:
      total: bytes.
    """

    def __init__(self, total: int):
        self.total, self.held = total, 0

    def take(self, cost: int, mine: int) -> bool:
        """Counts a query's bytes, of a client who has so many waiting already; False where they are too many."""
        fits = mine + cost <= self.total - self.held - cost
        self.held += cost * fits
        return fits

    def give_back(self, cost: int) -> None:
        """Counts them no more."""
        self.held -= cost
