"""Driver of kills and full disks: runs commands in children that are killed, or whose disk is full.

``python tests/files/driver.py FOLDER KILLS SEED`` prints one JSON object: cases by kind, and faults.
Each case begins with the files of an earlier run. A child is killed at the n-th opening, renaming, linking,
making or removing of a file, for every n there is, and at KILLS random moments; or no file can grow beyond
some number of bytes, which stands for a full disk. After that each file has to be old or new and complete,
and a next run has to leave nothing but its own files.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import random
import resource
import select
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from psm_sim import cli

EVENTS = {"open", "os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir", "os.chmod"}
LIMITS = (0, 1, 100, 600, 4_096, 30_000)

COMMANDS = {
    "run": "--policy psm --pages 3 --force --output OUT",
    "here": "--policy psm --pages 3 --force --output .",
    "replay": "replay --pages 2 --output OUT",
    "state": "--policy lpsm:state=OUT/s.json --pages 1",
    "synthesize": "trace synthesize --records 1500 --to OUT/s.tr.gz",
    "convert": "trace convert ucb --pages 300 --to OUT/p.csv",
    "fit": "trace fit PAGES --to OUT/p.toml",
}
"""A command that writes one file, or a set of them, in OUT."""

SLOW = {"replay"}
"""Commands that take seconds, to draw: left out where few kills are asked for."""


def draw_quickly() -> None:
    """Let pictures and the page be a few bytes that depend on the seed: drawing them takes seconds."""
    from matplotlib.figure import Figure

    from psm_sim.reporting.figures.run import write_figures
    from psm_sim.reporting.html import comparison as page

    def save(figure: Figure, target: str | Path | io.IOBase, **_: object) -> None:
        data = figure.get_label().encode() * 40_000
        if isinstance(target, io.IOBase):
            target.write(data)
        else:
            Path(target).write_bytes(data)

    Figure.savefig = save  # type: ignore[assignment]
    write_figures.frontier_of = lambda *_: []
    write_figures._figures = lambda comparison, frontier: iter(
        [("drawn", Figure(label=f"{comparison.seed}"))]
    )
    page.page_of = lambda shown, *_: f"page of seed {shown.seed}\n" * 3_000


def command(name: str, seed: int) -> list[str]:
    """Return the words of a command; what it writes depends on the seed."""
    words = [word.replace("PAGES", f"../pages{seed}.csv") for word in COMMANDS[name].split()]
    words = [word.replace("OUT", "out") for word in words]
    return words if name == "fit" else [*words, "--seed", str(seed)]


def run(
    words: list[str], armed: Callable[[], None] = lambda: None, kill_after_s: float | None = None
) -> tuple[int, str]:
    """Run a command in a child; return its exit status (a signal below 0) and its standard output.

    *armed* is called in the child before it begins; with *kill_after_s* it is killed after that time.
    """
    read, write = os.pipe()
    child = os.fork()
    if not child:
        status = 99
        with contextlib.suppress(BaseException):
            os.close(read)
            os.dup2(write, 1)
            sys.stdout = io.TextIOWrapper(io.FileIO(1, "w"), write_through=True)
            sys.stderr = io.StringIO()
            armed()
            status = cli.main(words)
            sys.stdout.flush()
        os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb", buffering=0) as pipe:
        output = output_of(pipe, child, kill_after_s)
    _, code = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(code), output.decode()


def output_of(pipe: io.RawIOBase, child: int, kill_after_s: float | None) -> bytes:
    """Return what a child writes until it ends or is killed; its number is its own until it is waited for."""
    due_s, found = None if kill_after_s is None else time.monotonic() + kill_after_s, b""
    while True:
        left_s = None if due_s is None else max(0.0, due_s - time.monotonic())
        if not select.select([pipe], [], [], left_s)[0]:
            os.kill(child, signal.SIGKILL)
            due_s = None
            continue
        piece = pipe.read(1 << 16)
        if not piece:
            return found
        found += piece


def killed_at(number: int) -> Callable[[], None]:
    """Return what makes a child kill itself at the *number*-th event that touches a file of the case."""

    def armed() -> None:
        count, here = 0, str(Path.cwd())

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal count
            if event not in EVENTS or not concerns(arguments, here):
                return
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)

    return armed


def concerns(arguments: tuple[object, ...], here: str) -> bool:
    """Say whether an event is about a file in the case's folder, and may change it."""
    name = arguments[0]
    if not isinstance(name, (str, Path)):
        return False
    reads = len(arguments) == 3 and isinstance(arguments[1], str) and set(arguments[1]) <= set("rbt")
    return not reads and (str(name).startswith(here) or not Path(str(name)).is_absolute())


def full_disk(size: int) -> Callable[[], None]:
    """Return what makes a child unable to write more than *size* bytes to one file."""
    return lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    )


def contents(folder: Path) -> dict[str, str]:
    """Return a hash of each file, of what does not change from run to run."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if path.name in ("result.json", "metadata.json"):
                data = str(json.loads(data)["seed"]).encode()  # times of day differ; cut files do not load
            if path.name == "s.json":
                data = str(sorted(json.loads(data))).encode()  # what was learned depends on the state before
            found[str(path.relative_to(folder))] = hashlib.sha256(data).hexdigest()
    return found


class Case:
    """One command in a folder with the files of an earlier run."""

    def __init__(self, root: Path, name: str) -> None:
        self.name, self.folder = name, root / name
        self.faults: list[str] = []
        self.reset()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            cli.main(command(name, 1))  # so that all modules are imported before the first child begins
        self.old, self.new = (self._after(seed) for seed in (1, 2))
        self.whole = name != "here"  # in the folder one stands in, files are renamed one by one

    def _after(self, seed: int) -> dict[str, str]:
        self.reset()
        status, _ = run(command(self.name, seed))
        assert status == 0, (self.name, status)
        kept = self.folder.parent / f"{self.name}-{seed}"
        shutil.copytree(self.folder, kept, dirs_exist_ok=True)
        return contents(self.folder)

    def reset(self, seed: int | None = None) -> None:
        """Put the files of an earlier run in place, and stand in the folder."""
        os.chdir(self.folder.parent)
        shutil.rmtree(self.folder, ignore_errors=True)
        if seed is None:
            (self.folder / "out").mkdir(parents=True)
        else:
            shutil.copytree(self.folder.parent / f"{self.name}-{seed}", self.folder)
        os.chdir(self.folder)

    def check(self, what: str) -> None:
        """Take note of what is wrong after a child that did not finish, and after the next run."""
        found = {name: value for name, value in contents(self.folder).items() if "draft" not in name}
        mixed = {
            name: value
            for name, value in found.items()
            if value not in (self.old.get(name), self.new.get(name))
        }
        if mixed or found.keys() != self.old.keys():
            self.faults.append(f"{self.name}, {what}: neither old nor new: {sorted(mixed or found)}")
        if self.whole and found not in (self.old, self.new):
            self.faults.append(f"{self.name}, {what}: the set is mixed")
        if run(command(self.name, 2))[0] or contents(self.folder) != self.new:
            self.faults.append(f"{self.name}, {what}: the next run left {sorted(contents(self.folder))}")

    def every_event(self) -> int:
        """Kill at each event in turn until a run gets through; return the number of kills."""
        for number in range(1, 1000):
            self.reset(1)
            status, _ = run(command(self.name, 2), killed_at(number))
            if status != -signal.SIGKILL:
                return number - 1
            self.check(f"killed at event {number}")
        return 0

    def random_moments(self, kills: int, random_: random.Random) -> int:
        """Kill at random moments; return the number of runs that were hit."""
        begun, hit = time.monotonic(), 0
        self.reset(1)
        run(command(self.name, 2))
        lasts = time.monotonic() - begun
        for _ in range(kills):
            self.reset(1)
            seconds = random_.uniform(0, 1.1 * lasts)
            status, _ = run(command(self.name, 2), kill_after_s=seconds)
            hit += status == -signal.SIGKILL
            self.check(f"killed after {seconds:.4f} s")
        return hit

    def full_disks(self) -> int:
        """Let the disk fill at some sizes; return how many runs it stopped."""
        stopped = 0
        for size in LIMITS:
            self.reset(1)
            status, output = run(command(self.name, 2), full_disk(size))
            stopped += status == 2
            found = contents(self.folder)
            if status not in (0, 2) or found != (self.new if status == 0 else self.old):
                self.faults.append(f"{self.name}, {size} bytes: status {status}, files {sorted(found)}")
            if self.name in ("run", "replay") and "psm" not in output and "learn" not in output:
                self.faults.append(f"{self.name}, {size} bytes: the result is lost")
        return stopped


def main(folder: str, kills: str, seed: str) -> None:
    """Drive all commands and print what was found."""
    root, random_, count, faults = (
        Path(folder).resolve(),
        random.Random(int(seed)),  # noqa: S311
        Counter[str](),
        list[str](),
    )
    for number in (1, 2):
        pages = "".join(f"{k},{number + k},{1000 * k},{200 * k};300\n" for k in range(1, 9))
        (root / f"pages{number}.csv").write_text("page,think_s,main_bytes,images\n" + pages)
    draw_quickly()
    names = [name for name in COMMANDS if name not in SLOW or int(kills) >= 100]
    for place, name in enumerate(names):
        case = Case(root, name)
        share = int(kills) * (place + 1) // len(names) - int(kills) * place // len(names)
        count["kills at a write or rename"] += case.every_event()
        count["kills at random moments"] += share
        count["of these before the end"] += case.random_moments(share, random_)
        count["full disks"] += case.full_disks()
        faults += case.faults
    json.dump({"cases": count, "faults": faults}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
