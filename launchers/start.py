# coding: utf-8  # noqa: UP009 - needed by the Python 2 that reads this far
"""Start Jiyi from a checkout: ``python launchers/start.py demo`` (or any ``jiyi`` command).

The first start makes ``.venv`` beside the checkout and installs into it; ``test`` adds the
test tools and runs the tests (see ``launchers/bootstrap``). This file parses on very old
Pythons too, so that they say what is wrong instead of showing a SyntaxError.
"""

import os
import sys

TOO_OLD = """\
Jiyi needs Python 3.11 or newer; this is Python %d.%d. Install a newer one and start with it.
Jiyi 需要 Python 3.11 或更高版本；当前是 Python %d.%d。请安装新版本，再用它启动。
"""

if sys.version_info < (3, 11):  # noqa: UP036 - a person runs this with whatever they have
    sys.stderr.write(TOO_OLD % (sys.version_info[:2] * 2))
    sys.exit(1)

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    try:
        from launchers.bootstrap.main import main

        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
