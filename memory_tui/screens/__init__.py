"""One screen for each place of the browser."""
