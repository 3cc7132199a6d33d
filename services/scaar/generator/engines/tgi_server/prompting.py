"""How the model of a TGI server is prompted."""

import asyncio
from pathlib import Path

from huggingface_hub import try_to_load_from_cache
from huggingface_hub.errors import HFValidationError

from scaar.core.types import ModelKind
from scaar.generator.engines.chat_templates.files import CONFIG_FILE, read_chat_template
from scaar.generator.engines.served.prompt_text import PromptText, prompt_text_of
from scaar.generator.engines.served.prompting import Prompting, prompting, without_template
from scaar.generator.model_kind import find_kind
from scaar.generator.settings import GeneratorSettings


async def choose_prompting(
    settings: GeneratorSettings, model: str, *, configured: PromptText | None
) -> Prompting:
    """Return the prompting of a model; the settings override every choice.

    ``configured`` is the text with the template of the settings. Without one, an instruct model is
    prompted in the template of its tokenizer files, if they are on this machine: in the folder that
    the server was started with, or in the cache of the Hugging Face Hub.
    """
    kind = find_kind(settings, (model,))
    text, template = configured, "SCAAR_GENERATOR_CHAT_TEMPLATE_FILE"
    if text is None and kind.kind is ModelKind.INSTRUCT:
        text, template = await asyncio.to_thread(_local_text, model)
    if text is None:
        template = without_template(kind, template)
    reason = "the only API of TGI that continues a text"
    return prompting(
        settings, kind, api="completions", api_reason=reason, text=text, template=template
    )


def _local_text(model: str) -> tuple[PromptText | None, str]:
    """Return the text with the template of the model's files, and where they are. Blocks.

    Without a text, the reason instead.
    """
    folder = _folder_of(model)
    if folder is None:
        return None, f"the files of {model} are not on this machine"
    try:
        return prompt_text_of(read_chat_template(folder)), f"of {folder}"
    except ValueError as error:
        return None, str(error)


def _folder_of(model: str) -> Path | None:
    if (Path(model) / CONFIG_FILE).is_file():
        return Path(model)
    try:
        cached = try_to_load_from_cache(model, CONFIG_FILE)
    except HFValidationError:  # a path of the server's machine
        return None
    return Path(cached).parent if isinstance(cached, str) else None
