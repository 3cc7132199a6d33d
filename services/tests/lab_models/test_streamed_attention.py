"""Attention that comes with the tokens against that which is asked for: the same decisions.

The engine, its tokenizer and the loop are the real ones; the decoder writes a text token by token,
as it was cut, and pays attention by what stands where.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer

from scaar.core.loop import writer
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import (
    AnswerEvent,
    AnswerRequest,
    AttendRequest,
    Attention,
    AttentionSpan,
    BudgetLimits,
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    Granularity,
    Passage,
    PolicyOverrides,
    PolicyRequest,
    QueryBuilt,
    SentenceAccepted,
    SentenceJudged,
    Token,
)
from scaar.generator.engines.decoding.decoder import Array
from scaar.generator.engines.decoding.generator import DecodingGenerator
from scaar.generator.engines.decoding.language_model import LanguageModel, open_language_model
from scaar.generator.engines.decoding.prefix_store import PrefixStore
from scaar.lab.models import LAB_LM, model_folder
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import InMemoryRetriever, ScriptedScorer

QUESTION = "Who directed 漢字, the film 🙂 of Olstead?"
CROSSING = (". He", ".\n", "left. Then")
"""Tokens that lie across the ends of sentences, which the lab's tokenizer has none of."""
SENTENCES = (
    " The director of the film was F.W. Murnau.",
    " 🙂 was there.",
    "漢字は映画。",
    "\n\n🙂🙂 漢字。",
    " He left.",
    " Then, it ended!",
    " Naïve.",
    " The end",
    " So the answer is Murnau.",
)
POLICIES = (
    PolicyRequest("dragin", PolicyOverrides(theta=1.5, top_words=3)),
    PolicyRequest("dragin", PolicyOverrides(theta=1.5, top_words=3, granularity=Granularity.TOKEN)),
    PolicyRequest("dragin", PolicyOverrides(theta=1.5, attention_span=AttentionSpan.DRAFT)),
    PolicyRequest("flare", PolicyOverrides(trigger="attention", theta=0.2)),
    PolicyRequest("etc", PolicyOverrides(theta=0.1, top_words=3)),
    PolicyRequest("etc_reference", PolicyOverrides(theta=0.1, top_words=3)),
    PolicyRequest("flare", PolicyOverrides(theta=0.3, query="attention", top_words=3)),
)


@dataclass(frozen=True)
class Ids:
    """What the decoder has read: the tokens themselves."""

    ids: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        return len(self.ids)

    @property
    def size_bytes(self) -> int:
        return 1

    def cut(self, length: int) -> "Ids":
        return Ids(self.ids[:length])


class Teller:
    """A decoder that writes a text as it was cut, from wherever its text stands, then ends it.

    Where it stands within a token of the cut, as it does when it is gone on with by the text, it
    writes bytes until the token's end.
    """

    gives_attention = True
    hidden_layers = None

    def __init__(self, alphabet: "Alphabet", own: Sequence[int], again: Sequence[int]) -> None:
        self._alphabet = alphabet
        self._texts = (own, again)

    def begin(self) -> Ids:
        return Ids()

    def step(self, ids: Sequence[int], cache: Ids) -> tuple[Array, Ids]:
        read = (*cache.ids, *ids)
        chances = (np.arange(len(self._alphabet.of)) * (7 + read[-1]) + len(read)) % 101 / 40.0
        chances[self._next(read)] = 4.0 + (read[-1] * 13 + len(read)) % 7
        return chances, Ids(read)

    def step_attending(self, ids: Sequence[int], cache: Ids) -> tuple[Array, Array, Ids]:
        logits, after = self.step(ids, cache)
        read = np.array(after.ids)
        rows = np.arange(cache.length, after.length)[:, None]
        columns = np.arange(after.length)[None]
        weights = (read[rows] * 31 + read[columns] * 17 + rows * 7 + columns * 3) % 97 + 1.0
        weights *= columns <= rows
        return logits, weights / weights.sum(axis=1, keepdims=True), after

    def step_attended(self, ids: Sequence[int], cache: Ids) -> tuple[Array, Ids]:
        _, weights, after = self.step_attending(ids, cache)
        return weights.max(axis=0, keepdims=True), after

    def _next(self, read: Sequence[int]) -> int:
        of = self._alphabet.of
        whole = b"".join(of[each] for each in read)
        text = self._texts[b"Context:" in whole]
        written, end = len(whole) - whole.rindex(b"Answer:") - len(b"Answer:"), 0
        for each in text:
            if end == written:
                return each
            end += len(of[each])
            if written < end:
                return self._alphabet.single[of[each][written - end :][:1]]
        return 2  # </s>


class WithoutAttention:
    """The generator as if what it promises did not come with its tokens."""

    def __init__(self, generator: DecodingGenerator) -> None:
        self._generator = generator
        self.describe_model = generator.describe_model
        self.received = list[AttendRequest]()

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        async with aclosing(self._generator.generate(request)) as events:
            async for event in events:
                streamed = isinstance(event, Token | GenerationEnd)
                yield replace(event, attention=()) if streamed else event

    async def attend(self, request: AttendRequest) -> Attention:
        self.received.append(request)
        return await self._generator.attend(request)


class Telling(WithoutAttention):
    """The generator as it is; what it is asked to attend to is counted."""

    def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        return self._generator.generate(request)


class Alphabet:
    """What each token stands for: bytes, in the alphabet that GPT-2 made of them."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
        rest = [each for each in range(256) if each not in printable]
        letters = {chr(each): each for each in printable}
        letters |= {chr(256 + at): each for at, each in enumerate(rest)}
        added = tokenizer.get_added_tokens_decoder()
        names = [tokenizer.id_to_token(each) for each in range(tokenizer.get_vocab_size())]
        self.of = [
            (b"" if added[at].special else name.encode())
            if at in added
            else bytes(letters[each] for each in name)
            for at, name in enumerate(names)
        ]
        self.whole = frozenset(added)
        self.single = {each: at for at, each in enumerate(self.of) if len(each) == 1}


@dataclass(frozen=True)
class Speaker:
    """A model whose decoder is replaced, with the alphabet of its tokens."""

    model: LanguageModel
    alphabet: Alphabet

    def in_tokens(self, text: str, cuts: Sequence[int]) -> list[int]:
        """The text's tokens; those that the cuts name are taken to single bytes."""
        found = list[int]()
        for at, token in enumerate(self.model.encode_more(text)):
            apart = at % 40 in cuts and token not in self.alphabet.whole
            found += (
                [self.alphabet.single[bytes([byte])] for byte in self.alphabet.of[token]]
                if apart
                else [token]
            )
        return found

    def telling(self, own: Sequence[int], again: Sequence[int]) -> LanguageModel:
        return replace(self.model, decoder=Teller(self.alphabet, own, again))


def speaker(model: LanguageModel) -> Speaker:
    return Speaker(model, Alphabet(model.tokenizer))


@pytest.fixture(scope="module")
def lab() -> Speaker:
    return speaker(open_language_model(model_folder(LAB_LM), threads=1))


@pytest.fixture(scope="module")
def crossing() -> Speaker:
    """The same with tokens that lie across the ends of sentences."""
    model = open_language_model(model_folder(LAB_LM), threads=1)
    model.tokenizer.add_tokens([AddedToken(each, normalized=False) for each in CROSSING])
    return speaker(replace(model, vocabulary=model.tokenizer.get_vocab_size()))


@pytest.fixture(scope="module")
def chatting(lab: Speaker) -> Speaker:
    """The same with special tokens around the prompt, as a chat template puts them."""
    return speaker(replace(lab.model, turn=((1, 0, *lab.model.encode_more("user\n")), (2, 1))))


async def decided(
    model: LanguageModel,
    wrapped: Callable[[DecodingGenerator], WithoutAttention],
    policy: PolicyRequest,
    budget: BudgetLimits,
    *,
    draft_ahead: bool,
) -> tuple[list[AnswerEvent], list[AttendRequest]]:
    """The decisions of an answer, and what the generator was asked to attend to."""
    with ThreadPoolExecutor(2) as executor:
        generator = wrapped(
            DecodingGenerator(model, executor, PrefixStore(1000), engine="onnx", max_concurrent=2)
        )
        retriever = InMemoryRetriever({"lab": [Passage("p", "", "Murnau 漢字 🙂 was the film")]})
        loop = AdaptiveLoop(
            Ports(generator, ScriptedScorer({}), LocalQueryBuilder(), retriever),
            draft_ahead=draft_ahead,
            default_index="lab",
        )
        request = AnswerRequest(QUESTION, policy, budget=budget)
        async with aclosing(loop.stream_answer(request)) as events:
            kinds = (SentenceJudged, QueryBuilt, SentenceAccepted)
            reported = [event async for event in events if isinstance(event, kinds)]
    return reported, generator.received


PLENTY = 2_000

texts = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5).map("".join)
cuts = st.lists(st.integers(0, 39), max_size=20, unique=True)
budgets = st.builds(
    BudgetLimits, max_tokens=st.integers(20, 90) | st.just(PLENTY), max_retrievals=st.integers(0, 3)
)


async def all_ways(
    model: LanguageModel, policy: PolicyRequest, budget: BudgetLimits
) -> list[tuple[list[AnswerEvent], list[AttendRequest]]]:
    """Streamed or not, drafted ahead or not."""
    return [
        await decided(model, wrapped, policy, budget, draft_ahead=ahead)
        for wrapped, ahead in product((Telling, WithoutAttention), (True, False))
    ]


@settings(max_examples=20)
@given(
    chats=st.booleans(),
    policy=st.sampled_from(POLICIES),
    own=texts,
    again=texts,
    apart=cuts,
    budget=budgets,
    stops=st.booleans(),
)
def test_decisions_are_the_same_with_streamed_and_with_requested_attention(
    lab: Speaker,
    chatting: Speaker,
    chats: bool,
    policy: PolicyRequest,
    own: str,
    again: str,
    apart: list[int],
    budget: BudgetLimits,
    stops: bool,
) -> None:
    source = chatting if chats else lab
    own = own + "\nQuestion: none" if stops else own
    reported = source.telling(source.in_tokens(own, apart), source.in_tokens(again, apart))
    came, came_anew, requested, asked_anew = [
        events for events, _ in asyncio.run(all_ways(reported, policy, budget))
    ]
    assert came == requested
    assert came_anew == asked_anew
    if budget.max_tokens == PLENTY:
        assert came == came_anew


async def test_attention_is_requested_if_tokens_do_not_carry_it(lab: Speaker) -> None:
    text = lab.in_tokens("".join(SENTENCES[:3]), [])
    model = lab.telling(text, text)
    ways = await all_ways(model, replace_theta(POLICIES[0], 100.0), BudgetLimits())
    judged = [sum(isinstance(event, SentenceJudged) for event in events) for events, _ in ways]
    assert judged == [2, 2, 2, 2]
    assert [len(requested) for _, requested in ways] == [0, 0, 2, 2]


def replace_theta(policy: PolicyRequest, theta: float) -> PolicyRequest:
    return replace(policy, overrides=replace(policy.overrides, theta=theta))


@pytest.mark.parametrize("most", range(36, 66))
async def test_decisions_are_the_same_where_a_generation_is_gone_on_with_in_mid_sentence(
    lab: Speaker, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(writer, "CALL_MAX_TOKENS", most)
    # The second sentence is shorter than a call, and what shows its end longer than what was read
    # of it in the call before.
    text = " He left for the hills in cold and rain. It was in the U.S. Then it ended! So it"
    tokens = lab.in_tokens(text, range(40))
    model, policy = lab.telling(tokens, tokens), replace_theta(POLICIES[0], 100.0)
    (whole, _), (requested, _) = [
        await decided(model, wrapped, policy, BudgetLimits(), draft_ahead=True)
        for wrapped in (Telling, WithoutAttention)
    ]
    assert whole == requested
    assert sum(isinstance(event, SentenceJudged) for event in whole) == 4


@settings(max_examples=15)
@given(policy=st.sampled_from(POLICIES), own=texts, apart=cuts, budget=budgets, stops=st.booleans())
def test_a_token_across_sentences_leaves_every_word_its_attention(
    crossing: Speaker,
    policy: PolicyRequest,
    own: str,
    apart: list[int],
    budget: BudgetLimits,
    stops: bool,
) -> None:
    own = own + " It left. Then it left. He left.\n" + ("\nQuestion: none" if stops else "")
    tokens = crossing.in_tokens(own, apart)
    reported = crossing.telling(tokens, tokens)
    for events, _ in asyncio.run(all_ways(reported, policy, budget)):
        for event in events:
            if isinstance(event, SentenceJudged) and policy.name == "dragin":
                shares = [word.attention for word in event.words]
                assert None not in shares
                assert np.mean(shares) == pytest.approx(1.0)
                assert all(event.text[w.start : w.end] == w.text for w in event.words)


async def attended(speaking: Speaker, request: AttendRequest) -> tuple[list[str], int]:
    """The texts of the tokens, and how many are the prompt's."""
    with ThreadPoolExecutor(1) as executor:
        store = PrefixStore(1000)
        generator = DecodingGenerator(
            speaking.model, executor, store, engine="onnx", max_concurrent=1
        )
        attention = await generator.attend(request)
    return [token.text for token in attention.tokens], attention.prompt_tokens


async def test_special_tokens_within_a_prompt_are_separate_from_the_next_word(
    chatting: Speaker,
) -> None:
    pieces, prompt_tokens = await attended(chatting, AttendRequest("Who?", " The film"))
    assert pieces[:2] == ["", ""], "those that begin a text have no word to be part of"
    assert pieces[prompt_tokens - 2 :] == ["</s>", "<s>", " The", " film"]
    assert "" not in pieces[2:]


async def test_tokens_given_without_a_prompt_are_read_alone(lab: Speaker) -> None:
    ids = tuple(lab.model.encode_more(" The film"))
    assert await attended(lab, AttendRequest("", " The film", ids)) == ([" The", " film"], 0)
    assert await attended(lab, AttendRequest("", " The film")) == (["", " The", " film"], 1)


async def test_tokens_that_give_another_text_are_passed_over(lab: Speaker) -> None:
    # A stop string ended the text within the last of them.
    ids = tuple(lab.model.encode_more(" The film was"))
    pieces, prompt_tokens = await attended(lab, AttendRequest("Who?", " The film", ids))
    assert pieces[prompt_tokens:] == [" The", " film"]
