"""Arithmetic parsed from text: only the operators and functions of a formula's nodes are accepted.

Text is parsed into a tree of numbers, names and calls of NumPy functions; nothing is ever handed to
the interpreter.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from functools import reduce

import numpy as np

from psm_sim.errors import InputError
from psm_sim.losses.expression_nodes import (
    FUNCTIONS,
    MAX_NODES,
    OPERATORS,
    Call,
    Name,
    Node,
    Number,
    constant_fold,
)

MAX_LENGTH = 500


def parse_expression(text: str, names: Sequence[str]) -> Node:
    """Read arithmetic on *names* from *text*.

    Raises
    ------
    InputError
        Naming the first piece that is not a number, one of *names*, an operator or a call of one of
        :data:`~psm_sim.losses.expression_nodes.FUNCTIONS`, or saying that the text is too long.
    """
    if len(text) > MAX_LENGTH:
        raise InputError(f"The formula has {len(text)} characters; expected at most {MAX_LENGTH}.")
    tree = _syntax(text)
    count = sum(1 for _ in ast.walk(tree))
    if count > MAX_NODES:
        raise InputError(f"The formula {_short(text)} has {count} parts; expected at most {MAX_NODES}.")
    with np.errstate(all="ignore"):
        return constant_fold(_Reader(text, names).read(tree.body), {})


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
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return Call(OPERATORS[type(op)], (self.read(left), self.read(right)))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return Call(OPERATORS[type(op)], (self.read(operand),))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
                return Call(OPERATORS[type(op)], (self.read(left), self.read(right)))
            case ast.BoolOp(op=op, values=values):
                operator = OPERATORS[type(op)]
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
