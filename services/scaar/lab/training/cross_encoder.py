"""Training of ``lab-cross-encoder``: a BERT with one logit, initialized to compare two texts.

Layer 0 is initialized to compare each word with the same word of the other text: queries and keys
start as the same orthogonal map, so that a word attends to itself and to its counterpart, and the
subtracted value cancels out where both texts agree. With a standard initialization, the model
learns much more slowly.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tokenizers import Encoding, Tokenizer

from scaar.lab.shapes import EncoderShape
from scaar.lab.training.checkpoints import Checkpoint
from scaar.lab.training.meaning_pairs import draw_meaning_pair
from scaar.lab.training.pairs import Pair, draw_pair
from scaar.lab.training.relevance_pairs import draw_relevance_pair

Params = dict[str, Any]
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class EncoderTraining:
    """Hyperparameters of the encoder's training."""

    seed: int = 1
    steps: int = 10_000
    pairs: int = 48
    pair_tokens: int = 96
    peak_rate: float = 2e-3
    warm_up_steps: int = 200

    def draw(self, random: Random, step: int) -> Pair:
        """Draw a pair with its label for a step, counted from 1."""
        return draw_pair(random)


@dataclass(frozen=True, slots=True)
class MeaningTraining(EncoderTraining):
    """Hyperparameters of a training on pairs labelled as same or other meaning."""

    steps: int = 1_000
    pairs: int = 32
    pair_tokens: int = 112

    def draw(self, random: Random, step: int) -> Pair:
        """Draw a pair, with label 1 for the same meaning and 0 for another."""
        return draw_meaning_pair(random, share=step / self.steps)


@dataclass(frozen=True, slots=True)
class RelevanceTraining(EncoderTraining):
    """Hyperparameters of a training on queries and passages, labelled as relevant or not."""

    steps: int = 2_000
    pair_tokens: int = 68

    def draw(self, random: Random, step: int) -> Pair:
        """Draw a query and a passage, with label 0.98 for a relevant one and 0.02 for another."""
        return draw_relevance_pair(random)


def initial_params(shape: EncoderShape, seed: int) -> Params:
    """Return the structured initialization. Matrices map rows to columns: ``x @ w``."""
    rng = np.random.default_rng(seed)
    d, ff = shape.hidden_size, shape.intermediate_size

    def norm() -> Params:
        return {"scale": np.ones(d), "bias": np.zeros(d)}

    params: Params = {
        "word_embed": rng.normal(size=(shape.vocab_size, d)) * 0.12,
        "position_embed": rng.normal(size=(shape.max_position_embeddings, d)) * 0.03,
        "type_embed": rng.normal(size=(shape.type_vocab_size, d)) * 0.05,
        "embed_norm": norm(),
        "layers": [
            {
                **{name: rng.normal(size=(d, d)) * 0.05 for name in "qkvo"},
                **{f"{name}_bias": np.zeros(d) for name in "qkvo"},
                "attention_norm": norm(),
                "up": rng.normal(size=(d, ff)) * 0.08,
                "up_bias": np.zeros(ff),
                "down": rng.normal(size=(ff, d)) * 0.08,
                "down_bias": np.zeros(d),
                "output_norm": norm(),
            }
            for _ in range(shape.num_hidden_layers)
        ],
        "pooler": rng.normal(size=(d, d)) * 0.1,
        "pooler_bias": np.zeros(d),
        "classifier": rng.normal(size=(d, 1)) * 0.1,
        "classifier_bias": np.zeros(1),
    }
    compare = np.linalg.qr(rng.normal(size=(d, d)))[0]
    first = params["layers"][0]
    first["q"] += compare * 1.2
    first["k"] += compare * 1.2
    first["v"] += compare * 0.3
    first["o"] -= compare.T * 0.3
    return dict(jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), params))


def logits(
    shape: EncoderShape, params: Params, tokens: Array, mask: Array, types: Array
) -> jax.Array:
    """Return one logit per pair, whose sigmoid is f. Ids, mask and types are [pairs, tokens]."""
    rows, count = tokens.shape
    heads = shape.num_attention_heads
    size = shape.hidden_size // heads

    def norm(x: jax.Array, p: Params) -> jax.Array:
        centred = x - jnp.mean(x, -1, keepdims=True)
        spread = jnp.mean(centred * centred, -1, keepdims=True) + shape.layer_norm_eps
        normed: jax.Array = centred * jax.lax.rsqrt(spread) * p["scale"] + p["bias"]
        return normed

    hidden = norm(
        params["word_embed"][tokens]
        + params["position_embed"][:count]
        + params["type_embed"][types],
        params["embed_norm"],
    )
    for layer in params["layers"]:
        q, k, v = (
            (hidden @ layer[name] + layer[f"{name}_bias"])
            .reshape(rows, count, heads, size)
            .transpose(0, 2, 1, 3)
            for name in "qkv"
        )
        scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(size)
        weights = jax.nn.softmax(jnp.where(mask[:, None, None, :] > 0, scores, -1e9), -1)
        mixed = (weights @ v).transpose(0, 2, 1, 3).reshape(rows, count, -1)
        hidden = norm(hidden + mixed @ layer["o"] + layer["o_bias"], layer["attention_norm"])
        inner = jax.nn.gelu(hidden @ layer["up"] + layer["up_bias"], approximate=False)
        hidden = norm(hidden + inner @ layer["down"] + layer["down_bias"], layer["output_norm"])
    pooled = jnp.tanh(hidden[:, 0] @ params["pooler"] + params["pooler_bias"])
    found: jax.Array = (pooled @ params["classifier"] + params["classifier_bias"])[:, 0]
    return found


def pad(encodings: list[Encoding], length: int) -> tuple[Array, Array, Array]:
    """Return ids, mask and token types of encoded pairs, each [pairs, length]."""
    tokens, mask, types = (np.zeros((len(encodings), length), np.int32) for _ in range(3))
    for row, encoding in enumerate(encodings):
        used = len(encoding.ids)
        tokens[row, :used], mask[row, :used] = encoding.ids, 1
        types[row, :used] = encoding.type_ids
    return tokens, mask, types


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a training: the step, and the mean absolute error of f since the last report."""

    step: int
    error: float


def train(
    shape: EncoderShape,
    training: EncoderTraining,
    tokenizer: Tokenizer,
    *,
    on_progress: Callable[[Progress], None],
    every: int = 500,
    checkpoint: Checkpoint | None = None,
) -> Params:
    """Train and return the parameters. ``on_progress`` is called after ``every`` steps.

    With ``checkpoint``, the state is saved as often, and a training that was interrupted continues
    from the last one, with new pairs of the same kind.
    """
    params = initial_params(shape, training.seed)
    decay = training.steps - int(0.6 * training.steps)
    peak = training.peak_rate
    schedule = optax.join_schedules(
        [
            optax.linear_schedule(0.0, peak, training.warm_up_steps),
            optax.constant_schedule(peak),
            optax.linear_schedule(peak, 0.02 * peak, decay),
        ],
        [training.warm_up_steps, training.steps - decay],
    )
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=0.01)
    )
    state = optimizer.init(params)

    def loss(params: Params, *batch: Array) -> tuple[jax.Array, jax.Array]:
        *inputs, similarity = batch
        predicted = logits(shape, params, *inputs)
        error = jnp.mean(jnp.abs(jax.nn.sigmoid(predicted) - similarity))
        return jnp.mean(optax.sigmoid_binary_cross_entropy(predicted, similarity)), error

    @partial(jax.jit, donate_argnums=(0, 1))
    def update(params: Params, state: Any, *batch: Array) -> Any:
        (_, error), slope = jax.value_and_grad(loss, has_aux=True)(params, *batch)
        change, state = optimizer.update(slope, state, params)
        return optax.apply_updates(params, change), state, error

    first = 0
    if checkpoint:
        first, (params, state) = checkpoint.load((params, state))
    random = Random(f"pairs {training.seed} from {first}" if first else f"pairs {training.seed}")
    errors = []
    for step in range(first + 1, training.steps + 1):
        pairs = [training.draw(random, step) for _ in range(training.pairs)]
        encodings = tokenizer.encode_batch([(pair.text, pair.altered) for pair in pairs])
        similarity = np.array([pair.similarity for pair in pairs], np.float32)
        batch = (*pad(encodings, training.pair_tokens), similarity)
        params, state, error = update(params, state, *batch)
        errors.append(error)
        if step % every == 0 or step == training.steps:
            on_progress(Progress(step, float(np.mean([float(x) for x in errors]))))
            errors.clear()
            if checkpoint:
                checkpoint.save(step, (params, state))
    return params
