"""Tests of `jaxgo.backends`."""
