"""Loader of plug-ins: classes in users' files (``FILE.py:CLASS``) and entry points of packages."""

from __future__ import annotations

import inspect
import sys
import zlib
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from psm_sim.common.errors import PLUGIN, CommandTerminated, PluginError, describe_error, safe_repr
from psm_sim.common.opened_files import note_opened_files
from psm_sim.common.user_code_guards import user_code_call

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def load_class(path: str, class_name: str, base: type) -> type:
    """Import the class *class_name*, which must be derived from *base*, from the file *path*.

    Raises
    ------
    PluginError
        If the file does not exist, cannot be imported or has no such class, or if the class is not
        derived from *base*.
    """
    file = Path(path)
    expected = f"a file that defines a class derived from psm_sim's {base.__name__}"
    if not file.is_file():
        raise PluginError(f"File not found: {path!r}; expected {expected}.")
    with redirect_stdout(sys.stderr):
        module = _import(file)
    with user_code_call(f"{class_name!r} cannot be looked up in {path}"):
        cls = getattr(module, class_name, None)
    if cls is None:
        raise PluginError(
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
    PluginError
        If *cls* is not a class derived from *base*, or has abstract methods.
    """
    expected = f"a class derived from psm_sim's {base.__name__}"
    if not inspect.isclass(cls) or not issubclass(cls, base):
        raise PluginError(f"{owner} must be {expected}, got {safe_repr(cls)}.")
    if inspect.isabstract(cls):
        missing = ", ".join(sorted(vars(cls)["__abstractmethods__"]))
        raise PluginError(f"{owner} does not define {missing}; expected {expected}.")
    return cls


def _class_names(module: ModuleType, base: type) -> str:
    names = [
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, base) and value.__module__ == module.__name__
    ]
    return "one of " + ", ".join(names) if names else ""


def _import(file: Path) -> ModuleType:
    """Import a file under a name made from its path and content, so that an edited file is imported again."""
    try:
        source = file.read_bytes()
    except OSError as error:
        raise PluginError(f"{file} cannot be read: {error.strerror}; make it readable.") from error
    name = f"{PLUGIN}{file.stem}_{zlib.crc32(str(file.resolve()).encode() + source):08x}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(file)
    # Registered before it runs, because dataclasses and pickle look up their module by name.
    sys.modules[name] = module
    try:
        with note_opened_files():
            exec(compile(source, str(file), "exec"), module.__dict__)  # noqa: S102 (the user's own file)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, (KeyboardInterrupt, CommandTerminated)):
            raise
        # Includes SystemExit, because a script that calls sys.exit() must not end psm_sim.
        raise PluginError(f"{file} cannot be imported: {describe_error(error)}; fix the file.") from error
    return module
