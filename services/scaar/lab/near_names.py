"""Names that differ from another name in one word, which searches by name confuse."""

from random import Random

from scaar.lab import names


def near_title(title: str, random: Random) -> str:
    """Return the title with another adjective or noun."""
    words = title.split()
    at, choices = random.choice([(1, names.TITLE_ADJECTIVES), (2, names.TITLE_NOUNS)])
    words[at] = _another(choices, words[at], random)
    return " ".join(words)


def near_name(name: str, random: Random) -> str:
    """Return a person's name with another first or last name."""
    first, last = name.split()
    if random.random() < 0.5:
        return f"{_another(names.FIRST_NAMES, first, random)} {last}"
    return f"{first} {_another(names.LAST_NAMES, last, random)}"


def _another(choices: tuple[str, ...], than: str, random: Random) -> str:
    return random.choice([choice for choice in choices if choice != than])
