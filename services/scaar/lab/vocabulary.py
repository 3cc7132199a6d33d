"""The lab's tokenizer: byte-level, with one token for every word of the closed world.

The vocabulary contains the 256 bytes and the words of the world, and there are no merges. A word in
the vocabulary is one token (``ignore_merges``); any other text is encoded as bytes. The result is a
standard ``tokenizer.json``, which ``transformers``, TGI and vLLM load.
"""

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors

from scaar.lab import names
from scaar.lab.questions import ANSWER_PHRASE, PLAINLY, TEMPLATES
from scaar.lab.questions.inference import KINSHIPS

PAD, BOS, EOS = "<pad>", "<s>", "</s>"
SPECIAL_TOKENS = (PAD, BOS, EOS)
PAD_ID, BOS_ID, EOS_ID = range(3)

_LINE_STARTS = (
    *("Context", "Question", "Answer", "Facts"),
    *("Who", "When", "Where", "Which", "Are", "Were"),
)
_PASSAGE_MARKS = tuple(f"[{number}]" for number in range(1, 10))
_STATEMENT_WORDS = tuple(
    "film movie picture was indeed reportedly directed made by released in stars born on died a "
    "director from father mother spouse of The the earlier later years is and are same For for yes "
    "no first".split()
)
_PIECES = Regex(r"\[\d+\]| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")


def vocabulary() -> list[str]:
    """Return every token in the order of ids: special tokens, bytes, words."""
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
    )
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    spaced = [f"Ġ{word}" for word in dict.fromkeys(words)]
    return [*SPECIAL_TOKENS, *alphabet, *_LINE_STARTS, *_PASSAGE_MARKS, *spaced]


def build_tokenizer(*, pairs: bool = False) -> Tokenizer:
    """Return the tokenizer of the language model, or of the cross-encoder if ``pairs`` is set.

    The former starts a text with ``<s>``. The latter encodes a pair as ``<s> A </s> B </s>``, with
    token type 1 for B.
    """
    ids = {token: index for index, token in enumerate(vocabulary())}
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=[], ignore_merges=True))
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL_TOKENS])
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
