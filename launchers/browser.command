#!/bin/sh
cd "$(dirname "$0")/.." || exit 1
python3 launchers/start.py tui
code=$?
if [ "$code" -ne 0 ]; then
    printf 'Press Enter to close this window. 按回车键关闭窗口。'
    read -r _
fi
exit "$code"
