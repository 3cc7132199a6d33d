"""What the retriever and the tool read from passages."""

from scaar.client import Passage, RetrievedPassage


def url_of(passage: Passage | RetrievedPassage, field: str) -> str:
    """Return the URL of a passage, the first value of a metadata field; empty without one."""
    return next(
        (each.values[0] for each in passage.metadata if each.name == field and each.values), ""
    )
