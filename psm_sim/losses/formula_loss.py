"""Loss given by a formula, which is parsed and evaluated without the Python interpreter.

The text becomes a tree of numbers, names and calls of NumPy functions. Only the operators and functions
listed here are supported. Every number is a float64, because an integer such as ``9**9**9`` is too large.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_WEIGHT
from psm_sim.common.parameters import check_all, parameter
from psm_sim.losses.base import Loss
from psm_sim.poll import Poll

Value = Any
MAX_NODES = 200
"""Maximum number of nodes in the syntax tree of a formula; the published losses have about 30.

The tree is evaluated by nested calls, of which Python allows 1,000.
"""


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
    """Return *node* with all parts evaluated whose variables are all in *values*."""
    if isinstance(node, Name):
        return Number(values[node.name]) if node.name in values else node
    if isinstance(node, Number):
        return node
    folded = Call(node.function, tuple(constant_fold(argument, values) for argument in node.arguments))
    is_constant = all(isinstance(argument, Number) for argument in folded.arguments)
    if is_constant:
        return Number(evaluate_node(folded, {}))
    first, *others = folded.arguments
    if folded.function is np.where and isinstance(first, Number) and first.value.ndim == 0:
        return others[0] if first.value else others[1]
    if folded.function is np.multiply and _is_zero(others[0]) and _is_positive(first):
        return others[0]
    if folded.function in (np.multiply, np.divide) and _is_zero(first) and _is_positive(others[0]):
        return first
    return folded


def _is_zero(node: Node) -> bool:
    return isinstance(node, Number) and not np.any(node.value)


_POSITIVE_FUNCTIONS = (np.add, np.multiply, np.divide, np.power, np.sqrt, elementwise_min, elementwise_max)
"""Functions whose value is positive if all arguments are."""


def _is_positive(node: Node) -> bool:
    """Return whether *node* is certainly positive and finite if the time slept is positive and finite."""
    if isinstance(node, Number):
        return bool(np.all(node.value > 0) and np.all(np.isfinite(node.value)))
    if isinstance(node, Name):
        return node.name == "T"
    return node.function in _POSITIVE_FUNCTIONS and all(map(_is_positive, node.arguments))


MAX_LENGTH = 500
"""Maximum length of a formula, in characters: about twice that of a formula of :data:`MAX_NODES` nodes."""


def parse_expression(text: str, names: Sequence[str]) -> Node:
    """Parse a formula.

    Raises
    ------
    InputError
        If the text is too long or contains anything but numbers, *names*, operators and calls of
        :data:`FUNCTIONS`. The message quotes the first invalid part.
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


VARIABLES = ("I", "T", "Ti", "gamma")
"""Variables of a formula."""


@dataclass
class FormulaLoss(Loss):
    """Loss given by a formula, such as ``gamma * I * Ti**2 / (2*T) + 1/log(Ti)``.

    I is the number of buffered bytes, T the time slept in ms, and Ti the candidate polling times in ms. The
    Python interpreter does not evaluate the text, see :func:`parse_expression`. Subexpressions
    without I and T are evaluated only once for a set of candidates.

    Raises
    ------
    InputError
        If the text is not arithmetic on these four names. The message quotes the invalid part.
    """

    name = "formula"
    formula: str = parameter("1/Ti", "arithmetic on I, T, Ti and gamma")
    gamma: float = parameter(1 / 1.2e3, "value of gamma in the formula", at_least=0.0, at_most=MAX_WEIGHT)
    _tree: Node = field(init=False, repr=False, compare=False)
    _bound: Node = field(init=False, repr=False, compare=False)
    _key: bytes = field(default=b"", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_all(self, "loss formula")
        self._tree = parse_expression(self.formula, VARIABLES)
        self._bound = Number(np.float64(0.0))

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the loss of each candidate polling time, shape (n,), in nats."""
        with np.errstate(all="ignore"):
            if times_ms.tobytes() != self._key:
                self._bind(times_ms)
            values = {"I": np.float64(poll.buffered_bytes), "T": np.float64(poll.slept_ms)}
            losses = evaluate_node(self._bound, values)
        return losses if losses.shape == times_ms.shape else np.full(times_ms.shape, losses)

    def idle(self, times_ms: FloatArray) -> FloatArray | None:
        """Return the losses of a doze without buffered bytes, or None if they depend on its length."""
        losses = self(Poll(1.0), times_ms)
        with np.errstate(all="ignore"):
            is_constant = isinstance(constant_fold(self._bound, {"I": np.float64(0.0)}), Number)
        return losses if is_constant else None

    def _bind(self, times_ms: FloatArray) -> None:
        values = {"Ti": times_ms.copy(), "gamma": np.float64(self.gamma)}
        self._bound = constant_fold(self._tree, values)
        # Every call returns the same array if the formula has only Ti and gamma, so the array is read-only.
        if isinstance(self._bound, Number) and isinstance(self._bound.value, np.ndarray):
            self._bound.value.flags.writeable = False
        self._key = times_ms.tobytes()

    def __str__(self) -> str:
        return self.formula
