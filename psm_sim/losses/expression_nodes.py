"""Nodes of a formula: numbers, names and calls of NumPy functions, and their value.

Only the operators and functions listed here exist; every number is a float64, so that no power can grow
into a huge integer.
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


@dataclass(frozen=True)
class Number:
    """A value that is known."""

    value: Value


@dataclass(frozen=True)
class Name:
    """A variable whose value comes later."""

    name: str


@dataclass(frozen=True)
class Call:
    """A function of other nodes."""

    function: Callable[..., Value]
    arguments: tuple[Node, ...]


Node = Number | Name | Call


def smallest(*values: Value) -> Value:
    """Return the smallest of the values, element by element."""
    return reduce(np.minimum, values)


def largest(*values: Value) -> Value:
    """Return the largest of the values, element by element."""
    return reduce(np.maximum, values)


FUNCTIONS: dict[str, tuple[Callable[..., Value], range]] = {
    "abs": (np.abs, range(1, 2)),
    "exp": (np.exp, range(1, 2)),
    "expm1": (np.expm1, range(1, 2)),
    "log": (np.log, range(1, 2)),
    "log10": (np.log10, range(1, 2)),
    "log1p": (np.log1p, range(1, 2)),
    "log2": (np.log2, range(1, 2)),
    "max": (largest, range(2, MAX_NODES)),
    "maximum": (largest, range(2, MAX_NODES)),
    "min": (smallest, range(2, MAX_NODES)),
    "minimum": (smallest, range(2, MAX_NODES)),
    "sqrt": (np.sqrt, range(1, 2)),
    "where": (np.where, range(3, 4)),
}
"""The functions that can be called, each with the numbers of arguments it takes."""

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
"""The NumPy function of each operator of Python's syntax that is accepted."""


def evaluate_node(node: Node, values: Mapping[str, Value]) -> Value:
    """Return the value of *node*, its names taken from *values*."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Name):
        return values[node.name]
    result = node.function(*[evaluate_node(argument, values) for argument in node.arguments])
    return result * 1.0 if result.dtype == np.bool_ else result


def constant_fold(node: Node, values: Mapping[str, Value]) -> Node:
    """Return *node* with every part computed that depends on *values* alone."""
    if isinstance(node, Name):
        return Number(values[node.name]) if node.name in values else node
    if isinstance(node, Number):
        return node
    folded = Call(node.function, tuple(constant_fold(argument, values) for argument in node.arguments))
    known = all(isinstance(argument, Number) for argument in folded.arguments)
    return Number(evaluate_node(folded, {})) if known else folded
