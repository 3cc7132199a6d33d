"""What may be behind a connection that is not made, as far as the words of its failure tell."""

_CAUSES = (
    ("WRONG_VERSION_NUMBER", "it speaks plaintext there, and this client TLS"),
    ("CERTIFICATE_VERIFY_FAILED", "its certificate is of no authority that this client trusts"),
    ("Hostname Verification Check failed", "its certificate is for another name than the target's"),
    (
        "Socket closed",
        "it closes connections as they are made, as does a server of TLS where a client speaks "
        "plaintext, or shows no certificate or one of another authority",
    ),
)


_NO_CONNECTION = (
    "failed to connect to all addresses",
    "connections to all backends failing",
    "empty address list",
    "errors resolving",
)
"""How gRPC begins where none was made; one that breaks off is another matter."""


def is_unreached(details: str) -> bool:
    """Return whether a call with these details failed before a server received it."""
    return details.startswith(_NO_CONNECTION)


def cause_of(details: str) -> str:
    """The cause, in a clause; empty where nothing is known."""
    if not is_unreached(details):
        return ""
    return next((cause for sign, cause in _CAUSES if sign in details), "")
