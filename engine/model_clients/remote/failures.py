"""Whose fault it is: a text's, a request's, or the provider's.

A plain :class:`ModelUnavailable` means the provider: nothing gets through now, and no text
is to blame. None of these errors repeats a text, a key or a provider's own words.
"""

from __future__ import annotations

from engine.domain.errors import ModelUnavailable, TextRefused


class RequestRefused(ModelUnavailable):
    """The provider answers, but not this request; a smaller or another one may pass."""


def text_refused(refusal: RequestRefused) -> TextRefused:
    """The verdict on the only text of a refused request."""
    if "status" in refusal.params:
        return TextRefused(
            "error.remote_text_refused",
            host=refusal.params.get("host", ""),
            status=refusal.params["status"],
        )
    return TextRefused(refusal.key, **refusal.params)


def provider_down(refusal: RequestRefused) -> ModelUnavailable:
    """The verdict on a provider that refuses a harmless request too."""
    return ModelUnavailable(refusal.key, **refusal.params)
