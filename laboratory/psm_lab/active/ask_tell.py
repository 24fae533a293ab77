"""Ask-and-tell interface of active learners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

from psm_lab.active import input_checks
from psm_sim.common.errors import InputError
from psm_sim.common.random_streams import random_stream

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class AskTellLearner(ABC, Generic[Item, Answer]):
    """Base class of learners with ``ask()`` and ``tell(answer)``.

    A subclass sets ``name`` and implements :meth:`_next` and :meth:`_learn`. It may extend the validation of
    answers.

    Parameters
    ----------
    seed, replication : int
        Seed and replication of the random stream.
    """

    name: ClassVar[str] = ""

    def __init__(self, seed: int = 1, replication: int = 0) -> None:
        self._rng = random_stream(seed, self.name, replication)
        self._asked: Item | None = None
        self.n_queries = 0

    def __len__(self) -> int:
        """Return the number of answers received."""
        return self.n_queries

    def ask(self) -> Item:
        """Return the item to label next. The item stays the same until :meth:`tell`."""
        if self._asked is None:
            self._asked = self._next()
        return self._asked

    def tell(self, answer: Answer) -> None:
        """Learn the answer to the current query.

        Raises
        ------
        InputError
            If the answer is invalid or there is no current query. The learner stays unchanged.
        """
        if self._asked is None:
            raise InputError(f"{self.name}: tell() requires an open query; call ask() first.")
        self._learn(self._asked, self._check_answer(answer))
        self._asked, self.n_queries = None, self.n_queries + 1

    def query(self, oracle: Callable[[Item], Answer], answers: int) -> None:
        """Query *oracle* until *answers* answers have been received in total."""
        while self.n_queries < answers:
            self.tell(oracle(self.ask()))

    @abstractmethod
    def _next(self) -> Item:
        """Return the item of the next query."""

    def _check_answer(self, answer: Any) -> Any:
        """Return the validated answer, or raise InputError.

        By default an answer is one label, -1 or 1.
        """
        return input_checks.check_label(answer, self.name)

    @abstractmethod
    def _learn(self, asked: Item, answer: Answer) -> None:
        """Learn the validated answer to the query *asked*."""
