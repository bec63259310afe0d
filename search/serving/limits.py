"""What a request may ask for, and how one is refused."""

import dataclasses

#: Statuses of HTTP.
MALFORMED, NO_TOKEN, NO_METHOD, TOO_SLOW, TOO_LARGE, NOT_ALLOWED, FAILED, BUSY = 400, 401, 405, 408, 413, 422, 500, 503


class Refusal(Exception):
    """A request that is not answered.

    Args:
      status: of HTTP.
      text: for the client: what was given, and what is allowed.
      field: that is to blame, if it is one.
      name: the query's id, if it is known.
    """

    def __init__(self, status: int, text: str, field: str | None = None, name: str | None = None):
        super().__init__(status, text, field, name)
        self.status, self.text, self.field, self.name = status, text, field, name

    def of(self, name: str) -> "Refusal":
        """The same of the query with an id."""
        return Refusal(self.status, self.text, self.field, name)

    def document(self) -> dict:
        """What the client is told: `error`, and `field` and `id` where they are known."""
        told = {"error": self.text, "field": self.field, "id": self.name}
        return {key: value for key, value in told.items() if value is not None}


def busy(text: str) -> Refusal:
    """Of a request that comes while there is no room for it."""
    return Refusal(BUSY, f"busy: {text}; ask again later")


@dataclasses.dataclass(frozen=True)
class Limits:
    """The most that one request may ask for; `jaxgo serve --help` explains them."""

    body: int = 4 << 20
    """Bytes of a body, and of the arrays that are packed in it."""
    positions: int = 1_024
    """Boards of a batch, or turns of a query."""
    playouts: int = 1_000_000
    """Playouts or visits of a position."""
    work: int = 20_000_000
    """Playouts of all positions together."""
    numbers: int = 4_000_000
    """Numbers of ownership in the answer to a query."""

    def check(self, positions: int, playouts: int, fields: tuple[str, str]) -> None:
        """That a request is none too many.

        Args:
          positions: that it has.
          playouts: of each of them.
          fields: the names of these two, for the client.

        Raises:
          Refusal: it is.
        """
        for field, number, most in ((fields[0], positions, self.positions), (fields[1], playouts, self.playouts)):
            if number > most:
                raise Refusal(NOT_ALLOWED, f"{field} must be at most {most:,} here, not {number:,}", field)
        if positions * playouts > self.work:
            text = f"must be at most {self.work:,} for all positions of a request, not {positions:,} times {playouts:,}"
            raise Refusal(NOT_ALLOWED, f"{fields[1]} {text}", fields[1])
