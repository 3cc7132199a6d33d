"""Retrieved passages for a page: which of them are new, and what a sentence was written with."""

from collections.abc import Sequence
from dataclasses import dataclass

from scaar.console.differences import Piece, marked, words_to_mark
from scaar.console.passage_names import name_of, passage_path, passages_text, short_name
from scaar.console.record_rows import shortened
from scaar.core.types import PassagesRetrieved, RetrievedPassage


@dataclass(frozen=True, slots=True)
class PassageView:
    """A retrieved passage with the words of the query marked. ``whole_name`` is empty if shown."""

    passage: RetrievedPassage
    name: tuple[Piece, ...]
    whole_name: str
    excerpt: str
    text: tuple[Piece, ...]
    parts: tuple[tuple[str, str], ...]
    path: str


@dataclass(frozen=True, slots=True)
class PassagesView:
    """The passages of a search: the new ones, and those that the answer has retrieved before.

    ``heading`` is above the new ones, ``repeated`` above the others, which a page folds.
    """

    new: tuple[PassageView, ...]
    old: tuple[PassageView, ...]
    heading: str
    repeated: str


@dataclass(frozen=True, slots=True)
class WrittenWith:
    """What a sentence was written with; empty if it is what the sentence was searched for.

    ``is_above`` is whether the page names the passages above, ``is_same`` whether the sentence
    before was written with the same ones, or without passages like this one.
    """

    text: str
    is_above: bool = True
    is_same: bool = False


class PassageList:
    """The passages of one answer as its searches find them."""

    def __init__(self) -> None:
        self.query = ""
        """The query whose words are marked in the passages that it finds."""
        self.last: tuple[RetrievedPassage, ...] = ()
        """The passages of the last search."""
        self._seen: set[str] = set()
        self._written_with: frozenset[str] | None = None
        """The passages of the last sentence; None before the first one."""
        self._found: frozenset[str] = frozenset()
        """The passages that were found since the last sentence."""

    def add(self, event: PassagesRetrieved) -> PassagesView:
        """Return the view of the passages that a search has found."""
        wanted = words_to_mark(self.query)
        views = [_view(passage, wanted, event.index) for passage in event.passages]
        new = tuple(view for view in views if view.passage.id not in self._seen)
        old = tuple(view for view in views if view.passage.id in self._seen)
        are_last = _ids(self.last) == _ids(event.passages)
        self.last = event.passages
        self._seen |= _ids(event.passages)
        self._found |= _ids(event.passages)
        return PassagesView(new, old, _heading(len(new)), _repeated(new, old, are_last=are_last))

    def written_with(self, ids: Sequence[str], *, searched: bool) -> WrittenWith:
        """Return what a sentence was written with, relative to what is above it.

        ``searched`` is whether the search of its passages is shown with the sentence itself.
        """
        given, before, found = frozenset(ids), self._written_with, self._found
        self._written_with, self._found = given, frozenset()
        count = passages_text(len(given))
        if not given:
            return WrittenWith("Written without passages.", is_same=before == given)
        if given in (found, _ids(self.last)) and found:
            these = "this passage" if len(given) == 1 else f"these {count}"
            return WrittenWith("" if searched else f"Written with {these}.")
        if given == before:
            return WrittenWith(f"Written with {_same(len(given))}.", is_same=True)
        return WrittenWith(f"Written with {count}", is_above=False)


def parts_of(passage: RetrievedPassage) -> tuple[tuple[str, str], ...]:
    """Return the score of a passage and its parts, with their names."""
    found = [("score", f"{passage.score:.4g}")]
    if (parts := passage.score_parts) is not None:
        for name in ("words", "vectors", "fused"):
            if (ranked := getattr(parts, name)) is not None:
                found.append((name, f"{ranked.score:.4g} (rank {ranked.rank})"))
        if parts.rerank is not None:
            found.append(("reranked", f"{parts.rerank:.4g}"))
    return tuple(found)


def _view(passage: RetrievedPassage, wanted: frozenset[str], index: str) -> PassageView:
    name = name_of(passage)
    short = short_name(name)
    return PassageView(
        passage,
        marked(short, wanted),
        name if name != short else "",
        shortened(passage.text),
        marked(passage.text, wanted),
        parts_of(passage),
        passage_path(index, passage.id),
    )


def _heading(count: int) -> str:
    return f"It found {passages_text(count)}"


def _repeated(new: Sequence[PassageView], old: Sequence[PassageView], *, are_last: bool) -> str:
    if not old:
        return ""
    if new:
        return f"and {passages_text(len(old))} found before"
    if are_last:
        return f"It found {_same(len(old))}"
    return f"It found {passages_text(len(old))} that it had found before"


def _same(count: int) -> str:
    return f"the same {'passage' if count == 1 else passages_text(count)} as before"


def _ids(passages: Sequence[RetrievedPassage]) -> frozenset[str]:
    return frozenset(passage.id for passage in passages)
