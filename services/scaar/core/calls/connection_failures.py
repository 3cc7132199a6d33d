"""Probable causes of failed connections, found in the details of gRPC statuses."""

_CAUSES = (
    ("WRONG_VERSION_NUMBER", "the server uses plaintext, and this client TLS"),
    (
        "CERTIFICATE_VERIFY_FAILED",
        "this client does not trust the authority of the server's certificate",
    ),
    (
        "Hostname Verification Check failed",
        "the server's certificate is for another name than that of the target",
    ),
    (
        "Socket closed",
        "the server closes connections immediately, as a TLS server does if a client uses "
        "plaintext, or presents no certificate or one of another authority",
    ),
)

_NO_CONNECTION = (
    "failed to connect to all addresses",
    "connections to all backends failing",
    "empty address list",
    "errors resolving",
)
"""Beginnings of gRPC's details if no connection was made, unlike one that broke off."""


def is_unreached(details: str) -> bool:
    """Return whether a call with these details failed before a server received it."""
    return details.startswith(_NO_CONNECTION)


def cause_of(details: str) -> str:
    """Return the probable cause as a clause; empty if unknown."""
    if not is_unreached(details):
        return ""
    return next((cause for sign, cause in _CAUSES if sign in details), "")
