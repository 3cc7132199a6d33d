"""The description of the interface in OpenAPI."""

from typing import Any

from fastapi import FastAPI

_VALIDATION = ("HTTPValidationError", "ValidationError")
_ERROR = {
    "title": "Error",
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string", "description": "What was wrong, and what to do."},
                "type": {"type": "string", "description": "Kind of error, as OpenAI names it."},
                "param": {
                    "type": ["string", "null"],
                    "description": "The first wrong field, if one is wrong.",
                },
                "code": {"type": "string", "description": "Stable reason, in upper case."},
            },
        }
    },
}


def describe_errors(app: FastAPI) -> None:
    """Describe errors in the form that the gateway returns, in place of FastAPI's own."""
    build = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = build()
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            for name in _VALIDATION:
                schemas.pop(name, None)
            schemas["Error"] = _ERROR
            content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
            for operations in schema["paths"].values():
                for operation in operations.values():
                    operation["responses"].pop("422", None)
                    operation["responses"]["default"] = {
                        "description": "An error.",
                        "content": content,
                    }
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]
