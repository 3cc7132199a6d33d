"""Causal language model of a checkpoint folder: decoder, tokenizer and configuration."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from scaar.core.errors import DataCorrupt, InvalidRequest
from scaar.core.types import ModelKind, RecommendedSettings
from scaar.encoders.checkpoint import Checkpoint, read_checkpoint
from scaar.encoders.tokenizer import open_tokenizer, token_ids
from scaar.generator.engines.decoding.decoder import Decoder
from scaar.generator.engines.decoding.onnx_decoder import DecoderSession
from scaar.generator.engines.decoding.recommendations import (
    hidden_states_in,
    profile_in,
    recommended_in,
)
from scaar.generator.engines.decoding.token_length import characters_per_token
from scaar.generator.prompt_profiles import DEFAULT_PROFILE


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """An open model. ``end_ids`` are the end-of-sequence tokens."""

    name: str
    revision: str
    decoder: Decoder[Any]
    tokenizer: Tokenizer
    vocabulary: int
    max_total_tokens: int
    characters_per_token: int
    """Maximum number of characters of one token."""
    end_ids: frozenset[int]
    prompt_profile: str
    recommended: tuple[RecommendedSettings, ...]
    kind: ModelKind | None = None
    turn: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """Tokens around a user's turn of a chat model, up to the start of the model's turn."""
    system_turn: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """Tokens around text of the system, up to the text of the user's turn; None without one."""

    def encode(self, prompt: str, prefix: str = "", *, system: str = "") -> list[int]:
        """Return the ids of prompt and prefix, including beginning-of-sequence tokens.

        For a chat model the prompt is the user's turn, after that of the system if there is one,
        and the prefix the start of its own turn. Special tokens in the text are read as ordinary
        text.
        """
        if self.turn is None:
            return token_ids(self.tokenizer, prompt + prefix)
        before, after = self.turn
        if system and self.system_turn is not None:
            first, between = self.system_turn
            before = (*first, *self.encode_more(system), *between)
        return [*before, *self.encode_more(prompt), *after, *self.encode_more(prefix)]

    def encode_more(self, text: str) -> list[int]:
        """Return the ids of a text that follows another text."""
        return token_ids(self.tokenizer, text, add_special_tokens=False)

    def ids_of(self, named_tokens: Sequence[str]) -> tuple[int, ...]:
        """Return the id of each token, named by its text or, if special, by its name.

        Raises:
            InvalidRequest: a text is not one token.
        """
        return tuple(map(self._id_of, named_tokens))

    def _id_of(self, named: str) -> int:
        ids = self.encode_more(named)
        if len(ids) == 1:
            return ids[0]
        special = self.tokenizer.token_to_id(named)
        if special is None:
            text = f"must each be one token of the model; {named!r} is {len(ids)}"
            raise InvalidRequest.of("named_tokens", text)
        return int(special)


def open_language_model(folder: Path, *, threads: int) -> LanguageModel:
    """Open a model. Blocks while it reads the files.

    Raises:
        NotFound: the folder or a required file does not exist.
        DataCorrupt: a file is damaged, or the model cannot be run.
    """
    checkpoint = read_checkpoint(folder)
    tokenizer = open_tokenizer(checkpoint.tokenizer)
    return LanguageModel(
        name=checkpoint.name,
        revision=checkpoint.revision,
        decoder=DecoderSession(
            checkpoint.model, threads=threads, hidden_states=hidden_states_in(checkpoint.advice)
        ),
        tokenizer=tokenizer,
        vocabulary=checkpoint.config.whole_number("vocab_size", default=tokenizer.get_vocab_size()),
        max_total_tokens=checkpoint.config.whole_number("max_position_embeddings", "n_positions"),
        characters_per_token=characters_per_token(tokenizer),
        end_ids=_end_ids(checkpoint),
        prompt_profile=profile_in(checkpoint.advice) or DEFAULT_PROFILE,
        recommended=recommended_in(checkpoint.advice),
    )


def _end_ids(checkpoint: Checkpoint) -> frozenset[int]:
    """Return the ids of the generation settings, else of the model's configuration."""
    for file in (checkpoint.generation_config, checkpoint.config):
        value = file.content.get("eos_token_id")
        if value is None:
            continue
        ids = value if isinstance(value, list) else [value]
        if all(isinstance(each, int) for each in ids):
            return frozenset(ids)
        raise DataCorrupt(
            f"{file.path}: eos_token_id must be an id or a list of ids, not {value!r}"
        )
    return frozenset()
