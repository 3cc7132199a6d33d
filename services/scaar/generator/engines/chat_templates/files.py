"""Chat templates in files: in a checkpoint folder, in ``tokenizer_config.json`` or alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaar.core.errors import DataCorrupt
from scaar.encoders.checkpoint import read_json_file

TEMPLATE_FILE = "chat_template.jinja"
CONFIG_FILE = "tokenizer_config.json"


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A template; ``tokens`` are the tokens it refers to by name, ``special`` all special tokens.

    ``adds_bos`` is true if the tokenizer adds the beginning-of-sequence token itself.
    """

    text: str
    tokens: Mapping[str, str]
    special: frozenset[str]
    adds_bos: bool


def read_chat_template(path: Path) -> ChatTemplate:
    """Read the template of a folder or file, with the special tokens of its configuration.

    A ``chat_template.jinja`` overrides ``tokenizer_config.json``, as in transformers. Blocks.

    Raises:
        ValueError: the template cannot be read, or there is none.
    """
    folder = path if path.is_dir() else path.parent
    template = folder / TEMPLATE_FILE
    config = folder / CONFIG_FILE
    if path.is_file():
        template, config = (template, path) if path.suffix == ".json" else (path, config)
    elif not path.is_dir():
        raise ValueError(f"{path} does not exist")
    try:
        settings = read_json_file(config).content
    except DataCorrupt as error:
        raise ValueError(error.message) from error
    within = _template_in(settings)
    # The template of a configuration file that was named directly overrides a file beside it.
    text = within if path == config and within is not None else _read(template) or within
    if not text:
        raise ValueError(f"{path} has no chat template")
    tokens = dict(_tokens_in(settings))
    return ChatTemplate(
        text=text,
        tokens=tokens,
        special=frozenset((*tokens.values(), *_others_in(settings))),
        adds_bos=settings.get("add_bos_token") is not False,
    )


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text") from error


def _template_in(settings: Mapping[str, Any]) -> str | None:
    """Return the only template, or the one named ``default``."""
    found = settings.get("chat_template")
    if isinstance(found, list):
        named = {each.get("name"): each.get("template") for each in found if isinstance(each, dict)}
        found = named.get("default")
    return found if isinstance(found, str) else None


def _tokens_in(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if name.endswith("_token") and (text := _content(value)):
            yield name, text


def _others_in(settings: Mapping[str, Any]) -> Iterator[str]:
    added = settings.get("added_tokens_decoder")
    marked = added.values() if isinstance(added, dict) else ()
    listed = settings.get("additional_special_tokens")
    for each in marked:
        if isinstance(each, dict) and each.get("special") and (text := _content(each)):
            yield text
    for each in listed if isinstance(listed, list) else ():
        if text := _content(each):
            yield text


def _content(value: object) -> str | None:
    """Return the text of a token, which is a string or an object with ``content``."""
    content = value.get("content") if isinstance(value, dict) else value
    return content if isinstance(content, str) else None
