"""From a bare checkout to a running command: makes ``.venv``, installs, hands over.

Standard library only: nothing is installed yet when this runs. Standard output belongs to the
command that follows (an assistant may be reading a protocol there), so everything said here
goes to standard error. Sentences are in ``assets/messages/bootstrap.*.toml``.
"""
