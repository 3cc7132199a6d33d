"""The sizes of the lab's models, for their training and for their export.

An export needs no training libraries.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """The sizes of the encoder, named as in a Hugging Face ``config.json``."""

    vocab_size: int
    hidden_size: int = 64
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    intermediate_size: int = 128
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12


@dataclass(frozen=True, slots=True)
class DecoderShape:
    """The sizes of the decoder, named as in a Hugging Face ``config.json``."""

    vocab_size: int
    hidden_size: int = 128
    num_hidden_layers: int = 3
    num_attention_heads: int = 4
    intermediate_size: int = 256
    rope_theta: float = 1e8
    rms_norm_eps: float = 1e-6
    max_position_embeddings: int = 8192

    @property
    def head_size(self) -> int:
        return self.hidden_size // self.num_attention_heads

    def frequencies(self) -> NDArray[np.float64]:
        """Return the rotary frequencies, [head size / 2]."""
        size = self.head_size
        return np.asarray(self.rope_theta ** (-np.arange(0, size, 2) / size))
