"""What comes out of playouts: outcomes, sums, evaluations, statistics of moves."""
