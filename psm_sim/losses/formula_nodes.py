"""Nodes of a formula: numbers, names and calls of NumPy functions.

Only the operators and functions listed here are supported. Every number is a float64, so that a power cannot
become a huge integer.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

Value = Any
MAX_NODES = 200
"""Maximum number of nodes in the syntax tree of a formula."""


@dataclass(frozen=True)
class Number:
    """Constant value."""

    value: Value


@dataclass(frozen=True)
class Name:
    """Variable, whose value is given at evaluation."""

    name: str


@dataclass(frozen=True)
class Call:
    """Function call with nodes as arguments."""

    function: Callable[..., Value]
    arguments: tuple[Node, ...]


Node = Number | Name | Call


def elementwise_min(*values: Value) -> Value:
    """Return the elementwise minimum of the values."""
    return reduce(np.minimum, values)


def elementwise_max(*values: Value) -> Value:
    """Return the elementwise maximum of the values."""
    return reduce(np.maximum, values)


FUNCTIONS: dict[str, tuple[Callable[..., Value], range]] = {
    "abs": (np.abs, range(1, 2)),
    "exp": (np.exp, range(1, 2)),
    "expm1": (np.expm1, range(1, 2)),
    "log": (np.log, range(1, 2)),
    "log10": (np.log10, range(1, 2)),
    "log1p": (np.log1p, range(1, 2)),
    "log2": (np.log2, range(1, 2)),
    "max": (elementwise_max, range(2, MAX_NODES)),
    "maximum": (elementwise_max, range(2, MAX_NODES)),
    "min": (elementwise_min, range(2, MAX_NODES)),
    "minimum": (elementwise_min, range(2, MAX_NODES)),
    "sqrt": (np.sqrt, range(1, 2)),
    "where": (np.where, range(3, 4)),
}
"""Supported functions, each with its allowed numbers of arguments."""

OPERATORS: dict[type, Callable[..., Value]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.Mod: np.mod,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
    ast.Not: np.logical_not,
    ast.And: np.logical_and,
    ast.Or: np.logical_or,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
"""NumPy function of each supported operator of Python's syntax."""


def evaluate_node(node: Node, values: Mapping[str, Value]) -> Value:
    """Return the value of *node*, with its variables from *values*."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Name):
        return values[node.name]
    result = node.function(*[evaluate_node(argument, values) for argument in node.arguments])
    return result * 1.0 if result.dtype == np.bool_ else result


def constant_fold(node: Node, values: Mapping[str, Value]) -> Node:
    """Return *node* with every part that depends on *values* alone replaced by its value."""
    if isinstance(node, Name):
        return Number(values[node.name]) if node.name in values else node
    if isinstance(node, Number):
        return node
    folded = Call(node.function, tuple(constant_fold(argument, values) for argument in node.arguments))
    is_constant = all(isinstance(argument, Number) for argument in folded.arguments)
    return Number(evaluate_node(folded, {})) if is_constant else folded
