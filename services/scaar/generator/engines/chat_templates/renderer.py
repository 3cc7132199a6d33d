"""Rendering of chat templates, as transformers renders them.

A prompt never passes through the template: a placeholder does, and the text around the placeholder
is put around every prompt. So a template can neither execute nor change a prompt.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

STAND_IN = "\u2063words\u2063"
"""Placeholder of a turn's text; the invisible separators make it unique in a template."""

SYSTEM_STAND_IN = "\u2063system\u2063"
"""Placeholder of the text of the system."""

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class UserTurn:
    """The template's text around a user's turn, up to the start of the model's turn."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class SystemTurn:
    """The template's text around the text of the system, up to the user's text."""

    before: str
    after: str


def turn_of(
    template: str,
    tokens: Mapping[str, object],
    *,
    now: Callable[[], datetime] = datetime.now,
) -> UserTurn:
    """Return the user's turn of the template; ``tokens`` are the special tokens it refers to.

    Raises:
        ValueError: the template fails, or does not contain the user's text exactly once, unchanged.
    """
    messages = [{"role": "user", "content": STAND_IN}]
    before, found, after = rendered(template, messages, tokens, now=now).partition(STAND_IN)
    if not found or STAND_IN in after:
        raise ValueError("the chat template must contain the user's text exactly once, unchanged")
    return UserTurn(before, after)


def system_turn_of(template: str, tokens: Mapping[str, object]) -> SystemTurn | None:
    """Return the turn of the system before a user's turn; None if the template supports none.

    What follows the user's text must be the same with and without such a turn.
    """
    messages = [
        {"role": "system", "content": SYSTEM_STAND_IN},
        {"role": "user", "content": STAND_IN},
    ]
    try:
        text = rendered(template, messages, tokens)
    except ValueError:
        return None
    before, system, rest = text.partition(SYSTEM_STAND_IN)
    between, user, after = rest.partition(STAND_IN)
    others = before + between + after
    if not (system and user) or STAND_IN in others or SYSTEM_STAND_IN in others:
        return None
    return SystemTurn(before, between) if after == turn_of(template, tokens).after else None


def rendered(
    template: str,
    messages: Messages,
    tokens: Mapping[str, object],
    *,
    now: Callable[[], datetime] = datetime.now,
) -> str:
    """Render the messages, up to the start of the model's next turn.

    Raises:
        ValueError: the template fails; has the reason.
    """

    def strftime_now(form: str) -> str:
        return now().strftime(form)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals |= {"raise_exception": _raise_exception, "strftime_now": strftime_now}
    given = {"messages": messages, "tools": None, "documents": None, "add_generation_prompt": True}
    # A model that thinks by default writes its answer directly; other templates ignore the names.
    given |= {"enable_thinking": False, "thinking": False}
    try:
        return environment.from_string(template).render(**{**tokens, **given})
    except Exception as error:  # a template is a program and may raise anything
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"the chat template fails: {lines[0]}") from error


class _Generation(Extension):
    """``{% generation %}``, which marks training targets; rendered as plain text."""

    tags = {"generation"}  # noqa: RUF012 - as the class above declares it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _raise_exception(message: str) -> NoReturn:
    raise TemplateError(message)


def _to_json(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Return JSON that is not escaped for HTML, unlike jinja's own filter."""
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )
