"""Tests of `jaxgo`."""
