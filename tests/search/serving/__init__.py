"""Tests of `search.serving`."""
