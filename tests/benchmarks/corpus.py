"""A generated corpus of mixed Chinese and English memories, equal for equal seeds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

_FAMILY = "林陈黄吴徐孙胡朱高何郭马罗梁宋郑谢韩唐冯"
_GIVEN = "晓文志雅建思国婷海宁嘉欣立书清雨子涵明月"
_NAMES = [
    "Ada",
    "Boris",
    "Chloe",
    "Derek",
    "Esther",
    "Felix",
    "Gina",
    "Hugo",
    "Irene",
    "Jonas",
    "Karin",
    "Leon",
    "Nadia",
    "Oscar",
]
_PLACES_ZH = [
    "苏州",
    "青岛",
    "厦门",
    "昆明",
    "西安",
    "哈尔滨",
    "三峡",
    "九寨沟",
    "桂林",
    "拉萨",
    "珠海",
    "洛阳",
]
_PLACES_EN = [
    "Helsinki",
    "Granada",
    "Quebec",
    "Sapporo",
    "Utrecht",
    "Dresden",
    "Cardiff",
    "Pisa",
    "Malmo",
    "Vigo",
]
_THINGS_ZH = [
    "登山鞋",
    "电子琴",
    "显微镜",
    "帐篷",
    "咖啡机",
    "路由器",
    "键盘",
    "毛衣",
    "相机",
    "自行车",
    "茶壶",
    "台灯",
]
_THINGS_EN = [
    "kettle",
    "violin",
    "backpack",
    "router",
    "keyboard",
    "lamp",
    "bicycle",
    "camera",
    "notebook",
    "tent",
]
_PROJECTS = [
    "迁移",
    "网关",
    "报表",
    "推荐",
    "监控",
    "billing",
    "search",
    "importer",
    "scheduler",
    "gateway",
]
_TEMPLATES_ZH = (
    "{a}上周去了{p}，在那里给{b}买了一个{t}，回来以后说{j}项目的代号改成{c}，下次开会要再确认一遍。",
    "用户{a}对花生过敏，平时喜欢用{t}，最近和{b}一起在{p}讨论{j}的进度，代号{c}，计划下个月完成第一阶段。",
    "{a}和{b}是同事，两个人约好在{p}见面；{a}负责{j}（代号{c}），周末常常带着{t}出门。",
)
_TEMPLATES_EN = (
    "{a} went to {p} last week and bought a {t} for {b}; the {j} project is now called {c}, so "
    "confirm the name again at the next meeting before anything is printed.",
    "The user {a} is allergic to peanuts and likes the {t}; with {b} in {p} they reviewed {j}, "
    "code name {c}, and plan to finish the first stage next month.",
    "{a} and {b} work together and agreed to meet in {p}. {a} owns {j} (code name {c}) and often "
    "takes the {t} along on weekends.",
)


@dataclass(frozen=True, slots=True)
class Item:
    """A memory with the words that find it again."""

    text: str
    code: str
    question: str
    workspace: str


def items(count: int, seed: int = 1) -> Iterator[Item]:
    """``count`` memories, half Chinese, half English, each with a code name of its own."""
    choose = random.Random(seed)
    for number in range(count):
        yield _item(number, choose)


def _item(number: int, choose: random.Random) -> Item:
    chinese = number % 2 == 0
    code = f"{choose.choice('bdfgklmnprst')}{choose.choice('aeiou')}{number:x}"
    people = [_person(chinese, choose) for _ in range(2)]
    place = choose.choice(_PLACES_ZH if chinese else _PLACES_EN)
    thing = choose.choice(_THINGS_ZH if chinese else _THINGS_EN)
    template = choose.choice(_TEMPLATES_ZH if chinese else _TEMPLATES_EN)
    text = template.format(
        a=people[0], b=people[1], p=place, t=thing, j=choose.choice(_PROJECTS), c=code
    )
    question = (
        f"{people[0]}和{people[1]}在{place}的{thing}"
        if chinese
        else f"{people[0]} and {people[1]} {thing} in {place}"
    )
    return Item(text, code, question, f"project-{number % 20}")


def _person(chinese: bool, choose: random.Random) -> str:
    if chinese:
        return choose.choice(_FAMILY) + choose.choice(_GIVEN) + choose.choice(_GIVEN)
    return f"{choose.choice(_NAMES)} {choose.choice(_NAMES)}son"
