"""One module for each thing a user can ask. No use case imports another."""
