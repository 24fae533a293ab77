"""Classes from a user's own file: ``FILE.py:CLASS``."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path

from psm_sim.errors import PluginError


def load_class(path: str, class_name: str, base: type) -> type:
    """Return the class *class_name* of the file *path*, a subclass of *base*.

    Raises
    ------
    PluginError
        If there is no such file, it does not import, has no such class, or the class is not a *base*.
    """
    file = Path(path)
    wanted = f"a file that defines a class derived from psm_sim's {base.__name__}"
    if not file.is_file():
        raise PluginError(f"There is no file {path!r}; expected {wanted}.")
    found = getattr(_import(file), class_name, None)
    if found is None:
        raise PluginError(f"{path} has no class {class_name!r}; expected {wanted}.")
    if not inspect.isclass(found) or not issubclass(found, base):
        raise PluginError(f"{class_name} in {path} is {found!r}; expected {wanted}.")
    if inspect.isabstract(found):
        missing = ", ".join(sorted(vars(found)["__abstractmethods__"]))
        raise PluginError(f"{class_name} in {path} does not define {missing}; expected {wanted}.")
    return found


def _import(file: Path) -> object:
    name = f"psm_sim_plugin_{file.stem}_{abs(hash(file.resolve()))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise PluginError(f"{file} cannot be imported; expected a file whose name ends in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise PluginError(f"{file} does not import: {reason}; mend the file and try again.") from error
    return module
