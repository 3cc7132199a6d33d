"""The type of sets of few-shot examples."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExemplarSet:
    """Few-shot examples: questions, and answers in steps that end with the answer phrase.

    The same name and version always have the same examples.
    """

    name: str
    version: int
    examples: tuple[tuple[str, str], ...]

    @property
    def label(self) -> str:
        """Name and version."""
        return f"{self.name}@{self.version}"

    @property
    def text(self) -> str:
        """The examples in the layout of a question and its answer, a line each."""
        return "".join(f"Question: {asked}\nAnswer: {answer}\n" for asked, answer in self.examples)
