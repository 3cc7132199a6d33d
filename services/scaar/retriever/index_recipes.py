"""What an index is made with, and what makes the files that it is searched by."""

from scaar.core.types import DenseDescription, DenseSettings
from scaar.retriever.analysis import ANALYZER
from scaar.retriever.dense import ENCODED, Known, needing_faiss
from scaar.retriever.index_builder import SearchedBy
from scaar.retriever.index_files import Draft
from scaar.retriever.manifest import Recipe
from scaar.retriever.stored_passages import Reading, StoredPassages
from scaar.retriever.words_writer import WordsWriter


def recipe_of(settings: DenseSettings | None, reading: Reading, *, k1: float, b: float) -> Recipe:
    """The recipe of an index built now.

    Raises:
        InvalidRequest: naming each wrong setting of its vectors and its limit.
        CapabilityMissing: there is no encoder to make them, or faiss is not installed.
    """
    if settings is None:
        return Recipe(ANALYZER, k1, b)
    dense = reading.own_encoder.describe(settings)
    with needing_faiss():
        import faiss  # noqa: F401
    return Recipe(ENCODED, dense=dense)


def check_recipe(index: str, recipe: Recipe, reading: Reading) -> None:
    """Passes the recipe of an index that passages can be put into.

    Raises:
        CapabilityMissing: its vectors are another encoder's.
    """
    if recipe.dense:
        reading.own_encoder.check(index, recipe.dense)


def searched_by(
    draft: Draft, recipe: Recipe, reading: Reading, *, old: StoredPassages | None = None
) -> SearchedBy:
    """What makes the files of a draft; the vectors of passages of the old one are taken over."""
    if recipe.dense is None:
        return WordsWriter(draft.files, reading.analyzer, k1=recipe.k1, b=recipe.b)
    return _vectors_writer(draft, recipe.dense, reading, old)


def _vectors_writer(
    draft: Draft, dense: DenseDescription, reading: Reading, old: StoredPassages | None
) -> SearchedBy:
    with needing_faiss():
        from scaar.retriever.loaded_vectors import LoadedVectors
        from scaar.retriever.vectors_writer import VectorsWriter
    known: Known = old.known() if isinstance(old, LoadedVectors) else lambda _: None
    return VectorsWriter(draft.files, reading.own_encoder.encoder, dense, known=known)
