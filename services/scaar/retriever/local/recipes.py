"""Recipes of new indexes, and the writers of their search files."""

from functools import partial

from scaar.core.distributions import library_required
from scaar.core.types import DenseDescription, DenseSettings
from scaar.retriever.dense import VectorLookup
from scaar.retriever.local.analysis import analyzer_of
from scaar.retriever.local.builder import SearchWriter
from scaar.retriever.local.files import PendingIndex
from scaar.retriever.local.manifest import Recipe
from scaar.retriever.local.stored_passages import StoredPassages, TextAnalysis
from scaar.retriever.local.words_and_vectors_writer import WordsAndVectorsWriter
from scaar.retriever.local.words_writer import WordsWriter


def recipe_of(
    index: str, settings: DenseSettings | None, analysis: TextAnalysis, *, k1: float, b: float
) -> Recipe:
    """Return the recipe of a new index. Blocks while its encoder is opened.

    Raises:
        InvalidRequest: naming each invalid setting of the vectors and its limit.
        CapabilityMissing: vectors need an encoder and faiss, and one of them is missing.
    """
    if settings is None:
        return Recipe(analyzer_of(None), k1, b)
    dense = analysis.configured_encoder.describe(index, settings)
    with library_required("a vector index", "dense"):
        import faiss  # noqa: F401
    if not settings.words:
        return Recipe(analyzer_of(dense), dense=dense)
    return Recipe(analyzer_of(dense), k1, b, dense)


def check_recipe(index: str, recipe: Recipe, analysis: TextAnalysis) -> None:
    """Validate that the retriever can search and extend an index with this recipe.

    Blocks while its encoder is opened.

    Raises:
        CapabilityMissing: the index was built with another encoder.
    """
    if recipe.dense:
        analysis.configured_encoder.check(index, recipe.dense)


def searched_by(
    pending: PendingIndex,
    recipe: Recipe,
    analysis: TextAnalysis,
    *,
    old: StoredPassages | None = None,
) -> SearchWriter:
    """Return the writer of a pending index's search files. Vectors of ``old`` are reused."""
    dense = recipe.dense
    if dense is not None and not dense.settings.words:
        return _vectors_writer(pending, dense, analysis, old)
    words = WordsWriter(pending.files, analysis.analyzer, k1=recipe.k1, b=recipe.b)
    if dense is None:
        return words
    return WordsAndVectorsWriter(words, _vectors_writer(pending, dense, analysis, old))


def _vectors_writer(
    pending: PendingIndex,
    dense: DenseDescription,
    analysis: TextAnalysis,
    old: StoredPassages | None,
) -> SearchWriter:
    with library_required("a vector index", "dense"):
        from scaar.retriever.local.vectors_writer import VectorsWriter
    lookup: VectorLookup = old.vector_lookup() if old is not None else lambda _: None
    encoder = partial(analysis.configured_encoder.check, pending.name, dense)
    return VectorsWriter(pending.files, encoder, dense, lookup=lookup)
