"""Hooks of MkDocs for the documentation site."""

import re

_ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):<code>~?(?:\w+\.)*(\w+)</code>")


def on_page_content(html: str, **_: object) -> str:
    """Return the HTML of a page with the roles of docstrings as plain code.

    Docstrings name other objects as ``:class:`Policy```, which Markdown would print as it is.
    """
    return _ROLE.sub(r"<code>\1</code>", html)
