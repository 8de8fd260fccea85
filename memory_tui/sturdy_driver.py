"""Reading a terminal that sends what it should not."""

from __future__ import annotations

import sys

from textual import constants
from textual.driver import Driver


def driver_class() -> type[Driver] | None:
    """How the terminal is read and written; ``None`` for Textual's own choice: on Windows, and
    where a program that shows the browser elsewhere chose."""
    if sys.platform == "win32" or constants.DRIVER:
        return None
    from textual.drivers.linux_driver import LinuxDriver

    class SturdyDriver(LinuxDriver):
        """Bytes that are no text, such as a mouse report in the old style from beyond column 95,
        end Textual's reading and with it the program; here reading goes on after them."""

        def run_input_thread(self) -> None:
            """Read until the end."""
            while not self.exit_event.is_set():
                try:
                    super().run_input_thread()
                except UnicodeDecodeError:
                    continue

    return SturdyDriver
