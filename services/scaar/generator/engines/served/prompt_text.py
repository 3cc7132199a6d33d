"""Prompt text for completion servers, with or without a chat template."""

import asyncio
from dataclasses import dataclass

from scaar.core.errors import InvalidRequest
from scaar.core.types import GenerateRequest
from scaar.generator.engines.chat_templates.files import ChatTemplate, read_chat_template
from scaar.generator.engines.chat_templates.markers import Markers, markers_of
from scaar.generator.engines.chat_templates.renderer import UserTurn, turn_of
from scaar.generator.settings import GeneratorSettings

_NO_TURN, _NO_MARKERS = UserTurn("", ""), Markers(())


@dataclass(frozen=True, slots=True)
class PromptText:
    """Joins prompt and prefix to one text: the user's turn and the start of the model's turn.

    The prefix is unchanged, so that the model continues its own text. In a template neither text
    can end its turn.
    """

    turn: UserTurn = _NO_TURN
    markers: Markers = _NO_MARKERS

    def of(self, request: GenerateRequest) -> str:
        """Return the text that the model continues."""
        prompt = self.markers.escape(request.prompt)
        prefix = self.markers.escape(request.prefix)
        return f"{self.turn.before}{prompt}{self.turn.after}{prefix}"


async def read_prompt_text(settings: GeneratorSettings) -> PromptText:
    """Return the prompt text of the settings, without turns if they name no template.

    Raises:
        InvalidRequest: the template does not exist, or fails; names the setting.
    """
    path = settings.chat_template_file
    if path is None:
        return PromptText()
    try:
        return _prompt_text(await asyncio.to_thread(read_chat_template, path))
    except ValueError as error:
        setting = "SCAAR_GENERATOR_CHAT_TEMPLATE_FILE"
        raise InvalidRequest.of(setting, f"cannot be used: {error}") from error


def _prompt_text(template: ChatTemplate) -> PromptText:
    turn = turn_of(template.text, template.tokens)
    bos = template.tokens.get("bos_token", "")
    if template.adds_bos:
        # The server adds it too; together with the template's there would be two.
        turn = UserTurn(turn.before.removeprefix(bos), turn.after)
    return PromptText(turn, markers_of(template.text, template.tokens, template.special))
