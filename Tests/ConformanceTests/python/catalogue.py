# SPDX-License-Identifier: Apache-2.0
"""The cases: what is asked, what must be answered, and the function that finds out.

A case is a function of a `House`. With an `Answer` for what is wanted it returns the response, which is compared; with
a sentence it makes up its own mind and calls `expect`.
"""
import threading
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Answer:
    """A status and, unless it is a success, the reason."""
    status: int
    reason: str | None = None

    def __str__(self):
        return f"{self.status} `{self.reason}`" if self.reason else str(self.status)


@dataclass
class Case:
    id: str
    request: str
    wanted: object
    run: object
    #: Why it is not run as Apple's documents have it, or not as far as they go.
    note: str = ""
    #: Takes so long that it begins first.
    slow: bool = False


class Unmet(Exception):
    """A case found something else than it wants."""


CASES = {}
ACCEPTED = Answer(200)


def case(id, request, wanted, note="", slow=False):
    """Registers the function below as the case of this id."""
    def register(function):
        if id in CASES:
            raise ValueError(f"{id} is there already")
        CASES[id] = Case(id, request, wanted, function, note, slow)
        return function
    return register


def expect(condition, got):
    """Fails the case unless the condition holds; `got` says what there was."""
    if not condition:
        raise Unmet(f"got {got}")


def expect_answer(exchange, wanted):
    """Fails the case unless a response has this status and reason."""
    expect((exchange.status, exchange.reason) == (wanted.status, wanted.reason), f"{exchange}, want {wanted}")


@dataclass
class Record:
    """What was seen on the wire in a run, whatever the case."""
    reasons: dict = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    local: threading.local = field(default_factory=threading.local)

    def note(self, reason):
        """Remembers that the case of this thread was given a reason."""
        case_id = getattr(self.local, "case", "")
        if reason and case_id:
            with self.lock:
                self.reasons.setdefault(reason, set()).add(case_id)


RECORD = Record()
