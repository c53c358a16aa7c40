"""The table of keys in the documentation, made of the models that check them."""

from __future__ import annotations

from collections.abc import Iterator

from cbsim.formats.shift.grammar import RECORDS

__all__ = ["key_table"]


def key_table() -> Iterator[str]:
    """Give a row of the table for every key: where it stands, its name, what becomes of it, its meaning."""
    for place, model in RECORDS.items():
        for name, field in model.model_fields.items():
            extra = field.json_schema_extra
            status = extra["status"] if isinstance(extra, dict) else ""
            needed = " (needed)" if field.is_required() else ""
            meaning = (field.description or "").replace("|", "\\|")
            yield f"| {place} | `{name}` | {status}{needed} | {meaning} |"
