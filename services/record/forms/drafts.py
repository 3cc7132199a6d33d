"""Drafts of the models of sentence forms, stored by model and form, with their labels."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tokenizers import Tokenizer

from scaar.core.types import Token
from scaar.evaluator.store.files import make_folder, read_whole, write_whole
from scaar.evaluator.store.record_json import RecordJson
from scaar.lab import layout
from scaar.lab.models import model_folder
from scaar.lab.sentences import (
    FORMS,
    FilmFacts,
    SentenceForm,
    WordKind,
    draw_form_questions,
    read_sentence,
)
from scaar.lab.training.greedy import GreedyWriter, Written
from scaar.lab.vocabulary import EOS_ID
from scaar.lab.world import World


@dataclass(frozen=True, slots=True)
class Draft:
    """A drafted sentence: its film, its tokens, and the truth of each fact that it states.

    ``kinds`` are the kinds of its words, and ``style_surprisal`` is the surprisal of its free words
    under the generator. Both, and ``labels``, are empty if the sentence has no form of the world.
    """

    form: str
    film: str
    tokens: tuple[Token, ...]
    labels: tuple[bool, ...]
    kinds: tuple[WordKind, ...]
    style_surprisal: float

    @property
    def text(self) -> str:
        """The text of the sentence."""
        return "".join(token.text for token in self.tokens)

    @property
    def wrong(self) -> bool:
        """Whether a stated fact is wrong."""
        return not all(self.labels)


def path_of(root: Path, what: str, model: str, form: SentenceForm) -> Path:
    """Return the file of a model and a form."""
    return root / what / model / f"{form.name.replace('/', '-')}.jsonl"


def write_drafts(root: Path, model: str, world: World, *, count: int) -> Iterator[SentenceForm]:
    """Draft the sentences of every form without a file; yield each form once it is stored."""
    missing = [form for form in FORMS if not path_of(root, "drafts", model, form).exists()]
    if not missing:
        return
    folder = model_folder(model)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    writer = GreedyWriter((folder / "model.onnx").read_bytes(), tokenizer)
    facts = FilmFacts.of(world)
    for form in missing:
        questions = draw_form_questions(world, form, count=count)
        written = writer.write([layout.prompt(each.question) for each in questions])
        drafts = [
            _draft(form, question.facts[0].subject, tokens_of(tokenizer, each), facts)
            for question, each in zip(questions, written, strict=True)
        ]
        store_rows(path_of(root, "drafts", model, form), map(asdict, drafts))
        yield form


def store_rows(path: Path, rows: Iterable[object]) -> None:
    """Write rows as JSON lines, all or nothing."""
    make_folder(path.parent)
    write_whole(path, "".join(f"{json.dumps(each)}\n" for each in rows).encode())


def read_drafts(root: Path, model: str, form: SentenceForm) -> list[Draft]:
    """Read the drafts of a model and a form."""
    path = path_of(root, "drafts", model, form)
    return list(RecordJson(Draft).read_lines(read_whole(path), str(path)))


def tokens_of(tokenizer: Tokenizer, written: Written) -> tuple[Token, ...]:
    """Return the tokens of an answer without its end, with their spans in the text."""
    tokens: list[Token] = []
    start = 0
    for number, logprob in zip(written.ids, written.logprobs, strict=True):
        if number == EOS_ID:
            break
        text = tokenizer.decode([number])
        tokens.append(Token(number, text, start, start + len(text), logprob))
        start += len(text)
    return tuple(tokens)


def _draft(form: SentenceForm, film: str, tokens: Sequence[Token], facts: FilmFacts) -> Draft:
    read = read_sentence("".join(token.text for token in tokens))
    return Draft(
        form.name,
        film,
        tuple(tokens),
        facts.labels(read) if read else (),
        tuple(word.kind for word in read.words) if read else (),
        sum(word.surprisal for word in read.words) if read else 0.0,
    )
