"""The lab's tokenizer: byte-level, with one token for every word of the closed world.

The vocabulary contains the 256 bytes and the words of the world, and there are no merges. A word in
the vocabulary is one token (``ignore_merges``); any other text is encoded as bytes. The result is a
standard ``tokenizer.json``, which ``transformers``, TGI and vLLM load.
"""

from collections.abc import Sequence

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors

from scaar.lab import names
from scaar.lab.questions import ANSWER_PHRASE, PLAINLY, TEMPLATES
from scaar.lab.questions.inference import KINSHIPS
from scaar.lab.sentences.free_words import OTHER_WORDS
from scaar.lab.sentences.questions import AT_THE_END, RATE_NAMES, RELATION_NAMES, TEMPLATE
from scaar.lab.sentences.statements import MARKERS

PAD, BOS, EOS = "<pad>", "<s>", "</s>"
SPECIAL_TOKENS = (PAD, BOS, EOS)
PAD_ID, BOS_ID, EOS_ID = range(3)

_LINE_STARTS = (
    *("Context", "Question", "Answer", "Facts"),
    *("Who", "When", "Where", "Which", "Are", "Were"),
)
PASSAGE_STARTS = ("The", *names.FIRST_NAMES)
"""The words with which passages start. After a tag, they follow without a space."""
_PASSAGE_MARKS = tuple(f"[{number}]" for number in range(1, 10))
_STATEMENT_WORDS = tuple(
    "film movie picture was indeed reportedly directed made by released in stars born on died a "
    "director from father mother spouse of The the earlier later years is and are same For for yes "
    "no first".split()
)
_PIECES = Regex(r"\[\d+\]| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")


def form_words() -> list[str]:
    """Return the words that sentence forms and their questions add to the default world's."""
    template = TEMPLATE.replace("{", " {").replace(".", "").split()
    words = (
        *(word for word in template if not word.startswith("{")),
        *AT_THE_END.split(),
        *RATE_NAMES.values(),
        *RELATION_NAMES.values(),
        *MARKERS.values(),
        *sorted(OTHER_WORDS),
    )
    known = set(vocabulary())
    return [word for word in dict.fromkeys(words) if f"Ġ{word}" not in known]


def vocabulary(more: Sequence[str] = ()) -> list[str]:
    """Return every token in the order of ids: special tokens, bytes, words, ``more`` words."""
    template_words = {
        word.strip("?,.")
        for text in (*TEMPLATES, *KINSHIPS, PLAINLY, ANSWER_PHRASE)
        for word in text.split()
        if not word.startswith("{")
    }
    words = (
        *sorted(template_words | set(_STATEMENT_WORDS)),
        *names.FIRST_NAMES,
        *names.LAST_NAMES,
        *names.PLACES,
        *names.COUNTRIES,
        *names.TITLE_ADJECTIVES,
        *names.TITLE_NOUNS,
        *names.MONTHS,
        *names.DAYS,
        *names.YEARS,
        *more,
    )
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    spaced = [f"Ġ{word}" for word in dict.fromkeys(words)]
    return [*SPECIAL_TOKENS, *alphabet, *_LINE_STARTS, *_PASSAGE_MARKS, *spaced]


def build_tokenizer(
    *,
    pairs: bool = False,
    forms: bool = False,
    tags: Sequence[str] = (),
    words: Sequence[str] = (),
) -> Tokenizer:
    """Return the tokenizer of the language model, or of the cross-encoder if ``pairs`` is set.

    The former starts a text with ``<s>``. The latter encodes a pair as ``<s> A </s> B </s>``, with
    token type 1 for B. With ``forms``, the words of sentence forms are tokens too. With ``tags``,
    each tag is one token of the decoded text, and so are the words that follow a tag without a
    space; their ids follow those of the other tokens. ``words`` are further words.
    """
    more = (*(form_words() if forms else ()), *words)
    tokens = [*vocabulary(more), *(PASSAGE_STARTS if tags else ())]
    ids = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=[], ignore_merges=True))
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL_TOKENS])
    tokenizer.add_tokens([AddedToken(tag, special=False, normalized=False) for tag in tags])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(_PIECES, behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    frame = processors.TemplateProcessing(
        single=f"{BOS} $A {EOS}" if pairs else f"{BOS} $A",
        pair=f"{BOS} $A {EOS} $B:1 {EOS}:1" if pairs else f"{BOS} $A $B",
        special_tokens=[(BOS, BOS_ID), (EOS, EOS_ID)],
    )
    tokenizer.post_processor = processors.Sequence(
        [frame, processors.ByteLevel(trim_offsets=False)]
    )
    return tokenizer
