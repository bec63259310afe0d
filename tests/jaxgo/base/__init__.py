"""Tests of `jaxgo.base`."""
