"""Tests of the Go Text Protocol's engine."""
