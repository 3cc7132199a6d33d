"""A sentence that says why an answer searched, or did not."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """A sentence about a decision. ``words`` are of the draft, between the two other parts."""

    before: str
    words: tuple[str, ...] = ()
    after: str = ""

    @property
    def text(self) -> str:
        """The whole sentence."""
        return f"{self.before}{', '.join(self.words)}{self.after}"
