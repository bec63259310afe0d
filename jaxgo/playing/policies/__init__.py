"""Playout policies: what playouts play instead of uniform moves.

A policy is a pure function from a lane's state to sets of points that it prefers, with the chance that it is asked. A move is
drawn (`jaxgo.playing.asking`) uniformly among the first of these sets that has a legal point which fills no own eye, and among
all such points where none has; only a policy against self-ataris may pass instead. So no policy can make a playout break a rule,
and one that is never asked changes nothing.
"""
