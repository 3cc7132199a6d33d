"""A checkpoint's tokenizer, and how many tokens its encoder reads."""

from pathlib import Path

from tokenizers import Tokenizer

from scaar.core.errors import DataCorrupt
from scaar.runtime.checkpoint import Checkpoint

_POSITIONS_AFTER_PADDING = {"roberta", "xlm-roberta", "camembert", "mpnet"}
"""These count positions from the one after the padding token's id."""


def open_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer, which neither cuts nor pads; blocks while it reads.

    What looks like a special token in a text is read as ordinary text.

    Raises:
        DataCorrupt: the file is no tokenizer.
    """
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise DataCorrupt(f"{path}: is not a tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def token_ids(tokenizer: Tokenizer, text: str, *, add_special_tokens: bool = True) -> list[int]:
    """Return the ids of a text's tokens. Blocks its thread, and lets others run.

    ``Tokenizer.encode`` keeps the interpreter's lock, so that in a thread of its own it would stop
    the event loop all the same; encoding a batch releases the lock.
    """
    (encoding,) = tokenizer.encode_batch_fast([text], add_special_tokens=add_special_tokens)
    return list(encoding.ids)


def padding_id(checkpoint: Checkpoint) -> int:
    """The token that fills up a batch.

    Raises:
        DataCorrupt: the configuration names something else.
    """
    return checkpoint.config.whole_number("pad_token_id", default=0)


def most_tokens(checkpoint: Checkpoint) -> int:
    """The fewer of what the model has positions for and what its tokenizer is set to.

    Raises:
        DataCorrupt: the configuration does not say it.
    """
    positions = checkpoint.config.whole_number("max_position_embeddings")
    if checkpoint.config.content.get("model_type") in _POSITIONS_AFTER_PADDING:
        positions -= padding_id(checkpoint) + 1
    # A tokenizer without a limit names one of thirty digits.
    return min(
        positions, checkpoint.tokenizer_config.whole_number("model_max_length", default=positions)
    )
