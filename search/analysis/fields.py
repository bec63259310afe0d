"""Reads the fields of a JSON object, each once: says what is wrong with one, and which nobody has asked for."""

#: In place of a default: the field must be there.
REQUIRED = object()


class QueryError(Exception):
    """A query that cannot be answered: the text for the client, the field that is to blame, and the query's id if it is known."""

    def __init__(self, text: str, field: str | None = None, name: str | None = None):
        super().__init__(text)
        self.field, self.name = field, name


class QueueFull(QueryError):
    """A query that can be answered, but not now."""


def short(text: str, most: int = 500) -> str:
    """A text, cut where it is too long to be repeated to a client."""
    return text if len(text) <= most else text[: most - 3] + "..."


def is_integer(value) -> bool:
    """Whether a JSON value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


class Fields:
    """An object's fields.

    Args:
      values: the object.
      inside: the field of the query that the object is the value of, for errors.
    """

    def __init__(self, values: dict, inside: str | None = None):
        self._values, self._inside, self.left = values, inside, dict.fromkeys(values)
        """`left` are the fields that have not been read, in order."""
        self._read: set[str] = set()

    def skip(self, *names: str) -> None:
        """Counts fields as read."""
        for name in names:
            self.left.pop(name, None)

    def forget_rest(self) -> None:
        """Drops the values that nobody has asked for, which may be large, from the object; their names stay."""
        self._values.update(dict.fromkeys(self._values.keys() - self._read))

    def value(self, name: str, default=REQUIRED):
        """A field as it is; null is as good as none."""
        self.skip(name)
        self._read.add(name)
        value = self._values.get(name)
        if value is not None:
            return value
        if default is REQUIRED:
            raise self._error(name, f"Must specify {name}")
        return default

    def array(self, name: str, default=REQUIRED):
        return self._of_kind(name, default, lambda value: isinstance(value, list), "an array")

    def mapping(self, name: str, default=REQUIRED):
        return self._of_kind(name, default, lambda value: isinstance(value, dict), "a json object")

    def boolean(self, name: str) -> bool:
        return self._of_kind(name, False, lambda value: isinstance(value, bool), "a boolean")

    def integer(self, name: str, default, least: int, most: int):
        what = f"an integer from {least} to {most}"
        return self._of_kind(name, default, lambda value: is_integer(value) and least <= value <= most, what)

    def number(self, name: str, default, least: float, most: float):
        def good(value) -> bool:
            return (is_integer(value) or isinstance(value, float)) and least <= value <= most  # not a number is in no range

        value = self._of_kind(name, default, good, f"a number from {least:g} to {most:g}")
        return value if value is None else float(value)

    def one_of(self, name: str, default, allowed: tuple[str, ...], *, any_case: bool = False):
        def meant(value):
            return value.upper() if any_case and isinstance(value, str) else value

        what = "one of " + ", ".join(f'"{text}"' for text in allowed)
        return meant(self._of_kind(name, default, lambda value: isinstance(value, str) and meant(value) in allowed, what))

    def _of_kind(self, name: str, default, good, what: str):
        value = self.value(name, default)
        if value is default or good(value):
            return value
        raise self._error(name, f"Must be {what}, not {short(repr(value), 60)}")

    def _error(self, name: str, text: str) -> QueryError:
        return QueryError(f"{name}: {text}" if self._inside else text, self._inside or name)
