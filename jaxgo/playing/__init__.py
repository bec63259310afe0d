"""What a playout is, on any device: random numbers, one step of it, how it begins and what it leaves."""
