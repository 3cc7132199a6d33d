"""English as a provider of defaults: the sentence encoder of the distribution scaar-english."""

from importlib import import_module
from pathlib import Path

from scaar.core.defaults import DefaultScorer, DefaultsProvider

_FOLDER: Path = import_module("scaar_english").model_folder()

ENGLISH = DefaultsProvider(
    text_kind="english", scorer=DefaultScorer("bi_encoder", _FOLDER), encoder=_FOLDER
)
