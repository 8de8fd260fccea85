"""The entry point of ``jiyi``. Imports little: assistants wait for ``jiyi mcp``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from launchers.cli.server_start import plain_start, serve


def run() -> None:
    """Run the command line of this process and exit with its code."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    server = plain_start(arguments)
    if server is None:
        from launchers.cli.dispatch import dispatch

        return dispatch(arguments)
    try:
        return serve(server, os.environ)
    except KeyboardInterrupt:
        return 130
    # Reported like the failure of any other command, whose machinery is loaded only then.
    except Exception as error:
        from launchers.cli.dispatch import report

        return report(error, arguments)
