"""Texts of files and processes as a part of a message."""


def one_line(text: str, *, length: int) -> str:
    """Return the printable characters of a text in one line of at most this length.

    White space becomes single spaces, and control characters are left out.
    """
    words = ("".join(filter(str.isprintable, word)) for word in text.split())
    return " ".join(word for word in words if word)[:length].rstrip()
