"""Tests of `jaxgo.results`."""
