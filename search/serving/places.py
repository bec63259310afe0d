"""How much is accepted at a time: so many requests and bytes, and no more."""

import contextlib
from collections.abc import Iterator

from search.serving.limits import busy


class Places:
    """Places for requests, from before their bodies are read until they are answered. For one thread, the event loop's.

    Args:
      most: requests at a time.
      memory: bytes that they and their answers may take together.
    """

    def __init__(self, most: int, memory: int):
        self.most, self.memory, self.taken, self.held = most, memory, 0, 0
        """`taken` are the places that are taken, `held` the bytes."""

    @contextlib.contextmanager
    def place(self, size: int) -> Iterator["Place"]:
        """A place for a request with a body of so many bytes, at most, as long as this lasts.

        Raises:
          Refusal: busy.
        """
        if self.taken >= self.most:
            raise busy(f"{self.most:,} requests are waiting for their answers, which is the most")
        place = Place(self)
        self.taken += 1
        try:
            place.take(size)
            yield place
        finally:
            self.taken -= 1
            self.held -= place.size


class Place:
    """A request's place, and the bytes that it takes."""

    def __init__(self, places: Places):
        self._places, self.size = places, 0

    def take(self, size: int) -> None:
        """Counts so many bytes more.

        Raises:
          Refusal: busy.
        """
        places = self._places
        if places.held + size > places.memory:
            raise busy(f"requests and their answers take {places.held:,} of {places.memory:,} bytes, and this one needs {size:,}")
        places.held += size
        self.size += size
