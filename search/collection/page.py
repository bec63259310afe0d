"""A collection as one page of HTML: everything is in it, so that it opens without a network, in light and in dark."""

import html
from collections.abc import Iterable

from jaxgo.base.source import version
from jaxgo.board.coordinates import point
from search.collection import pictures
from search.collection.digest import Digest, Opening, Swing, curves, row_of

#: Boards of openings on the page, at most.
MOST_OPENINGS = 12

STYLE = """
:root { color-scheme: light dark; --ground: #fbfaf7; --card: #ffffff; --ink: #22211e; --faint: #77736a; --rule: #dedad0;
  --wood: #e9c687; --grid: #8a6a36; --line: #2f6db0; --shade: #f0c9a8; --bad: #b3401f; }
@media (prefers-color-scheme: dark) { :root { --ground: #191917; --card: #232320; --ink: #eceae3; --faint: #a09b8f;
  --rule: #3b3a35; --wood: #b08d52; --grid: #5d4620; --line: #7fb2ec; --shade: #6d4426; --bad: #f0906c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 2rem 1.25rem 4rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; overflow-wrap: anywhere; } h2 { font-size: 1.25rem; margin: 2.6rem 0 .8rem; }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; } p { margin: .3rem 0; } .faint { color: var(--faint); }
.bad { color: var(--bad); font-weight: 600; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1rem; }
article { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 1rem; }
.swing { display: grid; grid-template-columns: minmax(0, 19rem) minmax(0, 1fr); gap: 1.2rem; margin-bottom: 1rem; }
@media (max-width: 40rem) { .swing { grid-template-columns: 1fr; } }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: right; font-weight: 600; color: var(--faint); } td { text-align: right; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; } svg.small { width: 120px; height: 26px; margin-left: auto; }
.wood { fill: var(--wood); } .grid { stroke: var(--grid); fill: none; } .star { fill: var(--grid); }
.black { fill: #1b1b1b; stroke: #000; } .white { fill: #fafafa; stroke: #555; }
.blacks { fill: #1b1b1b; fill-opacity: .75; stroke: #fafafa; stroke-width: .6; }
.whites { fill: #fafafa; fill-opacity: .85; stroke: #1b1b1b; stroke-width: .6; }
.label { fill: #2f6db0; } text.label { fill: #fff; font: 600 11px sans-serif; text-anchor: middle; }
.mark { fill: none; stroke: #c8321e; stroke-width: 3; }
.name { fill: var(--grid); font: 9px sans-serif; text-anchor: middle; }
.axis { fill: var(--faint); font: 11px sans-serif; text-anchor: end; } .rule { stroke: var(--rule); }
@media (max-width: 40rem) { .axis { font-size: 17px; } .curve { overflow: visible; } }
.line { fill: none; stroke: var(--line); stroke-width: 2; stroke-linejoin: round; } .marked { fill: var(--shade); }
"""


def page(found: Digest) -> str:
    """The page."""
    of_games = curves(found.folder, sorted({*found.first_games, *(swing.game for swing in found.swings)}))
    name = html.escape(found.folder)
    parts = [
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>',
        f"<h1>{name}</h1>", *(f"<p>{line}</p>" for line in map(html.escape, summary(found))),
        "<h2>Biggest swings</h2>", _legend(found),
        *(_swing(number, swing, of_games) for number, swing in enumerate(found.swings, start=1)),
        *_openings(found.openings), *_games(found, of_games), *_rejects(found),
        f'<p class="faint">jaxgo {html.escape(version())}</p></body></html>\n',
    ]  # fmt: skip
    return "".join(parts)


def summary(found: Digest) -> list[str]:
    """What the collection is, in a few lines of plain text."""
    settings = found.settings
    sizes = ", ".join(f"{count:,} on {size}x{size}" for size, count in sorted(found.sizes.items()))
    results = {kind: found.results[kind] for kind in ("black", "white", "draw", "?")}
    won = f"Black won {results['black']:,}, White {results['white']:,}"
    won += f", {results['draw']:,} drawn" * bool(results["draw"]) + f", {results['?']:,} without a result" * bool(results["?"])
    how = f" by {settings['bot']}" if settings["bot"] else ""
    lines = [
        f"{found.games:,} game{'s' * (found.games != 1)}, {found.positions:,} positions ({sizes or 'none'}); {won}.",
        f"{settings['playouts']:,} playouts{how} of each position, seed {settings['seed']}.",
    ]
    if found.num_rejects:
        lines.append(f"{found.num_rejects:,} could not be read, or not to the end.")
    if not found.complete:
        lines.append("NOT COMPLETE: the same `jaxgo collection` command goes on.")
    return lines


def moves_in_words(swing: Swing) -> str:
    """What led from the first position to the second."""
    who = swing.player.capitalize()
    if swing.moves == 1:
        return f"{who} {swing.move}, move {swing.ply}" if swing.move else f"{who}, move {swing.ply}"
    return f"{who}, moves {swing.from_ply + 1} to {swing.ply}"


def _legend(found: Digest) -> str:
    if not found.swings:
        return "<p>There are none: no game has two positions one after the other.</p>"
    return (
        '<p class="faint">The board before the move, which is ringed; 1, 2, 3: the moves that look best there. Squares show who '
        "ends up with a point, large ones for certain. Win rates are Black's, with one standard error.</p>"
    )


def _swing(number: int, swing: Swing, of_games: dict) -> str:
    row = row_of(swing.file, swing.row)
    labels = {move["move"]: str(i) for i, move in enumerate(row["moves"][:3], start=1)}
    title = f"{swing.game} after {swing.from_ply} moves"
    picture = pictures.board(
        row["board"], swing.size, ownership=row["ownership"], labels=labels, title=title,
        marked=swing.move if swing.moves == 1 and _is_point(swing.move, swing.size) else None,
    )  # fmt: skip
    told = enumerate(row["moves"][:3], start=1)
    best = "; ".join(f"{i}. {html.escape(move['move'])} {100 * move['win_rate']:.1f} %" for i, move in told)
    variation = f", variation {swing.variation}" if swing.variation else ""
    drawn = ""
    if swing.game in of_games and not swing.variation:
        name = f"{swing.game}: Black's win rate"
        drawn = pictures.curve(*of_games[swing.game], marked=(swing.from_ply, swing.ply), title=name)
    players = f"{row['black'] or '?'} (Black) - {row['white'] or '?'} (White)" if row["black"] or row["white"] else ""
    return (
        f'<article class="swing"><div>{picture}</div><div><h3>{number}. {html.escape(moves_in_words(swing))}</h3>'
        f'<p class="faint">{html.escape(swing.game)}{variation}; {html.escape(players)} {html.escape(row["result"] or "")}</p>'
        f'<p>Black wins {100 * swing.before:.1f} % before and {100 * swing.after:.1f} % after: '
        f'<span class="bad">{swing.player.capitalize()} loses {100 * swing.loss:.1f}</span> ± {100 * swing.error:.1f}</p>'
        f"<p>{best}</p>{drawn}</div></article>"
    )  # fmt: skip


def _is_point(name: str | None, size: int) -> bool:
    """Whether a move, which a table may name as it likes, is one that can be shown."""
    try:
        return name is not None and point(name, size) >= 0
    except ValueError:
        return False


def _openings(openings: list[Opening]) -> Iterable[str]:
    if not openings:
        return
    yield f"<h2>Openings after {openings[0].ply} moves</h2>"
    yield '<p class="faint">Turned and mirrored ones count as one.</p><div class="cards">'
    for opening in openings[:MOST_OPENINGS]:
        score = f"Black won {100 * opening.score:.0f} %; " if opening.score is not None else ""
        picture = pictures.board(opening.board, opening.size, plain=True, title=f"{opening.games} games")
        yield (f"<article>{picture}<p><strong>{opening.games:,} game{'s' * (opening.games > 1)}</strong></p>"
               f"<p>{score}win rate there {100 * opening.win_rate:.1f} %</p></article>")  # fmt: skip
    yield "</div>"


def _games(found: Digest, of_games: dict) -> Iterable[str]:
    names = [name for name in found.first_games if name in of_games]
    if not names:
        return
    of = f"the first {len(names):,} of " if found.games > len(names) else ""
    yield f"<h2>Games</h2><p class='faint'>Black's win rate in {of}{found.games:,} games; the line in the middle is 50 %.</p>"
    yield '<div class="scroll"><table><tr><th>game</th><th>course</th><th>positions</th><th>first</th><th>last</th></tr>'
    for name in names:
        plies, rates = of_games[name]
        drawn = pictures.curve(plies, rates, small=True, title=name)
        yield (f"<tr><td>{html.escape(name)}</td><td>{drawn}</td><td>{len(plies)}</td><td>{100 * rates[0]:.1f} %</td>"
               f"<td>{100 * rates[-1]:.1f} %</td></tr>")  # fmt: skip
    yield "</table></div>"


def _rejects(found: Digest) -> Iterable[str]:
    if not found.num_rejects:
        return
    yield f"<h2>Not read, or not to the end: {found.num_rejects:,}</h2>"
    yield "<div class='scroll'><table><tr><th>game</th><th>why</th></tr>"
    for reject in found.rejects:
        yield f"<tr><td>{html.escape(reject.game)}</td><td>{html.escape(reject.words)}</td></tr>"
    yield "</table></div>"
