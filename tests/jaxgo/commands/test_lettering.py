"""Names in any script on pictures: a font that has the letters, or no name at all, and never boxes or warnings."""

import pathlib

import pytest
from matplotlib import font_manager

from jaxgo import cli
from jaxgo.commands import lettering

DEJAVU = font_manager.findfont("DejaVu Sans")


@pytest.fixture
def fonts(monkeypatch: pytest.MonkeyPatch):
    """Makes a machine on which these fonts are installed, by name, each with some letters."""

    def install(held: dict[str, str]) -> None:
        own = [entry for entry in font_manager.fontManager.ttflist if entry.fname == DEJAVU]  # matplotlib's, always there
        entries = own + [font_manager.FontEntry(fname=name, name=name, style="normal", weight=400) for name in held]
        monkeypatch.setattr(font_manager.fontManager, "ttflist", entries)
        latin = lettering._held.__wrapped__(DEJAVU)
        letters = {name: frozenset(map(ord, text)) for name, text in held.items()}
        monkeypatch.setattr(lettering, "_held", lambda path: letters.get(path, latin))

    return install


def test_fonts_that_have_the_letters(fonts) -> None:
    fonts({"Some Kanji": "呉清源木谷", "Noto Sans CJK JP": "呉清源", "Last Resort High-Efficiency": "呉清源木谷実"})
    assert lettering.families_for("Müller") == ["sans-serif"]
    assert lettering.families_for("呉清源 (Black)") == ["sans-serif", "Noto Sans CJK JP"]
    assert lettering.families_for("呉 - 木谷") == ["sans-serif", "Noto Sans CJK JP", "Some Kanji"]
    assert lettering.families_for("木谷実") is None  # a font of boxes is none


def test_a_name_that_cannot_be_written_is_left_out_and_told(capsys, fonts, tmp_path: pathlib.Path) -> None:
    """Warnings, as of missing letters, are errors here."""
    fonts({})
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[5]PB[呉清源]PW[M$ller];B[cc];W[bb])", "utf-8")
    assert cli.main(["evaluate", str(path), "--playouts", "50", "--plot", str(tmp_path / "out.svg")]) == 0
    assert "no installed font has all letters of '呉清源': the picture says Black\n" in capsys.readouterr().err
    assert (tmp_path / "out.svg").stat().st_size > 10_000
