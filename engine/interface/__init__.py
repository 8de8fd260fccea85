"""The methods of an open engine, by subject; each calls one use case."""
