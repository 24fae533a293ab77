"""Plug-ins: classes from a user's own file, named as ``FILE.py:CLASS``, and those that packages offer."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import zlib
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from psm_sim.errors import PLUGIN, CommandTerminated, PluginError, describe_error, safe_repr
from psm_sim.user_code import calling, redirect_stdout_to_stderr

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def load_class(path: str, class_name: str, base: type) -> type:
    """Return the class *class_name* of the file *path*, a subclass of *base*.

    Parameters
    ----------
    path : str
        The file, a Python module.
    class_name : str
        The name of the class in it.
    base : type
        What the class must derive from, such as ``Policy`` or ``Loss``.

    Raises
    ------
    PluginError
        If there is no such file, it does not import, has no such class, or the class is not a *base*.
    """
    file = Path(path)
    wanted = f"a file that defines a class derived from psm_sim's {base.__name__}"
    if not file.is_file():
        raise PluginError(f"There is no file {path!r}; expected {wanted}.")
    with redirect_stdout_to_stderr():
        module = _import(file)
    with calling(f"{path} cannot be asked for {class_name!r}"):
        found = getattr(module, class_name, None)
    if found is None:
        raise PluginError(f"{path} has no class {class_name!r}; expected {_classes(module, base) or wanted}.")
    return checked_class(found, base, f"{class_name} in {path}")


def installed_entry_points(group: str) -> dict[str, EntryPoint]:
    """Return what other packages offer under an entry point group such as ``psm_sim.policies``, by name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in sorted(entry_points(group=group), key=lambda point: point.name)}


def distribution_of(point: EntryPoint) -> str:
    """Return the package that offers an entry point, with its version."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an installed package"


def load_entry_point(point: EntryPoint) -> Any:
    """Return what an entry point names.

    Raises
    ------
    PluginError
        If it cannot be imported; the sentence names the package.
    """
    with (
        redirect_stdout_to_stderr(),
        calling(f"{point.name} of {distribution_of(point)} ({point.value}) cannot be imported"),
    ):
        return point.load()


def checked_class(found: Any, base: type, where: str) -> type:
    """Return *found* if it is a class derived from *base* that can be made.

    Parameters
    ----------
    found
        What a file or a package defines.
    base
        What it must derive from, such as ``Policy`` or ``Loss``.
    where
        Its name and where it is, for the errors.

    Raises
    ------
    PluginError
        If it is no such class, or does not define what *base* demands.
    """
    wanted = f"a class derived from psm_sim's {base.__name__}"
    if not inspect.isclass(found) or not issubclass(found, base):
        raise PluginError(f"{where} is {safe_repr(found)}; expected {wanted}.")
    if inspect.isabstract(found):
        missing = ", ".join(sorted(vars(found)["__abstractmethods__"]))
        raise PluginError(f"{where} does not define {missing}; expected {wanted}.")
    return found


def _classes(module: ModuleType, base: type) -> str:
    names = [
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, base) and value.__module__ == module.__name__
    ]
    return "one of " + ", ".join(names) if names else ""


class _FreshLoader(SourceFileLoader):
    """Compiles the file as it stands, so that no stale bytecode is used and none is left behind."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def _import(file: Path) -> ModuleType:
    name = _module_name(file)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file, loader=_FreshLoader(name, str(file)))
    if spec is None or spec.loader is None:
        raise PluginError(f"{file} cannot be imported; expected a file whose name ends in .py.")
    module = importlib.util.module_from_spec(spec)
    # Registered before it runs: dataclasses and pickle look their module up by name.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, (KeyboardInterrupt, CommandTerminated)):
            raise
        # SystemExit too: a script that calls sys.exit() must not end psm_sim.
        raise PluginError(
            f"{file} does not import: {describe_error(error)}; mend the file and try again."
        ) from error
    return module


def _module_name(file: Path) -> str:
    """Name a module after the file's path and content: the same in every process, new after an edit."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise PluginError(f"{file} cannot be read: {error.strerror}; make it readable.") from error
    return f"{PLUGIN}{file.stem}_{zlib.crc32(str(file.resolve()).encode() + content):08x}"
