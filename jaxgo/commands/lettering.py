"""Names in any script on pictures: which of the installed fonts have their letters. Needs matplotlib, the extra `plot`."""

import functools
from collections.abc import Iterable, Iterator

#: Fonts that are looked at first, as they look best beside Latin letters; any other is looked at after them.
_LIKED = (
    "Noto Sans CJK", "Noto Sans", "Source Han Sans", "Hiragino", "PingFang", "Yu Gothic", "Microsoft YaHei", "Meiryo", "Malgun",
    "IPA", "TakaoPGothic", "WenQuanYi", "Heiti", "SimHei", "MS Gothic", "Arial Unicode", "Droid Sans Fallback", "Unifont",
)  # fmt: skip
_REGULAR = 400  # the weight of letters that are neither light nor bold
#: Fonts with a box for every letter there is.
_BOXES = ("Last Resort", "LastResort", "Adobe Blank")


def families_for(text: str) -> list[str] | None:
    """Families of fonts that have all letters of a text between them, for matplotlib's `fontfamily`; None if none have."""
    from matplotlib import font_manager

    default = font_manager.findfont(font_manager.FontProperties())
    families, missing = ["sans-serif"], _letters(text) - _held(default)
    for family, path in _fonts() if missing else ():
        if missing & _held(path):
            families.append(family)
            missing -= _held(path)
        if not missing:
            break
    return None if missing else families


def _letters(text: str) -> set[int]:
    """Code points that need a glyph."""
    return {ord(letter) for letter in text if letter.isprintable() and not letter.isspace()}


def _fonts() -> Iterator[tuple[str, str]]:
    """(family, file) of the installed fonts, upright ones, the liked ones first."""
    from matplotlib import font_manager

    installed = [entry for entry in font_manager.fontManager.ttflist if entry.style == "normal"]
    fonts: Iterable = [entry for entry in installed if not entry.name.startswith(_BOXES)]
    places = {name: place for place, name in enumerate(_LIKED)}

    def place(entry) -> tuple[int, int, str]:
        liked = [at for name, at in places.items() if entry.name.startswith(name)]
        weight = entry.weight if isinstance(entry.weight, int) else _REGULAR
        return min(liked, default=len(_LIKED)), abs(weight - _REGULAR), entry.name

    for entry in sorted(fonts, key=place):
        yield entry.name, entry.fname


@functools.cache
def _held(path: str) -> frozenset[int]:
    """The code points that a font has glyphs for."""
    from matplotlib import ft2font

    try:
        return frozenset(ft2font.FT2Font(path).get_charmap())
    except (OSError, RuntimeError):  # a font that matplotlib lists and cannot read
        return frozenset()
