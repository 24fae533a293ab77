"""Arithmetic parsed from text: only the operators and functions listed here are accepted.

Text is parsed into a tree of numbers, names and calls of NumPy functions; nothing is ever handed to
the interpreter. Every number is a float64, so that no power can grow into a huge integer.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from psm_sim.errors import InputError

Value = Any  # a float64 or an array of them
MAX_LENGTH = 500
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

_OPERATORS: dict[type, Callable[..., Value]] = {
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


def evaluate(node: Node, values: Mapping[str, Value]) -> Value:
    """Return the value of *node*, its names taken from *values*."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Name):
        return values[node.name]
    result = node.function(*[evaluate(argument, values) for argument in node.arguments])
    return result * 1.0 if result.dtype == np.bool_ else result


def fold(node: Node, values: Mapping[str, Value]) -> Node:
    """Return *node* with every part computed that depends on *values* alone."""
    if isinstance(node, Name):
        return Number(values[node.name]) if node.name in values else node
    if isinstance(node, Number):
        return node
    folded = Call(node.function, tuple(fold(argument, values) for argument in node.arguments))
    known = all(isinstance(argument, Number) for argument in folded.arguments)
    return Number(evaluate(folded, {})) if known else folded


def parse(text: str, names: Sequence[str]) -> Node:
    """Read arithmetic on *names* from *text*.

    Raises
    ------
    InputError
        Naming the first piece that is not a number, one of *names*, an operator or a call of one of
        :data:`FUNCTIONS`, or saying that the text is too long.
    """
    if len(text) > MAX_LENGTH:
        raise InputError(f"The formula has {len(text)} characters; expected at most {MAX_LENGTH}.")
    tree = _syntax(text)
    count = sum(1 for _ in ast.walk(tree))
    if count > MAX_NODES:
        raise InputError(f"The formula {_short(text)} has {count} parts; expected at most {MAX_NODES}.")
    with np.errstate(all="ignore"):
        return fold(_Reader(text, names).read(tree.body), {})


def _syntax(text: str) -> ast.Expression:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply"
        raise InputError(
            f"The formula {_short(text)} cannot be read: {reason}; expected arithmetic such as "
            "'gamma * I * Ti**2 / (2*T) + 1/log(Ti)'."
        ) from None


class _Reader:
    """Reader of a syntax tree: turns it into nodes, or refuses it."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text, self.names = text.strip(), names

    def read(self, node: ast.expr) -> Node:
        match node:
            case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
                return self.number(node)
            case ast.Name(id=name) if name in self.names:
                return Name(name)
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS:
                return self.call(name, node)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return Call(_OPERATORS[type(op)], (self.read(left), self.read(right)))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
                return Call(_OPERATORS[type(op)], (self.read(operand),))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
                return Call(_OPERATORS[type(op)], (self.read(left), self.read(right)))
            case ast.BoolOp(op=op, values=values):
                operator = _OPERATORS[type(op)]
                return reduce(lambda a, b: Call(operator, (a, b)), map(self.read, values))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return Call(np.where, (self.read(test), self.read(body), self.read(orelse)))
        raise self.refusal(node)

    def number(self, node: ast.Constant) -> Number:
        try:
            value = float(node.value)  # type: ignore[arg-type]
        except OverflowError:
            value = float("inf")
        if value == float("inf"):
            raise InputError(f"The formula has the number {self.piece(node)}; expected one below 1.8e308.")
        return Number(np.float64(value))

    def call(self, name: str, node: ast.Call) -> Call:
        function, counts = FUNCTIONS[name]
        if len(node.args) not in counts:
            expected = f"{counts[0]} or more" if len(counts) > 1 else f"{counts[0]}"
            raise InputError(
                f"The formula has {self.piece(node)} with {len(node.args)} arguments; expected {expected}."
            )
        return Call(function, tuple(map(self.read, node.args)))

    def refusal(self, node: ast.expr) -> InputError:
        return InputError(
            f"The formula contains {self.piece(node)}, which is not allowed; expected arithmetic on "
            f"{', '.join(self.names)} and numbers, with the functions {', '.join(FUNCTIONS)}."
        )

    def piece(self, node: ast.expr) -> str:
        return _short(ast.get_source_segment(self.text, node) or self.text)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
