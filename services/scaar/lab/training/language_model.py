"""Training of ``lab-lm``: a decoder in the shape of Qwen2, initialized with a circuit for reading.

Reading means to find in the passages what follows the words just written. With a standard
initialization, a model this small learns to copy but not to look up. Therefore layer 0 is
initialized to attend one to four tokens back, and layer 1 to find an earlier occurrence of these
tokens and copy what followed. All parameters are then trained.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tokenizers import Tokenizer

from scaar.lab.shapes import DecoderShape
from scaar.lab.training.checkpoints import Checkpoint
from scaar.lab.training.packing import EncodedExercise, packed_rows
from scaar.lab.training.recipes import DecoderTraining

Params = dict[str, Any]
Array = np.ndarray[Any, Any]

_PARTS = 5
"""Number of parts in which the attention of a row is computed."""


def initial_params(shape: DecoderShape, seed: int) -> Params:
    """Return the structured initialization. Matrices map rows to columns: ``x @ w``."""
    rng = np.random.default_rng(seed)
    d, ff = shape.hidden_size, shape.intermediate_size
    params: Params = {"embed": rng.normal(size=(shape.vocab_size, d)) * 0.1, "norm": np.ones(d)}
    params["layers"] = [
        {
            "attention_norm": np.ones(d),
            "feed_forward_norm": np.ones(d),
            **{name: rng.normal(size=(d, d)) * 0.02 for name in "qkvo"},
            **{f"{name}_bias": np.zeros(d) for name in "qkv"},
            "gate": rng.normal(size=(d, ff)) * 0.05,
            "up": rng.normal(size=(d, ff)) * 0.05,
            "down": rng.normal(size=(ff, d)) * 0.02,
        }
        for _ in range(shape.num_hidden_layers)
    ]
    _begin_reading(params, shape, rng)
    return dict(jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), params))


def extended_params(params: Params, tokenizer: Tokenizer, seed: int) -> Params:
    """Return the parameters of a base model with rows for the further tokens of ``tokenizer``.

    The row of a word without a space is that of the word with a space, plus an offset that all
    such words share. The rows of tags are random.
    """
    rng = np.random.default_rng(seed)
    embed = np.asarray(params["embed"])
    scale = embed.std()
    offset = rng.normal(size=embed.shape[1]) * scale
    rows = []
    for token in range(len(embed), tokenizer.get_vocab_size()):
        like = tokenizer.token_to_id(f"Ġ{tokenizer.id_to_token(token)}")
        noise = rng.normal(size=embed.shape[1]) * scale
        rows.append(noise if like is None else embed[like] + offset)
    extended = params | {"embed": np.concatenate([embed, rows])}
    return dict(jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), extended))


def _begin_reading(params: Params, shape: DecoderShape, rng: np.random.Generator) -> None:
    d, size, heads = shape.hidden_size, shape.head_size, shape.num_attention_heads

    def orthonormal(rows: int, columns: int) -> Array:
        return np.linalg.qr(rng.normal(size=(max(rows, columns),) * 2))[0][:rows, :columns]

    word = orthonormal(d, size)
    slots = [orthonormal(d, size) for _ in range(heads)]
    look_back, find = params["layers"][0], params["layers"][1]
    frequencies = shape.frequencies()
    fast = frequencies > 0.01
    amplitude = math.sqrt(6 * math.sqrt(size))
    for head in range(heads):
        columns = slice(head * size, (head + 1) * size)
        angle = frequencies * (head + 1)
        look_back["q_bias"][columns] = np.concatenate([fast * amplitude, np.zeros(size // 2)])
        look_back["k_bias"][columns] = amplitude * np.concatenate(
            [fast * np.cos(angle), fast * np.sin(angle)]
        )
        look_back["v"][:, columns] = word * 0.35
        look_back["o"][columns, :] = slots[head].T * 0.35
    turn, second_turn = orthonormal(size, size), orthonormal(size, size)
    copy = orthonormal(d, d)
    for head in range(heads):
        columns = slice(head * size, (head + 1) * size)
        if head < heads - 1:
            # Keys encode the tokens 1, 2 and 4 before the candidate, queries the current token and
            # those 1 and 3 before it, so that equal runs match and the candidate is what followed.
            find["k"][:, columns] += slots[0] + slots[1] @ turn + slots[3] @ second_turn
            find["q"][:, columns] += word + slots[0] @ turn + slots[2] @ second_turn
        find["v"][:, columns] += copy[:, columns] * 0.3
        find["o"][columns, :] += copy[:, columns].T * 0.3


def logits(shape: DecoderShape, params: Params, tokens: Array, segments: Array) -> jax.Array:
    """Return next-token logits [rows, tokens, vocabulary]. Attention is limited to segments."""
    found: jax.Array = hidden_states(shape, params, tokens, segments) @ params["embed"].T
    return found


def hidden_states(shape: DecoderShape, params: Params, tokens: Array, segments: Array) -> jax.Array:
    """Return the hidden states after the last norm, [rows, tokens, hidden size]."""
    rows, count = tokens.shape
    heads, size = shape.num_attention_heads, shape.head_size
    angles = np.arange(count)[:, None] * shape.frequencies()[None]
    cos = jnp.asarray(np.tile(np.cos(angles), 2), jnp.float32)
    sin = jnp.asarray(np.tile(np.sin(angles), 2), jnp.float32)

    def norm(x: jax.Array, weight: jax.Array) -> jax.Array:
        scale = jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + shape.rms_norm_eps)
        return x * scale * weight

    def turn(x: jax.Array) -> jax.Array:
        first, second = jnp.split(x, 2, -1)
        return x * cos + jnp.concatenate([-second, first], -1) * sin

    hidden = params["embed"][tokens]
    for layer in params["layers"]:
        z = norm(hidden, layer["attention_norm"])
        q, k, v = (
            (z @ layer[name] + layer[f"{name}_bias"])
            .reshape(rows, count, heads, size)
            .transpose(0, 2, 1, 3)
            for name in "qkv"
        )
        # One row at a time, so that its intermediate results fit the cache of a core.
        mixed = jax.lax.map(lambda row: _attended(*row), (turn(q), turn(k), v, segments))
        hidden = hidden + mixed.transpose(0, 2, 1, 3).reshape(rows, count, -1) @ layer["o"]
        z = norm(hidden, layer["feed_forward_norm"])
        hidden = hidden + (jax.nn.silu(z @ layer["gate"]) * (z @ layer["up"])) @ layer["down"]
    return norm(hidden, params["norm"])


# Recomputing the weights for the gradient is faster than storing and reading them.
@jax.checkpoint
def _attended(q: jax.Array, k: jax.Array, v: jax.Array, segments: jax.Array) -> jax.Array:
    """Return the causal attention of a row, within segments.

    Queries, keys, values and the result are [heads, tokens, head size].
    """
    count, size = q.shape[-2:]
    q = q / math.sqrt(size)
    edges = [count * part // _PARTS for part in range(_PARTS + 1)]
    taken = []
    # Process queries in parts, since keys after the last query of a part are not needed.
    for first, last in pairwise(edges):
        before = jnp.arange(first, last)[:, None] >= jnp.arange(last)
        seen = before & (segments[first:last, None] == segments[:last])
        scores = q[:, first:last] @ k[:, :last].transpose(0, 2, 1)
        taken.append(jax.nn.softmax(jnp.where(seen, scores, -1e9), -1) @ v[:, :last])
    return jnp.concatenate(taken, 1)


@dataclass(frozen=True, slots=True)
class Batch:
    """Exercises packed into rows: token ids, segment numbers (0 for padding), target weights."""

    tokens: Array
    segments: Array
    weights: Array


def batches(tokenizer: Tokenizer, training: DecoderTraining, first: int = 0) -> Iterator[Batch]:
    """Yield one batch per step from ``first`` on, of exercises of its phase."""
    for rows in packed_rows(tokenizer, training, first):
        yield _batch(rows, training)


def _batch(rows: Sequence[Sequence[EncodedExercise]], training: DecoderTraining) -> Batch:
    size = (training.rows, training.row_tokens)
    tokens, segments = np.zeros(size, np.int32), np.zeros(size, np.int32)
    weights = np.zeros(size, np.float32)
    for row, exercises in enumerate(rows):
        used = 0
        for segment, each in enumerate(exercises, 1):
            place = slice(used, used + len(each.ids))
            tokens[row, place], segments[row, place] = each.ids, segment
            weights[row, place] = each.weights
            used += len(each.ids)
    return Batch(tokens, segments, weights)


def loss(
    shape: DecoderShape, params: Params, tokens: Array, segments: Array, weights: Array
) -> tuple[jax.Array, jax.Array]:
    """Return the weighted loss, and the mean loss over answer tokens, both in nats per token."""
    predicted = logits(shape, params, tokens[:, :-1], segments[:, :-1])
    each = optax.softmax_cross_entropy_with_integer_labels(predicted, tokens[:, 1:])
    weights = weights[:, 1:]
    answers = weights >= 1
    return (each * weights).sum() / weights.sum(), (each * answers).sum() / answers.sum()


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a training: step, tokens so far, and mean answer loss since the last report."""

    step: int
    tokens: int
    loss: float


def train(
    shape: DecoderShape,
    params: Params,
    training: DecoderTraining,
    tokenizer: Tokenizer,
    *,
    on_progress: Callable[[Progress], None],
    every: int = 250,
    checkpoint: Checkpoint | None = None,
) -> Params:
    """Train and return the parameters. ``on_progress`` is called after ``every`` steps.

    With ``checkpoint``, the state is saved as often, and a training that was interrupted continues
    from the last one, with new exercises of the same kind.

    Raises:
        ValueError: the seed is not below 1,000. Worlds of reports have larger seeds.
    """
    if not 0 <= training.seed < 1000:
        raise ValueError(f"a training seed must be 0 to 999, not {training.seed}")
    schedule = _rate(training)
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adamw(schedule, b1=0.9, b2=0.98, weight_decay=0.01),
    )
    state = optimizer.init(params)

    @partial(jax.jit, donate_argnums=(0, 1))
    def update(params: Params, state: Any, tokens: Array, segments: Array, weights: Array) -> Any:
        gradient = jax.value_and_grad(partial(loss, shape), has_aux=True)
        (_, answer_loss), slope = gradient(params, tokens, segments, weights)
        change, state = optimizer.update(slope, state, params)
        return optax.apply_updates(params, change), state, answer_loss

    first = 0
    if checkpoint:
        first, (params, state) = checkpoint.load((params, state))
    seen, losses = 0, []
    for step, batch in enumerate(batches(tokenizer, training, first), first + 1):
        seen += int((batch.segments > 0).sum())
        params, state, answer_loss = update(
            params, state, batch.tokens, batch.segments, batch.weights
        )
        losses.append(answer_loss)
        if step % every == 0 or step == training.steps:
            on_progress(Progress(step, seen, float(np.mean([float(x) for x in losses]))))
            losses.clear()
            if checkpoint:
                checkpoint.save(step, (params, state))
    # The weight of the last norm scales the logits.
    return params | {"norm": params["norm"] * training.sharpness}


def _rate(training: DecoderTraining) -> optax.Schedule:
    steps, peak = training.steps, training.peak_rate
    return optax.join_schedules(
        [
            optax.linear_schedule(0.0, peak, training.warm_up_steps),
            optax.constant_schedule(peak),
            optax.linear_schedule(peak, 0.02 * peak, steps - int(0.6 * steps)),
        ],
        [training.warm_up_steps, int(0.6 * steps)],
    )
