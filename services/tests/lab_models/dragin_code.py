"""DRAGIN as the code of its authors computes it, written again in numpy from its description.

It knows nothing of the triggers, the queries and the loop: it reads the lab's model by its graph,
from the token ids that the model writes to the words that are retrieved for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from scaar.lab.models import LAB_LM, model_folder

Array = np.ndarray[Any, Any]
ContentWords = Callable[[Sequence[str]], Sequence[bool]]
"""Which words of a text are content words, by a tagger."""


@dataclass(frozen=True)
class Hits:
    """The words of a sentence, their values, and which of them are hallucinated."""

    words: list[str]
    values: Array
    hit: list[bool]


@dataclass(frozen=True)
class Draft:
    """What the model writes after a prompt, with the attention and the entropy of its words."""

    text: str
    words: list[str]
    attention: Array
    entropies: Array

    def judge(self, before: str, sentence: str, theta: float, content: ContentWords) -> Hits:
        """Return the hits of a sentence that the draft has after the text ``before``."""
        first = len(before.split())
        place = slice(first, first + len(sentence.split()))
        words = self.words[place]
        assert words == sentence.split()
        share = self.attention[place] / self.attention[place].sum()
        values = share * self.entropies[place] * len(words)
        hit = (values > theta) & np.array(content(words))
        return Hits(words, values, hit.tolist())


class Code:
    """The lab's model, from its files."""

    def __init__(self) -> None:
        folder = model_folder(LAB_LM)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._end = self._tokenizer.token_to_id("</s>")
        self._past = [each for each in self._session.get_inputs() if "past_key_values" in each.name]

    def write(self, prompt: str, *, most: int) -> Draft:
        """Write greedily to the end or for ``most`` tokens, then read the written tokens alone."""
        ids, written, entropies = self._tokenizer.encode(prompt).ids, list[int](), list[float]()
        logits, _, past = self._run(ids, {})
        while len(written) < most and self._end not in written:
            if written:
                logits, _, past = self._run(written[-1:], past)
            chances = np.exp(logits[-1] - logits[-1].max(), dtype=float)
            chances /= chances.sum()
            entropies.append(-(chances * np.log(chances + 1e-10)).sum())
            written.append(int(logits[-1].argmax()))
        _, heads = self.read(written)
        received = heads.max(axis=1).mean(axis=0)
        if written[-1] == self._end:  # it attends, and is no word
            written.pop()
        words, groups = self._words(written)
        return Draft(
            self._tokenizer.decode(written),
            words,
            np.array([received[group].sum() for group in groups]),
            np.array([np.mean([entropies[at] for at in group]) for group in groups]),
        )

    def query(self, text: str, hit: Sequence[bool], top: int, content: ContentWords) -> str:
        """Return the query for a text whose last words are a sentence with hits."""
        ids = self._tokenizer.encode(text).ids
        words, groups = self._words(ids)
        paid = self.read(ids)[1].mean(axis=0)
        first, total = len(words) - len(hit), np.zeros(len(ids))
        for number, hits in enumerate(hit, first):
            group = groups[number]
            for token in group if hits else []:
                before = paid[token - 1][: group[0]]
                total[: group[0]] += before / before.sum() / len(group)
        attention = [total[group].sum() for group in groups]
        kept = [
            at
            for at, real in enumerate(content(words))
            if real and not (at >= first and hit[at - first])
        ]
        best = sorted(kept, key=lambda at: -attention[at])[:top]
        return " ".join(words[at] for at in sorted(best))

    def _words(self, ids: Sequence[int]) -> tuple[list[str], list[list[int]]]:
        """Return the words, and the positions of the tokens of each."""
        texts, groups = [self._tokenizer.decode([each]) for each in ids], list[list[int]]()
        for at, text in enumerate(texts):
            if not groups or text[:1].isspace():
                groups.append([])
            groups[-1].append(at)
        return ["".join(texts[at] for at in group).strip() for group in groups], groups

    def read(self, ids: Sequence[int]) -> tuple[Array, Array]:
        """Return the logits, and the attention of the last layer by heads, of a text."""
        logits, heads, _ = self._run(ids, {})
        return logits, heads

    def _run(
        self, ids: Sequence[int], past: Mapping[str, Array]
    ) -> tuple[Array, Array, dict[str, Array]]:
        """Read tokens after those of ``past``; return also the keys and values of all of them."""
        empty = {
            each.name: np.zeros((1, each.shape[1], 0, each.shape[3]), np.float32)
            for each in self._past
        }
        past = past or empty
        before = next(iter(past.values())).shape[2]
        fed: dict[str, Array] = {
            "input_ids": np.array([ids]),
            "attention_mask": np.ones((1, before + len(ids)), np.int64),
            "position_ids": np.arange(before, before + len(ids))[None],
        }
        present = [name.replace("past_key_values", "present") for name in past]
        logits, heads, *kept = self._session.run(
            ["logits", "last_attention", *present], {**fed, **past}
        )
        return logits[0], heads[0], dict(zip(past, kept, strict=True))
