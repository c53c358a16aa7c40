"""Table of keys for the documentation, generated from the models that check them."""

from __future__ import annotations

from collections.abc import Iterator

from cbsim.formats.shift.grammar import RECORDS

__all__ = ["key_table"]


def key_table() -> Iterator[str]:
    """Return a row of the table for every key: where it stands, its name, what becomes of it, its meaning."""
    for place, model in RECORDS.items():
        shared = [name for name in ("active", "comment") if name in model.model_fields]
        for name in (*(name for name in model.model_fields if name not in shared), *shared):
            field = model.model_fields[name]
            extra = field.json_schema_extra
            status = extra["status"] if isinstance(extra, dict) else ""
            needed = " (needed)" if field.is_required() else ""
            meaning = (field.description or "").replace("|", "\\|")
            yield f"| {place} | `{name}` | {status}{needed} | {meaning} |"
