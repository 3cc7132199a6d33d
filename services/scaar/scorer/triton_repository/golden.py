"""Golden pairs: logits of the exported model, to validate engines that are built elsewhere.

The JSON file is read with only the standard library, on the machine that builds an engine.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scaar.core.errors import DataCorrupt, NotFound

GOLDEN_FILE = "golden.json"
MAX_DRIFT = 0.01
"""Maximum difference of a similarity from the exported model's, and so of a contribution."""


@dataclass(frozen=True, slots=True)
class GoldenPair:
    """Two texts, their tokens, and the logit of the exported model."""

    first: str
    second: str
    input_ids: tuple[int, ...]
    token_type_ids: tuple[int, ...]
    logit: float


@dataclass(frozen=True, slots=True)
class Golden:
    """The golden pairs, and the batch shapes that the model must support."""

    inputs: tuple[str, ...]
    widths: tuple[int, ...]
    """Lengths in tokens to which pairs are padded, ascending."""

    max_batch_size: int
    padding: int
    pairs: tuple[GoldenPair, ...]


def write_golden(path: Path, golden: Golden) -> None:
    """Write a file for :func:`read_golden`."""
    path.write_text(json.dumps(asdict(golden), ensure_ascii=False) + "\n")


def read_golden(path: Path) -> Golden:
    """Read the golden pairs of a file.

    Raises:
        NotFound: the file is missing.
        DataCorrupt: the file does not contain golden pairs.
    """
    try:
        record = json.loads(path.read_bytes())
        golden = Golden(
            inputs=tuple(str(each) for each in record["inputs"]),
            widths=tuple(int(each) for each in record["widths"]),
            max_batch_size=int(record["max_batch_size"]),
            padding=int(record["padding"]),
            pairs=tuple(_pair(each) for each in record["pairs"]),
        )
    except FileNotFoundError:
        raise NotFound(f"{path} is missing: export the model again") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataCorrupt(f"{path} does not contain golden pairs: {error!r}") from error
    if not golden.pairs or not golden.widths:
        raise DataCorrupt(f"{path} contains no golden pair")
    return golden


def check_parity(pairs: Sequence[GoldenPair], logits: Sequence[float]) -> float:
    """Return the largest drift of a similarity, after validating it against :data:`MAX_DRIFT`.

    Raises:
        DataCorrupt: a logit is missing or not a number, or a drift exceeds the maximum.
    """
    if len(logits) != len(pairs):
        raise DataCorrupt(f"the engine returns {len(logits)} numbers for {len(pairs)} golden pairs")
    largest = 0.0
    for number, (pair, logit) in enumerate(zip(pairs, logits, strict=True)):
        found, expected = _similarity(logit), _similarity(pair.logit)
        # Comparisons with NaN are false, so this rejects NaN.
        if not abs(found - expected) <= MAX_DRIFT:
            raise DataCorrupt(
                f"the engine's similarity of golden pair {number} is {found:.4f}, and the exported "
                f"model's {expected:.4f}: the difference must be at most {MAX_DRIFT}"
            )
        largest = max(largest, abs(found - expected))
    return largest


def _similarity(logit: float) -> float:
    return 0.5 * (1 + math.tanh(0.5 * logit))


def _pair(record: Any) -> GoldenPair:
    pair = GoldenPair(
        first=str(record["first"]),
        second=str(record["second"]),
        input_ids=tuple(int(each) for each in record["input_ids"]),
        token_type_ids=tuple(int(each) for each in record["token_type_ids"]),
        logit=float(record["logit"]),
    )
    if not pair.input_ids or len(pair.input_ids) != len(pair.token_type_ids):
        raise ValueError("the tokens of a pair do not match")
    return pair
