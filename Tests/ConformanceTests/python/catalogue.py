# SPDX-License-Identifier: Apache-2.0
"""The cases: the request, the required answer, and the function that checks it.

A case is a function of a `Stack`. If the required answer is an `Answer`, the function returns the response, which is
compared. If it is a sentence, the function decides and calls `expect`.
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
    #: The reason for a deviation from Apple's documents, or for an incomplete test of them.
    note: str = ""
    #: Whether the case takes so long that it starts first.
    slow: bool = False
    #: Whether the case counts actions of the whole team, so that no other case may run beside it.
    alone: bool = False


class Unmet(Exception):
    """Reports that a case found another result than the required one."""


CASES = {}
ACCEPTED = Answer(200)


def case(id, request, wanted, note="", slow=False, alone=False):
    """Registers the decorated function as the case with this ID."""
    def register(function):
        if id in CASES:
            raise ValueError(f"{id} already exists")
        CASES[id] = Case(id, request, wanted, function, note, slow, alone)
        return function
    return register


def expect(condition, got):
    """Fails the case unless the condition holds. `got` is the actual result."""
    if not condition:
        raise Unmet(f"got {got}")


def expect_answer(exchange, wanted):
    """Fails the case unless a response has this status and reason."""
    expect((exchange.status, exchange.reason) == (wanted.status, wanted.reason), f"{exchange}, want {wanted}")


@dataclass
class Record:
    """Everything seen on the wire in a run, for all cases."""
    reasons: dict = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    local: threading.local = field(default_factory=threading.local)

    def note(self, reason):
        """Records that the case of this thread received a reason."""
        case_id = getattr(self.local, "case", "")
        if reason and case_id:
            with self.lock:
                self.reasons.setdefault(reason, set()).add(case_id)


RECORD = Record()
