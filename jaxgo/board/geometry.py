"""How an N x N board lies in words.

A bitboard is `W` words of 32 bits, or of 64. A row needs `N + 1` bits, its points and one spare bit that stays 0, so that a shift
by one (east, west) never wraps and the carry of an addition stops at the row's end. `32 // (N + 1)` rows fit into a word.

Rows are dealt out to the words in turn: row `y` lies in word `y % W`, at slot `y // W`. The southern neighbour of a row is
therefore simply the next word; only the step from the last word to the first needs a shift. 9x9 takes 3 words of 3 rows, 13x13
takes 7 words of 2 rows, 19x19 takes 19 words of 1 row, or 7 words of 64 bits with 3 rows.

Whatever the library takes and gives has 32-bit words. Playouts on large boards are played in 64-bit ones (`playing_geometry`)
where the platform has them: they leave fewer bits unused and keep a board in fewer registers; boards change at the door.

Everything here is plain numpy and integers: nothing touches a device.
"""

import dataclasses
import functools

import numpy as np

from jaxgo.base import forms

#: Sizes on whose boards playouts are played in 64-bit words where the platform has them, measured.
PLAYED_IN_64_BITS = range(16, 26)


@dataclasses.dataclass(frozen=True)
class Geometry:
    """The layout of a board of one size; see the module's text. Get one from `geometry(size)`."""

    size: int
    """N, the number of rows and of columns."""
    stride: int
    """Bits a row takes: N + 1."""
    word_bits: int
    """Bits of a word, 32 or 64."""
    num_words: int
    """W, the number of words of a bitboard."""
    num_slots: int
    """Rows that a word holds (the last slot may be empty in some words)."""
    board: tuple[int, ...]
    """[W] words with a 1 for every point of the board."""
    edge: tuple[int, ...]
    """[W] words with a 1 for every point on an edge or corner."""
    west: tuple[int, ...]
    """[W] words with a 1 for every point of the first column."""

    @property
    def num_points(self) -> int:
        """P = N * N."""
        return self.size * self.size

    @property
    def word_of_row(self) -> np.ndarray:
        """int32 [N]: the word that row y lies in."""
        return np.arange(self.size, dtype=np.int32) % self.num_words

    @property
    def shift_of_row(self) -> np.ndarray:
        """int32 [N]: the bit of row y's first point."""
        return np.arange(self.size, dtype=np.int32) // self.num_words * self.stride

    @property
    def word_of_point(self) -> np.ndarray:
        """int32 [P]: the word that point p = y * N + x lies in."""
        return np.repeat(self.word_of_row, self.size)

    @property
    def bit_of_point(self) -> np.ndarray:
        """int32 [P]: the bit of point p = y * N + x in its word."""
        return (self.shift_of_row[:, None] + np.arange(self.size, dtype=np.int32)).reshape(-1)

    @property
    def index_of_point(self) -> np.ndarray:
        """int32 [P + 1]: the bit index, `word_bits` * word + bit, of point p; of the pass, `pass_index`."""
        return np.append(self.word_of_point * self.word_bits + self.bit_of_point, self.pass_index).astype(np.int32)

    @property
    def pass_index(self) -> int:
        """What stands for the pass where moves are bit indices: the first index past the words."""
        return self.num_words * self.word_bits

    @property
    def dtype(self) -> np.dtype[np.integer]:
        """The words' type, uint32 or int64; bit 63 stays 0."""
        return np.dtype(np.uint32 if self.word_bits == 32 else np.int64)

    def word(self, value: int) -> np.integer:
        """A constant of the words' type."""
        return self.dtype.type(value)


def playing_geometry(size: int) -> Geometry:
    """The layout in which playouts are played: that of `geometry(size)`, or of 64-bit words where these are faster.

    The platform's form (`jaxgo.base.forms`) says whether it has such words.
    """
    return geometry(size, 64 if size in PLAYED_IN_64_BITS and forms.current().wide_words else 32)


@functools.cache
def geometry(size: int, word_bits: int = 32) -> Geometry:
    """The layout of a `size` x `size` board; `size` is taken as valid (see `jaxgo.base.checks`)."""
    stride = size + 1
    num_words = -(-size // (word_bits // stride))
    board, edge, west = ([0] * num_words for _ in range(3))
    ends = (0, size - 1)
    for y in range(size):
        word, shift = y % num_words, y // num_words * stride
        for x in range(size):
            bit = 1 << (shift + x)
            board[word] |= bit
            edge[word] |= bit if y in ends or x in ends else 0
            west[word] |= bit if x == 0 else 0
    return Geometry(size, stride, word_bits, num_words, -(-size // num_words), tuple(board), tuple(edge), tuple(west))
