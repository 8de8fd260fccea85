"""What the panel answers, one module for each place."""
