"""Parser of arithmetic formulas, without evaluation by the Python interpreter.

The text is parsed into a tree of numbers, names and calls of NumPy functions. Only the operators and
functions of :mod:`psm_sim.losses.formula_nodes` are accepted.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from functools import reduce

import numpy as np

from psm_sim.common.errors import InputError
from psm_sim.losses.formula_nodes import (
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
"""Maximum length of a formula, in characters."""


def parse_expression(text: str, names: Sequence[str]) -> Node:
    """Parse a formula.

    Parameters
    ----------
    text : str
        Formula in Python syntax.
    names : sequence of str
        Names of its variables.

    Raises
    ------
    InputError
        If the text is too long or contains anything but numbers, *names*, operators and calls of
        :data:`~psm_sim.losses.formula_nodes.FUNCTIONS`. The message quotes the first invalid part.
    """
    if len(text) > MAX_LENGTH:
        raise InputError(f"The formula must have at most {MAX_LENGTH} characters, got {len(text)}.")
    tree = _parse_syntax(text)
    count = sum(1 for _ in ast.walk(tree))
    if count > MAX_NODES:
        raise InputError(f"The formula {_shorten(text)} must have at most {MAX_NODES} parts, got {count}.")
    with np.errstate(all="ignore"):
        return constant_fold(_NodeBuilder(text, names).build(tree.body), {})


def _parse_syntax(text: str) -> ast.Expression:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply"
        raise InputError(
            f"The formula {_shorten(text)} cannot be parsed: {reason}; expected arithmetic, e.g. "
            "'gamma * I * Ti**2 / (2*T) + 1/log(Ti)'."
        ) from None


class _NodeBuilder:
    """Converter of a Python syntax tree to nodes of a formula."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text, self.names = text.strip(), names

    def build(self, node: ast.expr) -> Node:
        match node:
            case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
                return self.number(node)
            case ast.Name(id=name) if name in self.names:
                return Name(name)
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS:
                return self.call(name, node)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return Call(OPERATORS[type(op)], (self.build(left), self.build(right)))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return Call(OPERATORS[type(op)], (self.build(operand),))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
                return Call(OPERATORS[type(op)], (self.build(left), self.build(right)))
            case ast.BoolOp(op=op, values=values):
                operator = OPERATORS[type(op)]
                return reduce(lambda a, b: Call(operator, (a, b)), map(self.build, values))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return Call(np.where, (self.build(test), self.build(body), self.build(orelse)))
        raise self.not_allowed_error(node)

    def number(self, node: ast.Constant) -> Number:
        try:
            value = float(node.value)  # type: ignore[arg-type]
        except OverflowError:
            value = float("inf")
        if value == float("inf"):
            raise InputError(f"The formula contains {self.quote(node)}; expected a number below 1.8e308.")
        return Number(np.float64(value))

    def call(self, name: str, node: ast.Call) -> Call:
        function, counts = FUNCTIONS[name]
        if len(node.args) not in counts:
            expected = f"{counts[0]} or more" if len(counts) > 1 else f"{counts[0]}"
            raise InputError(
                f"The formula calls {self.quote(node)} with {len(node.args)} arguments; expected {expected}."
            )
        return Call(function, tuple(map(self.build, node.args)))

    def not_allowed_error(self, node: ast.expr) -> InputError:
        return InputError(
            f"The formula contains {self.quote(node)}, which is not allowed; expected arithmetic on "
            f"{', '.join(self.names)} and numbers, with the functions {', '.join(FUNCTIONS)}."
        )

    def quote(self, node: ast.expr) -> str:
        return _shorten(ast.get_source_segment(self.text, node) or self.text)


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
