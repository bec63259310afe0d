"""Tests of `jaxgo.playing`."""
