"""What people have: game records."""
