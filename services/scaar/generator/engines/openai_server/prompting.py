"""How the model of an OpenAI-compatible server is prompted.

An instruct model is prompted in its own template. Completions with the template are preferred to
chats: the text that the model continues is then exactly the text so far, whatever the template does
with a turn of the assistant, and markers in passages cannot end a turn.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from scaar.core.types import ContinuationKind, ModelKind
from scaar.generator.engines.chat_templates.files import ChatTemplate
from scaar.generator.engines.openai_server.dialects import Dialect
from scaar.generator.engines.served.prompt_text import PromptText, prompt_text_of
from scaar.generator.engines.served.prompting import Prompting, prompting, without_template
from scaar.generator.model_kind import find_kind
from scaar.generator.settings import GeneratorSettings

_SETTING = "SCAAR_GENERATOR_OPENAI_API"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """The file of a model on this machine."""

    name: str
    sha256: str


async def choose_prompting(
    settings: GeneratorSettings,
    model: str,
    dialect: Dialect,
    *,
    configured: PromptText | None,
    reported: Callable[[], Awaitable[ChatTemplate | None]],
    file: ModelFile | None = None,
) -> Prompting:
    """Return the prompting of a model; the settings override every choice.

    ``configured`` is the text with the template of the settings, and ``reported`` requests the
    template of the server. ``file`` is that of the model, if it is known.
    """
    names, digest = ((model, file.name), file.sha256) if file is not None else ((model,), "")
    kind, api = find_kind(settings, names, sha256=digest), settings.openai_api
    if api == "chat":
        return prompting(settings, kind, api="chat", api_reason=_SETTING, template=_OF_SERVER)
    of_setting = _SETTING if api == "completions" else ""
    if configured is not None:
        reason = of_setting or "for a template file"
        template = "SCAAR_GENERATOR_CHAT_TEMPLATE_FILE"
        return prompting(
            *(settings, kind),
            api="completions",
            api_reason=reason,
            text=configured,
            template=template,
        )
    why = "the server reports none"
    if kind.kind is ModelKind.INSTRUCT and dialect.reports_template:
        found = await reported()
        try:
            text = prompt_text_of(found) if found is not None else None
        except ValueError as error:
            text, why = None, f"that of the server cannot be used: {error}"
        if text is not None:
            reason = of_setting or "an instruct model whose template the server reports"
            return prompting(
                *(settings, kind),
                api="completions",
                api_reason=reason,
                text=text,
                template="reported by the server",
            )
    if kind.kind is ModelKind.BASE or api == "completions":
        reason = of_setting or "for base models"
        template = without_template(kind, why)
        return prompting(settings, kind, api="completions", api_reason=reason, template=template)
    reason = "an instruct model"
    if dialect.chat is ContinuationKind.RESTATED:
        reason += f"; dialect {dialect.name} cannot continue a turn exactly"
    return prompting(settings, kind, api="chat", api_reason=reason, template=_OF_SERVER)


_OF_SERVER = "the server's own"
