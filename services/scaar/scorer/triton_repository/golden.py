"""Golden pairs: what an exported model says of some texts, for whatever runs it elsewhere.

A JSON file that is read with the standard library alone, where an engine is built.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scaar.core.errors import DataCorrupt, NotFound

GOLDEN_FILE = "golden.json"
MOST_DRIFT = 0.01
"""How far a likeness may be from the exported model's: a contribution is one less the likeness."""


@dataclass(frozen=True, slots=True)
class GoldenPair:
    """Two texts, what the model reads of them, and the logit that it gives them."""

    first: str
    second: str
    input_ids: tuple[int, ...]
    token_type_ids: tuple[int, ...]
    logit: float


@dataclass(frozen=True, slots=True)
class Golden:
    """The pairs, and the shapes of batches that the model is asked in."""

    inputs: tuple[str, ...]
    widths: tuple[int, ...]
    """Lengths in tokens that pairs are padded to, ascending."""

    max_batch_size: int
    padding: int
    pairs: tuple[GoldenPair, ...]


def write_golden(path: Path, golden: Golden) -> None:
    """Writes the file; see :func:`read_golden`."""
    path.write_text(json.dumps(asdict(golden), ensure_ascii=False) + "\n")


def read_golden(path: Path) -> Golden:
    """What a file holds.

    Raises:
        NotFound: there is no such file.
        DataCorrupt: it does not hold golden pairs.
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
        raise NotFound(f"{path}: there are no golden pairs; export the model again") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataCorrupt(f"{path}: does not hold golden pairs: {error!r}") from error
    if not golden.pairs or not golden.widths:
        raise DataCorrupt(f"{path}: holds no golden pair")
    return golden


def check_parity(pairs: Sequence[GoldenPair], logits: Sequence[float]) -> float:
    """The largest drift of a likeness, where none is above :data:`MOST_DRIFT`.

    Raises:
        DataCorrupt: a number is missing or none, or a likeness is too far off.
    """
    if len(logits) != len(pairs):
        raise DataCorrupt(f"the engine gives {len(logits)} numbers for {len(pairs)} golden pairs")
    most = 0.0
    for number, (pair, logit) in enumerate(zip(pairs, logits, strict=True)):
        found, expected = _likeness(logit), _likeness(pair.logit)
        # A comparison with what is no number is never true.
        if not abs(found - expected) <= MOST_DRIFT:
            raise DataCorrupt(
                f"the engine's likeness of golden pair {number} is {found:.4f}, and the exported "
                f"model's {expected:.4f}: more than {MOST_DRIFT} lies between them"
            )
        most = max(most, abs(found - expected))
    return most


def _likeness(logit: float) -> float:
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
