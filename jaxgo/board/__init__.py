"""What a position is: its layout in words, sets of points, the rules, batches of positions."""
