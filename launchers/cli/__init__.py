"""The ``jiyi`` command: parse, call one engine method, show the answer."""
