"""Tests of `jaxgo.records`."""
