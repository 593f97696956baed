"""The condition language that stage routes, routing rules and policies share.

`{category: spam, confidence: {at_least: 0.95}}` holds when every line does. If a fact is missing,
or has a type that the operator cannot compare, its line is false; matching never raises. `all`,
`any` and `not` combine conditions. Numbers, money (`50 EUR`), durations (`30 days`) and dates are
ordered, each among their own kind. `{fact: NAME}` in place of a value compares two facts.
"""

from deskhand.conditions.compiler import ConditionError, compile_condition
from deskhand.conditions.condition import AllOf, AnyOf, Comparison, Condition, Not, Relation
from deskhand.conditions.operators import OPERATORS

__all__ = [
    "OPERATORS",
    "AllOf",
    "AnyOf",
    "Comparison",
    "Condition",
    "ConditionError",
    "Not",
    "Relation",
    "compile_condition",
]
