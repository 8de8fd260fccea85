@echo off
setlocal
cd /d "%~dp0.."
set PYTHONUTF8=1
where py >nul 2>nul
if errorlevel 1 (python launchers\start.py tui) else (py -3 launchers\start.py tui)
if errorlevel 1 pause
