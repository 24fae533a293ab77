"""Loader of plug-ins: classes in users' files (``FILE.py:CLASS``) and entry points of packages.

A user's file can import the modules in its folder, unless a library has the same name. The folder is not
added to the import path. If it were, libraries that try to import the Windows module ``nt`` would import a
user's file ``nt.py`` on Linux.
"""

from __future__ import annotations

import ast
import inspect
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from psm_sim.common.errors import PLUGIN, InputError, PluginError, safe_repr
from psm_sim.common.opened_files import note_opened_files
from psm_sim.common.user_code_guards import limit_memory, user_code_call

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


_contents: dict[Path, bytes] = {}
"""Contents of users' files at the start of a sweep, used instead of the current files."""


@contextmanager
def use_contents(contents: Mapping[str, bytes]) -> Iterator[None]:
    """Import users' files in the block from *contents*, a mapping from path to content."""
    _contents.update({Path(path): content for path, content in contents.items()})
    try:
        yield
    finally:
        _contents.clear()


def load_class(path: str, class_name: str, base: type) -> type:
    """Import the class *class_name*, which must be derived from *base*, from the file *path*.

    Raises
    ------
    InputError
        If the file does not exist or has no such class, or if the class is not derived from *base*.
    PluginError
        If the file cannot be imported.
    """
    file = Path(path)
    expected = f"a file that defines a class derived from psm_sim's {base.__name__}"
    if not _is_file(file):
        raise InputError(f"File not found: {path!r}; expected {expected}.")
    with redirect_stdout(sys.stderr):
        module = _import(file)
    with user_code_call(f"{class_name!r} cannot be looked up in {path}"):
        cls = getattr(module, class_name, None)
    if cls is None:
        raise InputError(
            f"{path} has no class {class_name!r}; expected {_class_names(module, base) or expected}."
        )
    return checked_class(cls, base, f"{class_name} in {path}")


def installed_entry_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group such as ``psm_sim.policies``, by name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in sorted(entry_points(group=group), key=lambda point: point.name)}


def distribution_of(point: EntryPoint) -> str:
    """Return the name and version of the package that provides an entry point."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an installed package"


def load_entry_point(point: EntryPoint) -> Any:
    """Import the object of an entry point.

    Raises
    ------
    PluginError
        If the import fails; the message names the package.
    """
    with (
        redirect_stdout(sys.stderr),
        user_code_call(f"{point.name} of {distribution_of(point)} ({point.value}) cannot be imported"),
    ):
        return point.load()


def checked_class(cls: Any, base: type, owner: str) -> type:
    """Return *cls* if it is a concrete class derived from *base*. *owner* is its name and location in errors.

    Raises
    ------
    InputError
        If *cls* is not a class derived from *base*, or has abstract methods.
    """
    expected = f"a class derived from psm_sim's {base.__name__}"
    if not inspect.isclass(cls) or not issubclass(cls, base):
        got = f"class {cls.__name__}" if inspect.isclass(cls) else safe_repr(cls)
        raise InputError(f"{owner} must be {expected}, got {got}.")
    if inspect.isabstract(cls):
        missing = ", ".join(sorted(vars(cls)["__abstractmethods__"]))
        raise InputError(f"{owner} does not define {missing}; expected {expected}.")
    return cls


def _class_names(module: ModuleType, base: type) -> str:
    names = [
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, base) and value.__module__ == module.__name__
    ]
    return "one of " + ", ".join(names) if names else ""


def imported_files(file: Path) -> list[Path]:
    """Return the modules that a user's *file* imports from its folder, directly or indirectly."""
    files, waiting = list[Path](), [file]
    while waiting:
        names = sorted(_imported_names(waiting.pop()) - sys.stdlib_module_names)
        paths = [file.parent / f"{name}.py" for name in names]
        new = [path for path in paths if _is_file(path) and path not in (file, *files)]
        files += new
        waiting += new
    return files


def _imported_names(file: Path) -> set[str]:
    try:
        nodes = list(ast.walk(ast.parse(_read(file))))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # the import reports the error
        return set()
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.partition(".")[0] for name in names}


def _is_file(file: Path) -> bool:
    return file in _contents or file.is_file()


def _read(file: Path) -> bytes:
    return _contents[file] if file in _contents else file.read_bytes()


class _FolderFinder:
    """Finder and loader of the modules in users' folders, consulted after the import path."""

    def __init__(self) -> None:
        self._files: dict[str, Path] = {}

    def add(self, files: list[Path]) -> None:
        """Add modules. A module replaces an earlier module of the same name."""
        for file in files:
            self._files[file.stem] = file
            if getattr(sys.modules.get(file.stem), "__name__", "").startswith(PLUGIN):
                del sys.modules[file.stem]

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of a module that was added, else None."""
        return ModuleSpec(name, self) if name in self._files else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module of a user's file."""
        return _import(self._files[spec.name])

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing, because the module has been executed."""


_FINDER = _FolderFinder()


def _import(file: Path) -> ModuleType:
    """Import a file as a module named after its path and content, so that an edited file is imported again.

    The name also depends on the content of the modules that the file imports from its folder.
    """
    modules = imported_files(file)
    try:
        source = _read(file)
        content = b"".join([source, *map(_read, modules)])
    except OSError as error:
        raise PluginError(f"{file} cannot be read: {error.strerror}; make it readable.") from error
    name = f"{PLUGIN}{file.stem}_{zlib.crc32(str(file.resolve()).encode() + content):08x}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(file)
    _FINDER.add(modules)
    if _FINDER not in sys.meta_path:
        sys.meta_path.append(_FINDER)
    # The module is registered before it runs, because dataclasses and pickle look up modules by name.
    sys.modules[name] = module
    limit_memory()
    try:
        with note_opened_files(), user_code_call(f"{file} cannot be imported", "fix the file"):
            exec(compile(source, str(file), "exec"), module.__dict__)  # noqa: S102 (the user's own file)
    except BaseException:
        del sys.modules[name]
        raise
    return module
