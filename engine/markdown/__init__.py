"""Documents cut into pieces that can be remembered."""
