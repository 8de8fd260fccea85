"""One memory's layers, derived and written: what every use case that changes memories shares."""
