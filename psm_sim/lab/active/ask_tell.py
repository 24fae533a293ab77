"""Asking learners: they choose what is labelled next, and learn from the answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from psm_sim.errors import InputError
from psm_sim.lab.active import input_checks
from psm_sim.lab.active.serializable import Serializable, check_like
from psm_sim.random_streams import random_stream

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class AskTellLearner(Serializable, ABC, Generic[Item, Answer]):
    """Base class of learners with ``ask()`` and ``tell(answer)``.

    A subclass gives a ``name`` and supplies what is asked next, how an answer is checked and learnt, and
    what must be kept to go on later. A question that is open when the state is saved will be asked again.

    Parameters
    ----------
    seed, replication : int
        Of the random stream.
    """

    settings: ClassVar[tuple[str, ...]] = ()
    """The attributes that a saved state must share."""

    def __init__(self, seed: int = 1, replication: int = 0) -> None:
        self._rng = random_stream(seed, self.name, replication)
        self._before = self._rng.bit_generator.state
        self._asked: Item | None = None
        self.bought = 0

    def __len__(self) -> int:
        """Return the number of answers bought."""
        return self.bought

    def ask(self) -> Item:
        """Return what is to be labelled next; the same until :meth:`tell`."""
        if self._asked is None:
            self._before = self._rng.bit_generator.state
            self._asked = self._next()
        return self._asked

    def tell(self, answer: Answer) -> None:
        """Learn the answer to what was asked.

        Raises
        ------
        InputError
            If the answer cannot be used or nothing was asked; nothing is learnt then.
        """
        if self._asked is None:
            raise InputError(f"{self.name}: there is an answer but no question; call ask() before tell().")
        self._learn(self._asked, self._checked(answer))
        self._asked, self.bought = None, self.bought + 1

    def buy(self, oracle: Callable[[Item], Answer], answers: int) -> None:
        """Ask *oracle* until *answers* answers have been bought in all."""
        while self.bought < answers:
            self.tell(oracle(self.ask()))

    @abstractmethod
    def _next(self) -> Item:
        """Return what is asked next."""

    def _checked(self, answer: Any) -> Any:
        """Return the answer as it is learnt, or raise InputError; here one label, -1 or 1."""
        return input_checks.check_label(answer, self.name)

    @abstractmethod
    def _learn(self, asked: Item, answer: Answer) -> None:
        """Learn a checked answer."""

    def _settings(self) -> dict[str, Any]:
        return {key: str(getattr(self, key)) for key in self.settings}

    def _dump_state(self) -> dict[str, Any]:
        now = self._rng.bit_generator.state if self._asked is None else self._before
        return {"bought": self.bought, "stream": now, **super()._dump_state()}

    def _load_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        own = {
            "bought": int(state["bought"]),
            "_rng": check_like(self._rng, state["stream"], "stream"),
        }
        return {**own, "_asked": None, **super()._load_state(state)}
