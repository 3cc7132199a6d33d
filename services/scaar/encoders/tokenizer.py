"""Tokenizer of a checkpoint, its padding token and its token limit."""

from pathlib import Path

from tokenizers import Tokenizer

from scaar.core.errors import DataCorrupt
from scaar.encoders.checkpoint import Checkpoint

_POSITIONS_AFTER_PADDING = {"roberta", "xlm-roberta", "camembert", "mpnet"}
"""Model types whose positions start after the id of the padding token."""


def open_tokenizer(path: Path) -> Tokenizer:
    """Open a tokenizer, without truncation and padding. Blocks while the file is read.

    Text that looks like a special token is treated as ordinary text.

    Raises:
        DataCorrupt: the file is not a tokenizer.
    """
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise DataCorrupt(f"{path} is not a tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def token_ids(tokenizer: Tokenizer, text: str, *, add_special_tokens: bool = True) -> list[int]:
    """Return the ids of a text's tokens. Blocks its thread, but not other threads.

    ``Tokenizer.encode`` holds the interpreter's lock, and would block the event loop even from
    another thread. Encoding a batch releases the lock.
    """
    (encoding,) = tokenizer.encode_batch_fast([text], add_special_tokens=add_special_tokens)
    return list(encoding.ids)


def padding_id(checkpoint: Checkpoint) -> int:
    """Return the id of the padding token.

    Raises:
        DataCorrupt: the configured id is invalid.
    """
    return checkpoint.config.whole_number("pad_token_id", default=0)


def token_limit(checkpoint: Checkpoint) -> int:
    """Return the token limit: the smaller of the model's positions and the tokenizer's maximum.

    Raises:
        DataCorrupt: the configuration does not contain the number of positions.
    """
    positions = checkpoint.config.whole_number("max_position_embeddings")
    if checkpoint.config.content.get("model_type") in _POSITIONS_AFTER_PADDING:
        positions -= padding_id(checkpoint) + 1
    # A tokenizer without a limit has a maximum of thirty digits.
    return min(
        positions, checkpoint.tokenizer_config.whole_number("model_max_length", default=positions)
    )
