"""Prompt text for completion servers, with or without a chat template."""

import asyncio
from dataclasses import dataclass, replace

from scaar.core.errors import InvalidRequest
from scaar.core.types import Capability, GenerateRequest
from scaar.generator.engines.chat_templates.files import ChatTemplate, read_chat_template
from scaar.generator.engines.chat_templates.markers import Markers, markers_of
from scaar.generator.engines.chat_templates.renderer import (
    SystemTurn,
    UserTurn,
    system_turn_of,
    turn_of,
)
from scaar.generator.settings import GeneratorSettings

_NO_TURN, _NO_MARKERS = UserTurn("", ""), Markers(())


@dataclass(frozen=True, slots=True)
class PromptText:
    """Joins prompt and prefix to one text: the user's turn and the start of the model's turn.

    The prefix is unchanged, so that the model continues its own text. In a template no text can end
    its turn.
    """

    turn: UserTurn = _NO_TURN
    markers: Markers = _NO_MARKERS
    system: SystemTurn | None = None
    """The turn of the system; None without a template, and if the template has none."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capability to place text of the system, if the template has a turn for it."""
        return frozenset({Capability.SYSTEM_TURN} if self.system else ())

    def of(self, request: GenerateRequest) -> str:
        """Return the text that the model continues."""
        before = self.turn.before
        if request.system and self.system:
            system = self.markers.escape(request.system)
            before = f"{self.system.before}{system}{self.system.after}"
        prompt = self.markers.escape(request.prompt)
        prefix = self.markers.escape(request.prefix)
        return f"{before}{prompt}{self.turn.after}{prefix}"


async def read_prompt_text(settings: GeneratorSettings) -> PromptText | None:
    """Return the prompt text with the template that the settings name; None if they name none.

    Raises:
        InvalidRequest: the template does not exist, or fails; names the setting.
    """
    path = settings.chat_template_file
    if path is None:
        return None
    try:
        return prompt_text_of(await asyncio.to_thread(read_chat_template, path))
    except ValueError as error:
        setting = "SCAAR_GENERATOR_CHAT_TEMPLATE_FILE"
        raise InvalidRequest.of(setting, f"cannot be used: {error}") from error


def prompt_text_of(template: ChatTemplate) -> PromptText:
    """Return the prompt text with a template.

    Raises:
        ValueError: the template fails, or does not contain the user's text exactly once, unchanged.
    """
    turn = turn_of(template.text, template.tokens)
    system = system_turn_of(template.text, template.tokens)
    bos = template.tokens.get("bos_token", "")
    if template.adds_bos:
        # The server adds it too; together with the template's there would be two.
        turn = replace(turn, before=turn.before.removeprefix(bos))
        system = system and replace(system, before=system.before.removeprefix(bos))
    return PromptText(turn, markers_of(template.text, template.tokens, template.special), system)
