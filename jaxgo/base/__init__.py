"""What everything stands on: checks of arguments, and how elementwise programs are written for a platform."""
