"""Tests of `jaxgo.running`."""
