"""The annotated default as the declarations say it must be.

`python -m tests.engine.config.default_file` writes it to config.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.config.messages import text
from engine.config.schema import declared
from engine.config.setting import Setting, plain

PATH = Path(__file__).parents[3] / "config.yaml"

HEADER = """\
# Jiyi 的设置：这是完整的默认值。你自己的文件是 <主目录>/config.yaml（默认 ~/.jiyi），
# 第一次启动时由此文件生成；删掉的行使用默认值，未知的名称会被指出。
# Settings of Jiyi, complete, with their defaults. Your own file is <home>/config.yaml
# (~/.jiyi unless JIYI_HOME or --home says otherwise), made from this one on first start;
# a line you delete has its default, an unknown name is reported.
#
# 每项下面写着：可用的值 · 何时生效 · 环境变量（优先于文件）。
# Below each: what is accepted · when a change acts · environment variable (wins over the file).
#   now        下一次调用，所有运行中的程序 / on the next call, in every running program
#   next_write 之后写入的记忆 / for memories written from then on
#   rebuild    重建索引之后 / after the index is rebuilt
#   restart    程序重新启动之后 / when the program starts again
#
# 值可以写成 ${环境变量名}。A value may be ${NAME_OF_A_VARIABLE}.
"""


def expected() -> str:
    """The whole file."""
    return HEADER + "".join(_lines())


def _lines() -> Iterator[str]:
    open_sections: list[str] = []
    for setting in declared().values():
        sections = setting.group.split(".") if setting.group else []
        yield from _opened(open_sections, sections)
        open_sections = sections
        yield from _entry(setting, "  " * len(sections))


def _opened(before: list[str], now: list[str]) -> Iterator[str]:
    for depth, section in enumerate(now):
        if before[: depth + 1] != now[: depth + 1]:
            gap = "\n"
            yield f"{gap}{'  ' * depth}{section}:\n"


def _entry(setting: Setting, indent: str) -> Iterator[str]:
    name = setting.key.rpartition(".")[2]
    if not indent:
        yield "\n"
    yield f"{indent}# {text(f'setting.{setting.key}.help', 'zh')}\n"
    yield f"{indent}# {text(f'setting.{setting.key}.help', 'en')}\n"
    yield f"{indent}# {setting.allowed} · {setting.acts} · {setting.variable}\n"
    yield f"{indent}{name}: {_value(setting)}\n"


def _value(setting: Setting) -> str:
    if setting.kind == "list":
        return f"[{plain(setting.default)}]"
    return plain(setting.default) or '""'


if __name__ == "__main__":
    PATH.write_text(expected(), encoding="utf-8", newline="\n")
