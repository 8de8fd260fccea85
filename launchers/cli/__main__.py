"""``python -m launchers.cli``: the same as ``jiyi``."""

from launchers.cli.main import run

if __name__ == "__main__":
    run()
