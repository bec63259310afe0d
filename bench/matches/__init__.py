"""Matches: who plays, from which openings, one game, many games on many cores, and what their results say."""
