"""Engine ``transformers``: any causal checkpoint in PyTorch, with entropy and attention."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import torch
from huggingface_hub.errors import HFValidationError
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from scaar.core.errors import DataCorrupt, NotFound
from scaar.core.types import ModelKind
from scaar.encoders.checkpoint import REVISION_DIGITS, read_json_file
from scaar.generator.engines.chat_templates.renderer import (
    SystemTurn,
    UserTurn,
    system_turn_of,
    turn_of,
)
from scaar.generator.engines.decoding.feed_forward import FeedForwardGradients
from scaar.generator.engines.decoding.generator import DecodingGenerator, open_decoding_generator
from scaar.generator.engines.decoding.language_model import LanguageModel
from scaar.generator.engines.decoding.recommendations import profile_in, recommended_in
from scaar.generator.engines.decoding.token_length import characters_per_token
from scaar.generator.engines.decoding.torch_decoder import TorchDecoder
from scaar.generator.model_kind import find_kind
from scaar.generator.prompt_profiles import choose_profile
from scaar.generator.settings import GeneratorSettings

_DTYPES = {
    "auto": "auto",
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


_Around = tuple[tuple[int, ...], tuple[int, ...]]
"""Tokens before and after a text."""


@asynccontextmanager
async def open_transformers_generator(
    settings: GeneratorSettings,
) -> AsyncIterator[DecodingGenerator]:
    """Open the generator over the checkpoint of the settings, a folder or a name on the hub.

    Raises:
        NotFound: no model is set, or it does not exist.
        DataCorrupt: it is not a causal language model, or has no fast tokenizer.
    """
    if settings.model is None:
        raise NotFound("no language model is set: set SCAAR_GENERATOR_MODEL to its folder")
    async with open_decoding_generator(
        settings, lambda: open_checkpoint(settings), engine="transformers"
    ) as generator:
        yield generator


@asynccontextmanager
async def open_differentiable(
    settings: GeneratorSettings,
) -> AsyncIterator[tuple[DecodingGenerator, FeedForwardGradients]]:
    """Open the generator over the checkpoint of the settings, and the gradients of its model.

    Raises:
        NotFound: the model does not exist.
        DataCorrupt: it is not a causal language model, or its feed-forward weights are not found.
    """
    model = await asyncio.to_thread(open_checkpoint, settings)
    decoder = model.decoder
    assert isinstance(decoder, TorchDecoder)
    gradients = FeedForwardGradients(model, decoder.network, exclusive=decoder.exclusive)
    async with open_decoding_generator(settings, lambda: model, engine="transformers") as generator:
        yield generator, gradients


def open_checkpoint(settings: GeneratorSettings) -> LanguageModel:
    """Open the model. Blocks while it reads or downloads the files."""
    name = str(settings.model)
    torch.set_num_threads(settings.threads or 1)
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = AutoModelForCausalLM.from_pretrained(
            name,
            dtype=_DTYPES[settings.dtype],
            attn_implementation="eager" if settings.attention else "sdpa",
        )
    except (OSError, HFValidationError) as error:
        raise NotFound(f"{name}: transformers finds no such model: {_first_line(error)}") from error
    except ValueError as error:
        raise DataCorrupt(f"{name}: transformers cannot open it: {_first_line(error)}") from error
    if not tokenizer.is_fast:
        raise DataCorrupt(f"{name}: has no fast tokenizer (tokenizer.json)")
    model = model.eval().to(_device(settings.device))
    found = find_kind(settings, _names(name))
    in_turns = settings.chat_template
    if in_turns is None:
        in_turns = found.kind is ModelKind.INSTRUCT and tokenizer.chat_template is not None
    # Before special tokens are read as text, since the template has some.
    turn, system_turn = _turns(name, tokenizer) if in_turns else (None, None)
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    backend.encode_special_tokens = True
    advice = read_json_file(Path(name) / "scaar.json")
    return LanguageModel(
        name=Path(name).resolve().name if Path(name).is_dir() else name,
        revision=_revision(name, model),
        decoder=TorchDecoder(model, gives_attention=settings.attention),
        tokenizer=backend,
        vocabulary=model.config.vocab_size,
        max_total_tokens=_context(model, tokenizer.model_max_length),
        characters_per_token=characters_per_token(backend),
        end_ids=_end_ids(model),
        prompt_profile=(
            settings.prompt_profile
            or profile_in(advice)
            or choose_profile(settings, found, in_turns=in_turns).name
        ),
        recommended=recommended_in(advice),
        kind=found.kind,
        turn=turn,
        system_turn=system_turn,
    )


def _turns(name: str, tokenizer: PreTrainedTokenizerFast) -> tuple[_Around, _Around | None]:
    """Return the tokens that the model's template puts around a user's turn, and the system's.

    The texts of the turns are tokenized separately, without special tokens.
    """
    try:
        template = tokenizer.get_chat_template()
    except ValueError as error:
        raise DataCorrupt(f"{name}: has no chat template: {_first_line(error)}") from error
    try:
        turn = turn_of(template, tokenizer.special_tokens_map)
    except ValueError as error:
        raise DataCorrupt(f"{name}: {error}") from error
    system = system_turn_of(template, tokenizer.special_tokens_map)

    def around(texts: UserTurn | SystemTurn) -> _Around:
        ids = (
            tokenizer.encode(text, add_special_tokens=False) for text in (texts.before, texts.after)
        )
        before, after = map(tuple, ids)
        return before, after

    return around(turn), around(system) if system else None


def _names(name: str) -> tuple[str, ...]:
    """Return the name of the model, and for a folder the one in its configuration."""
    named = read_json_file(Path(name) / "config.json").content.get("_name_or_path")
    own = Path(name).resolve().name if Path(name).is_dir() else name
    return (own, named) if isinstance(named, str) else (own,)


def _device(device: str) -> str:
    if device != "auto":
        return device
    return "cuda" if torch.cuda.is_available() else "cpu"


def _context(model: PreTrainedModel, of_tokenizer: int) -> int:
    longest = getattr(model.config, "max_position_embeddings", None)
    return int(longest if longest else of_tokenizer)


def _end_ids(model: PreTrainedModel) -> frozenset[int]:
    generation = getattr(model, "generation_config", None)
    ids = getattr(generation, "eos_token_id", None) or model.config.eos_token_id
    if ids is None:
        return frozenset()
    return frozenset(ids if isinstance(ids, list) else [ids])


def _revision(name: str, model: PreTrainedModel) -> str:
    """Return the hub's commit; for a folder, a digest of its files' names, sizes and times."""
    if not Path(name).is_dir():
        return str(getattr(model.config, "_commit_hash", "") or "")[:REVISION_DIGITS]
    digest = hashlib.sha256()
    for file in sorted(path for path in Path(name).iterdir() if path.is_file()):
        stat = file.stat()
        digest.update(f"{file.name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:REVISION_DIGITS]


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
