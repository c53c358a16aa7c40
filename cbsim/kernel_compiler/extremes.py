"""``min``, ``max`` and ``int`` of numbers in place: numba compiles a function for each list of types, and calls it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from numba.core import types
from numba.core.typing.templates import signature
from numba.cpython.builtins import do_minmax

__all__ = ["is_in_place", "lower_in_place", "type_in_place"]

ORDERS = {max: operator.gt, min: operator.lt}
"""Function → how a number compares with the one whose place it takes."""
NUMBERS = (types.Integer, types.Float)


def is_in_place(function: Any, kinds: Sequence[Any]) -> bool:
    """Tell whether a call of a function with arguments of some types is lowered here."""
    key = getattr(function, "typing_key", None)
    if key is int:
        return len(kinds) == 1 and isinstance(kinds[0], NUMBERS)
    return (key is max or key is min) and len(kinds) > 1 and all(isinstance(each, NUMBERS) for each in kinds)


def type_in_place(context: Any, function: Any, kinds: Sequence[Any]) -> Any:
    """Return the signature of a call, as numba finds it."""
    given = tuple(map(types.unliteral, kinds))
    if function.typing_key is int:
        return signature(given[0] if isinstance(given[0], types.Integer) else types.intp, *given)
    return signature(context.unify_types(*given), *given)


def lower_in_place(context: Any, builder: Any, function: Any, call: Any, values: Sequence[Any]) -> Any:
    """Lower a call with a signature, as numba does in a function of its own."""
    if function.typing_key is int:
        return context.cast(builder, values[0], call.args[0], call.return_type)
    return do_minmax(context, builder, call.args, values, ORDERS[function.typing_key])
