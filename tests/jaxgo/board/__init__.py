"""Tests of `jaxgo.board`."""
