"""Training pairs of ``lab-meaning-encoder``: two sentences, labelled as same or other meaning.

The label is about the whole pair, and no word has a label. Two sentences with the same meaning
state the same facts with other words of style; two with another meaning differ in a fact or in the
subject as well. Sentences, names and words of style share no word with those of sentence forms
(:mod:`scaar.lab.sentences`), so the encoder can only learn what carries meaning in general. Names
are generated from syllables, and a word is encoded as its first character and its last two, so that
unseen words have known tokens.
"""

import string
from dataclasses import dataclass, replace
from itertools import product
from random import Random

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from scaar.lab import names
from scaar.lab.training.pairs import Pair
from scaar.lab.vocabulary import BOS, BOS_ID, EOS, EOS_ID, SPECIAL_TOKENS

STYLE_WORDS = tuple(
    """
    happily sadly nervously angrily bitterly brightly briefly casually cheaply cruelly daily deeply
    directly doubly easily exactly faintly fiercely finely freely freshly generally grandly greatly
    harshly heavily hourly hugely idly jointly justly lightly likewise literally loosely madly
    meanwhile mildly narrowly naturally nicely nightly normally openly overnight painfully perfectly
    possibly promptly properly publicly rapidly readily really regularly richly roughly safely
    secretly sharply shortly silently sincerely somehow somewhat soon steadily sternly strangely
    strongly suddenly supremely thickly tightly together tomorrow typically unusually vaguely warily
    weakly weekly widely wildly yearly yet zealously altogether anyhow besides elsewhere hence
    otherwise thus
    """.split()
)
SUBJECTS = ("ship", "barge", "schooner", "captain", "harbour", "vessel", "convoy")
MARKERS = {
    "place": (
        "sailed to",
        "left",
        "sank near",
        "traded throughout",
        "returned from",
        "wintered off",
    ),
    "person": ("obeyed", "hired", "served under", "rescued", "met", "answered to"),
    "number": ("lasted until", "began during", "weighed", "cost", "carried"),
}
MOST_FACTS, MOST_STYLE_WORDS = 3, 9
_ONSETS = "b br c ch d dr f fr g gr h j k kl l m n p pr qu r s sh st t tr v w z".split()
_VOWELS = "a e i o u ai ea ou".split()
_CODAS = "b c d f g k l m n p r s t x z ck ng rt lm".split()
_UNKNOWN, _SPACE = "<unk>", "▁"
_WORLD_NAMES = frozenset(
    (*names.FIRST_NAMES, *names.LAST_NAMES, *names.PLACES, *names.TITLE_ADJECTIVES)
)


@dataclass(frozen=True, slots=True)
class _Fact:
    kind: str
    marker: str
    value: str


@dataclass(frozen=True, slots=True)
class _Report:
    """What a sentence says: a subject with its name, and facts."""

    subject: str
    name: str
    facts: tuple[_Fact, ...]


def draw_meaning_pair(random: Random, *, share: float = 1.0) -> Pair:
    """Draw two sentences, each after the name of the same subject, half with the same meaning.

    ``share`` is that of the training that is over. The first pairs have no words of style and
    differ in everything or nothing; from 0.6 on, pairs are those of the acceptance.
    """
    first = _draw_report(random)
    same = random.random() < 0.5
    if same:
        second = first
    elif share < 0.3:
        second = replace(_draw_report(random), subject=first.subject)
    else:
        second = _other_meaning(first, random)
    style_words = round(MOST_STYLE_WORDS * min(1.0, max(0.0, (share - 0.2) / 0.4)))
    texts = [f"{first.name}: {_sentence(each, style_words, random)}" for each in (first, second)]
    return Pair(texts[0], texts[1], float(same))


def build_meaning_tokenizer() -> Tokenizer:
    """Return the tokenizer for pairs of texts, with one or two tokens for each word.

    The first is the first character, after its space, and the second the last two characters, or
    the last one of a word of two. What is between them is omitted.
    """
    letters, digits = string.ascii_letters, string.digits
    ends = [*string.ascii_lowercase, *digits]
    for kind in (string.ascii_lowercase, digits):
        ends += map("".join, product(kind, repeat=2))
    starts = [*string.punctuation, *(f"{_SPACE}{each}" for each in letters + digits)]
    known = [*SPECIAL_TOKENS, _UNKNOWN, *starts, *ends]
    ids = {token: number for number, token in enumerate(dict.fromkeys(known))}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token=_UNKNOWN))
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL_TOKENS])
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(r"(?<=\w)\w+(?=\w\w)"), ""),
            normalizers.Replace(" ", _SPACE),
            normalizers.Prepend(_SPACE),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(
        Regex(rf"{_SPACE}\w|\w+|[^\w{_SPACE}]"), behavior="isolated"
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A {EOS}",
        pair=f"{BOS} $A {EOS} $B:1 {EOS}:1",
        special_tokens=[(BOS, BOS_ID), (EOS, EOS_ID)],
    )
    return tokenizer


def _draw_report(random: Random) -> _Report:
    count = random.randint(1, MOST_FACTS)
    facts = tuple(_draw_fact(random.choice(list(MARKERS)), random) for _ in range(count))
    return _Report(random.choice(SUBJECTS), _draw_name(random, random.randint(1, 2)), facts)


def _draw_fact(kind: str, random: Random) -> _Fact:
    return _Fact(kind, random.choice(MARKERS[kind]), _draw_value(kind, random))


def _draw_value(kind: str, random: Random) -> str:
    match kind:
        case "number":
            return str(random.randint(30, 1879))
        case "person":
            return _draw_name(random, 2)
        case _:
            return _draw_name(random, 1)


def _draw_name(random: Random, words: int) -> str:
    """Draw a name of generated words, none of which is in a name of the world."""
    drawn: list[str] = []
    while len(drawn) < words:
        syllables = (
            random.choice(_ONSETS) + random.choice(_VOWELS) for _ in range(random.randint(1, 3))
        )
        word = "".join((*syllables, random.choice(_CODAS))).capitalize()
        if word not in _WORLD_NAMES:
            drawn.append(word)
    return " ".join(drawn)


def _other_meaning(report: _Report, random: Random) -> _Report:
    """Change the name of the subject or one fact: its value, its relation or its presence."""
    facts = list(report.facts)
    at = random.randrange(len(facts))
    fact = facts[at]
    change = random.random()
    if change < 0.2:
        return replace(report, name=_changed_name(report.name, random))
    if change < 0.6:
        words = fact.value.split()
        value = (
            _changed_name(fact.value, random)
            if len(words) > 1 and random.random() < 0.5
            else _draw_value(fact.kind, random)
        )
        facts[at] = replace(fact, value=value)
    elif change < 0.8 or len(facts) == 1:
        others = [each for each in MARKERS[fact.kind] if each != fact.marker]
        facts[at] = replace(fact, marker=random.choice(others))
    else:
        del facts[at]
    return replace(report, facts=tuple(facts))


def _changed_name(name: str, random: Random) -> str:
    words = name.split()
    words[random.randrange(len(words))] = _draw_name(random, 1)
    return " ".join(words)


def _sentence(report: _Report, style_words: int, random: Random) -> str:
    """State a report with at most ``style_words`` words of style between its parts."""
    parts = [f"{report.subject} {report.name}"]
    parts += [f"{fact.marker} {fact.value}" for fact in report.facts]
    places = [random.randrange(len(parts)) for _ in range(random.randint(0, style_words))]
    words = []
    for at, part in enumerate(parts):
        words.append(part)
        words += (random.choice(STYLE_WORDS) for _ in range(places.count(at)))
    return " ".join(words) + "."
