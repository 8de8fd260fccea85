"""Run by the environment's Python: puts the better model's weights into the given folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main(folder: Path) -> int:
    """Exit code 0 when the weights are there, else 1 with the reason on standard output."""
    from engine.bootstrap import CACHE_FOLDER
    from engine.config.home import resolve_home
    from engine.domain.errors import JiyiError
    from engine.use_cases.models import install_weights

    try:
        of_user = resolve_home(None, os.environ) / CACHE_FOLDER / "models"
        print(install_weights(folder, of_user).path)
    except JiyiError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
