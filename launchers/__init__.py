"""How things get started: the bootstrap, the double-click files and the ``jiyi`` command."""
