"""Settings: all of them in groups, saving, undo, and what they were."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.config.live import LiveSettings
from engine.config.schema import checked, declared
from engine.domain.errors import ConfigInvalid, InvalidInput, JiyiError
from engine.domain.times import minute_with_offset
from engine.use_cases.settings import Saved, VersionView
from web_panel.answers import (
    Body,
    action,
    caller,
    data,
    engine_of,
    page,
    sentence,
    text_of,
)
from web_panel.forms import Field, build_form, fields_by_key

_SHOWN_LINES = 60


def settings_page(request: Request) -> Response:
    """The form."""
    live = engine_of(request).settings.live
    return page(
        request,
        "settings.html",
        parts=build_form(live, request.state.words),
        problems=_problems(request, live),
        state=_state(request),
        path=str(live.path),
    )


def settings_state(request: Request) -> Response:
    """The values in force now, for a page that is open while others change them."""
    live = engine_of(request).settings.live
    fields = fields_by_key(live, request.state.words)
    values = {key: _value_of(field) for key, field in fields.items()}
    problems = _problems(request, live)
    return data({**_state(request), "fields": values, "problems": problems})


def check_value(request: Request, body: Body) -> Response:
    """Whether a value could be saved, in words; nothing is changed."""
    key = text_of(body, "key")
    return data({"error": _fault(request, key, _raw(key, body.get("value")))})


def save(request: Request, body: Body) -> Response:
    """Change settings: ``values`` by key, all or none; ``seen`` is the file they rest on."""
    values = body.get("values")
    if not isinstance(values, Mapping) or not values:
        raise InvalidInput("panel.settings.nothing")
    wanted = {str(key): _raw(str(key), value) for key, value in values.items()}
    faults = {key: _fault(request, key, value) for key, value in wanted.items()}
    found = {key: fault for key, fault in faults.items() if fault}
    if found:
        words = request.state.words
        return data({"error": words("panel.settings.invalid"), "fields": found}, 422)
    book = engine_of(request).settings
    return _saved(request, book.change(wanted, caller(), seen=text_of(body, "seen")))


def undo(request: Request, body: Body) -> Response:
    """Take back the last change."""
    return _saved(request, engine_of(request).settings.undo(caller(), seen=text_of(body, "seen")))


def redo(request: Request, body: Body) -> Response:
    """Bring back what was taken back."""
    return _saved(request, engine_of(request).settings.redo(caller(), seen=text_of(body, "seen")))


def restore(request: Request, body: Body) -> Response:
    """Go back to any version."""
    book, version = engine_of(request).settings, text_of(body, "version")
    return _saved(request, book.restore(version, caller(), seen=text_of(body, "seen")))


def history(request: Request) -> Response:
    """What was changed, newest first."""
    views = engine_of(request).settings.history()
    return data({"versions": [_version(request, view) for view in views]})


def _saved(request: Request, saved: Saved) -> Response:
    return data({**_state(request), "changed": saved.changed})


def _state(request: Request) -> dict[str, object]:
    book = engine_of(request).settings
    steps = book.steps()
    return {
        "seen": book.fingerprint(),
        "version": book.live.version(),
        "undo": steps.earlier is not None,
        "redo": steps.later is not None,
    }


def _problems(request: Request, live: LiveSettings) -> list[str]:
    faults: list[ConfigInvalid | None] = [live.problem, *live.warnings]
    return [sentence(request, fault) for fault in faults if fault is not None]


def _value_of(field: Field) -> dict[str, object]:
    return {
        "value": field.value,
        "differs": field.differs,
        "variable": field.variable,
        "has_value": field.has_value,
        "reference": field.reference,
    }


def _raw(key: str, value: object) -> object:
    """A value as typed: an empty field of a setting that may be unset unsets it."""
    if key not in declared():
        raise InvalidInput("panel.settings.unknown", name=key[:60])
    if not isinstance(value, (str, bool, int, float)):
        raise InvalidInput("panel.needs_text", name=key)
    if value == "" and declared()[key].nullable:
        return "null"
    return value


def _fault(request: Request, key: str, value: object) -> str:
    """What is wrong with a value, in words; "" when nothing is."""
    setting = declared()[key]
    unset = setting.nullable and value == "null"
    try:
        checked(key, None if unset else value, request.state.words("panel.settings.here"))
    except JiyiError as error:
        if error.key == "error.config_value":
            return str(request.state.words("panel.settings.bad", allowed=setting.allowed))
        return sentence(request, error)
    return ""


def _version(request: Request, view: VersionView) -> dict[str, object]:
    version, lines = view.version, view.difference
    return {
        "id": version.id,
        "at": minute_with_offset(version.at, engine_of(request).context.zone),
        "actor": version.actor,
        "operation": version.operation,
        "lines": list(lines[:_SHOWN_LINES]),
        "more": max(0, len(lines) - _SHOWN_LINES),
    }


ROUTES = [
    Route("/settings", settings_page),
    Route("/settings/state", settings_state),
    Route("/settings/history", history),
    Route("/settings/check", action(check_value), methods=["POST"]),
    Route("/settings/save", action(save), methods=["POST"]),
    Route("/settings/undo", action(undo), methods=["POST"]),
    Route("/settings/redo", action(redo), methods=["POST"]),
    Route("/settings/restore", action(restore), methods=["POST"]),
]
