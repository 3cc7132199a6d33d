"""Notes beside a table: the table alone is on standard output."""

from rich.console import Console


def print_notes(*lines: str) -> None:
    """Print lines on standard error, each unwrapped."""
    console = Console(stderr=True, highlight=False)
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)
