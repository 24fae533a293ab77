"""Style rules that no linter checks: short functions, documented arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[1] / "psm_sim"
LONGEST_FUNCTION = 16


class Function(NamedTuple):
    """A function or method: its class if it has one, whether users may call it, and its syntax."""

    module: str
    owner: ast.ClassDef | None
    public: bool
    node: ast.FunctionDef

    @property
    def name(self) -> str:
        """Where it is, for whoever has to mend it."""
        return ":".join([self.module, *([self.owner.name] if self.owner else []), self.node.name])

    @property
    def lines(self) -> int:
        """Its length without decorators and docstring."""
        first = self.node.body[0]
        documented = ast.get_docstring(self.node) is not None
        docstring = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
        return (self.node.end_lineno or 0) - self.node.lineno + 1 - docstring

    @property
    def arguments(self) -> list[str]:
        """The names of its arguments, the object itself not counted."""
        declared = self.node.args
        names = [each.arg for each in (*declared.posonlyargs, *declared.args, *declared.kwonlyargs)]
        return names[1:] if self.owner and names[:1] in (["self"], ["cls"]) else names

    @property
    def documented(self) -> bool:
        """Whether its docstring names every argument."""
        docstring = ast.get_docstring(self.node) or ""
        return all(re.search(rf"\b{name}\b", docstring) for name in self.arguments)


@cache
def sources() -> dict[str, str]:
    """Return the text of every module, by its path in the package."""
    return {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
    }


@cache
def functions() -> list[Function]:
    """Return every function and method of the package, nested ones too."""
    return [each for module, text in sources().items() for each in within(module, ast.parse(text))]


def within(
    module: str, node: ast.AST, owner: ast.ClassDef | None = None, public: bool = True
) -> Iterator[Function]:
    """Yield the functions below *node*; those inside another function are nobody's to call."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from within(module, child, child, public and not child.name.startswith("_"))
        elif isinstance(child, ast.FunctionDef):
            yield Function(module, owner, public and not child.name.startswith("_"), child)
            yield from within(module, child, None, False)
        else:
            yield from within(module, child, owner, public)


def inherits_its_words(function: Function) -> bool:
    """Say whether a method of the same name, in a class it is derived from, documents its arguments."""
    if function.owner is None:
        return False
    bases = {ast.unparse(base).partition("[")[0] for base in function.owner.bases}
    above = [each for each in functions() if each.owner and each.owner.name in bases]
    return any(
        each.node.name == function.node.name and (each.documented or inherits_its_words(each))
        for each in above
    )


def refers_to_words(function: Function) -> bool:
    """Say whether its docstring says "as for" a function, or a class's method of its name, with the words."""
    docstring = ast.get_docstring(function.node) or ""
    names = re.findall(r"\bas for\s+:\w+:`~?(?:\w+\.)*(\w+)`", docstring)
    return any(
        each.documented and set(each.arguments) >= set(function.arguments)
        for each in functions()
        if each.node.name in names
        or (each.owner and each.owner.name in names and each.node.name == function.node.name)
    )


def test_nine_functions_in_ten_are_short() -> None:
    """At most 16 lines each, docstring not counted."""
    long = [each.name for each in functions() if each.lines > LONGEST_FUNCTION]
    assert len(long) <= 0.1 * len(functions()), long


def test_functions_of_three_arguments_document_each_of_them() -> None:
    """By name: in its docstring, in that of the one it overrides, or in that of the one it refers to."""
    found = [
        each.name
        for each in functions()
        if each.public
        and len(each.arguments) >= 3
        and not (each.documented or inherits_its_words(each) or refers_to_words(each))
    ]
    assert not found
