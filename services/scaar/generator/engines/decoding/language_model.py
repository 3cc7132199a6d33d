"""A causal language model from its checkpoint folder: decoder, tokenizer, and what they say."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from scaar.core.errors import DataCorrupt
from scaar.core.types import RecommendedSettings
from scaar.encoders.tokenizing import open_tokenizer, token_ids
from scaar.generator.engines.decoding.advice import profile_in, recommended_in
from scaar.generator.engines.decoding.decoder import Decoder
from scaar.generator.engines.decoding.onnx_decoder import DecoderSession
from scaar.generator.engines.decoding.token_length import characters_per_token
from scaar.runtime.checkpoint import Checkpoint, read_checkpoint


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """An open model. ``end_ids`` are the tokens that end a text."""

    name: str
    revision: str
    decoder: Decoder[Any]
    tokenizer: Tokenizer
    vocabulary: int
    max_total_tokens: int
    characters_per_token: int
    """The largest number of characters that one token can stand for."""
    end_ids: frozenset[int]
    prompt_profile: str
    recommended: tuple[RecommendedSettings, ...]
    turn: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """The tokens around what a user says to a chat model, up to where its own text begins."""

    def encode(self, prompt: str, prefix: str = "") -> list[int]:
        """The tokens of prompt and prefix as the model reads them, with those that begin a text.

        A chat model reads the prompt as a user's turn and the prefix as the beginning of its own.
        What looks like a special token in the text is read as ordinary text.
        """
        if self.turn is None:
            return token_ids(self.tokenizer, prompt + prefix)
        before, after = self.turn
        return [*before, *self.encode_more(prompt), *after, *self.encode_more(prefix)]

    def encode_more(self, text: str) -> list[int]:
        """The tokens of a text that stands after another."""
        return token_ids(self.tokenizer, text, add_special_tokens=False)


def open_language_model(folder: Path, *, threads: int) -> LanguageModel:
    """Opens a model; blocks while it reads the files.

    Raises:
        NotFound: the folder, or a file that is needed, is not there.
        DataCorrupt: a file is damaged, or not of a model that can be run.
    """
    checkpoint = read_checkpoint(folder)
    tokenizer = open_tokenizer(checkpoint.tokenizer)
    return LanguageModel(
        name=checkpoint.name,
        revision=checkpoint.revision,
        decoder=DecoderSession(checkpoint.model, threads=threads),
        tokenizer=tokenizer,
        vocabulary=checkpoint.config.whole_number("vocab_size", default=tokenizer.get_vocab_size()),
        max_total_tokens=checkpoint.config.whole_number("max_position_embeddings", "n_positions"),
        characters_per_token=characters_per_token(tokenizer),
        end_ids=_end_ids(checkpoint),
        prompt_profile=profile_in(checkpoint.advice),
        recommended=recommended_in(checkpoint.advice),
    )


def _end_ids(checkpoint: Checkpoint) -> frozenset[int]:
    """Generation settings may name one id or a list; they stand before the model's own."""
    for file in (checkpoint.generation_config, checkpoint.config):
        value = file.content.get("eos_token_id")
        if value is None:
            continue
        ids = value if isinstance(value, list) else [value]
        if all(isinstance(each, int) for each in ids):
            return frozenset(ids)
        raise DataCorrupt(f"{file.path}: eos_token_id must be ids of tokens, not {value!r}")
    return frozenset()
