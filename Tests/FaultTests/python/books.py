# SPDX-License-Identifier: Apache-2.0
"""Records a run: the notifications sent, their answers and their display. Checks that all agree with the trace.

Times are ticks of one counter, so that they are strictly ordered. A tick is taken before a request is written, and
after an answer or an event was read.
"""
import collections
import itertools
import time

#: The trace events that end the life of a notification.
ENDS = {"acknowledged", "replaced", "expired", "dropped", "unregistered"}


class Sent:
    """A notification that was sent once, whatever the answer."""

    def __init__(self, number, life, device, topic, collapse, expiration, sent):
        self.number, self.life, self.device, self.topic = number, life, device, topic
        self.collapse, self.expiration, self.sent = collapse, expiration, sent
        #: None while it is unknown whether the notification was accepted.
        self.status = self.answered = self.answered_at = self.unique_id = None

    @property
    def is_accepted(self):
        return self.status == 200

    @property
    def may_be_unstored(self):
        """Whether it was for immediate delivery only, or may have expired before its acceptance."""
        return self.expiration is not None and self.expiration <= self.answered_at

    @property
    def key(self):
        """Returns the key that a notification shares with those that it replaces."""
        return (self.device, self.topic, self.collapse) if self.collapse and self.expiration != 0 else None

    def __repr__(self):
        return f"{vars(self)}"


class Screen:
    """The durable data of one device, like the agent's inbox. A known unique ID is not shown again."""

    def __init__(self, device):
        self.device = device
        #: The numbers, in the order in which they were shown.
        self.shown = []
        self.number_of_unique_id = {}
        self.unique_id_of_sequence = {}
        #: The time at which the server answered 204 to the acknowledgement of a sequence.
        self.settled = {}
        self.redelivered_count = 0


class Books:
    """The records of a run."""

    def __init__(self):
        self.ticks = itertools.count(1)
        self.sent, self.screens, self.problems = [], {}, []
        #: The accepted notifications of each collapse key.
        self.collapsing = collections.defaultdict(list)
        #: The delivered notifications with a collapse key, and the opening times of their streams.
        self.collapsible = []
        self.life = 0

    def tick(self):
        return next(self.ticks)

    def problem(self, text):
        self.problems.append(text)

    # Recording

    def send(self, device, topic, collapse, expiration):
        notification = Sent(len(self.sent), self.life, device, topic, collapse, expiration, self.tick())
        self.sent.append(notification)
        return notification

    def answer(self, notification, status, unique_id):
        notification.status, notification.unique_id, notification.answered = status, unique_id, self.tick()
        notification.answered_at = time.time()
        if notification.is_accepted and notification.key:
            self.collapsing[notification.key].append(notification)

    def show(self, screen, stream, event):
        """Records an event of a stream, which is (the opening time, the earlier sequences)."""
        opened, sequences = stream
        sequence, unique_id = event["id"], event["unique-id"]
        notification = self.sent[event["payload"]["n"]]
        where = f"device {screen.device}, sequence {sequence}, {notification}"
        self.check_sequence(sequence, sequences, where)
        if (notification.device, notification.topic) != (screen.device, event["topic"]):
            self.problem(f"misdirected: {where}")
        if screen.settled.get(sequence, opened) < opened:
            self.problem(f"came again after 204: {where}")
        if screen.unique_id_of_sequence.setdefault(sequence, unique_id) != unique_id:
            self.problem(f"a sequence was given out twice: {where}")
        if notification.is_accepted and notification.key:
            self.collapsible.append((notification, opened))
        if unique_id in screen.number_of_unique_id:
            screen.redelivered_count += 1
            return
        screen.number_of_unique_id[unique_id] = notification.number
        screen.shown.append(notification.number)

    def check_sequence(self, sequence, sequences, where):
        if sequences and sequence <= sequences[-1]:
            self.problem(f"out of order behind {sequences[-1]}: {where}")
        sequences.append(sequence)

    # Checking

    def balance(self, traces):
        """Compares all records with the trace, and counts the notifications by their end."""
        shown = {number for screen in self.screens.values() for number in screen.shown}
        for screen in self.screens.values():
            self.check_once(screen)
            self.check_order(screen)
        self.check_replacements(traces)
        flushed = self.last_flush(traces)
        ends = collections.Counter()
        for notification in self.sent:
            if notification.is_accepted:
                trace = traces.get(notification.unique_id, [])
                self.check_trace(notification, trace, flushed)
                ends[self.end(notification, trace, notification.number in shown, flushed)] += 1
            elif notification.status is None:
                ends["in doubt, shown" if notification.number in shown else "in doubt"] += 1
            else:
                ends[f"refused {notification.status}"] += 1
                if notification.status != 503 and notification.number in shown:
                    self.problem(f"refused and shown: {notification}")
        return ends

    def check_once(self, screen):
        for number, count in collections.Counter(screen.shown).items():
            if count > 1:
                self.problem(f"shown {count} times: {self.sent[number]}")
        if len(set(screen.unique_id_of_sequence.values())) != len(screen.unique_id_of_sequence):
            self.problem(f"device {screen.device}: one unique ID came with two sequences")

    def check_order(self, screen):
        """Checks that a notification answered before another one was sent is shown before it."""
        latest = collections.defaultdict(int)
        for number in screen.shown:
            one = self.sent[number]
            if one.answered is not None and one.answered < latest[one.topic]:
                self.problem(f"shown behind one that was sent after its answer: {one}")
            latest[one.topic] = max(latest[one.topic], one.sent)

    def check_replacements(self, traces):
        """Checks that no delivered notification was replaced before its stream was opened. Late replacements do not
        count."""
        for one, opened in self.collapsible:
            for newer in self.collapsing[one.key]:
                if newer.sent > one.answered and newer.answered < opened and (
                        newer.expiration is None or self.is_stored(traces.get(newer.unique_id, []))):
                    self.problem(f"came although {newer} had replaced it: {one}")

    @staticmethod
    def is_stored(trace):
        return any(event["event"] == "stored" for event in trace)

    def last_flush(self, traces):
        """Returns the sending time, in each life, of the last notification that a transaction wrote with the trace so
        far.

        Stored notifications do not count, because after a kill their rows complete the trace.
        """
        flushed = collections.defaultdict(int)
        for one in self.sent:
            trace = traces.get(one.unique_id)
            if one.is_accepted and trace and not self.is_stored(trace):
                flushed[one.life] = max(flushed[one.life], one.sent)
        return flushed

    def is_certain(self, notification, flushed):
        """Whether a transaction wrote the trace of the acceptance. Without one a kill may lose it."""
        return notification.answered < flushed[notification.life] or notification.life == self.life

    def check_trace(self, notification, trace, flushed):
        """Checks that each event of a transaction is present once and correct."""
        words = [event["event"] for event in trace]
        if words.count("accepted") > 1 or words.count("stored") > 1 or sum(word in ENDS for word in words) > 1:
            self.problem(f"contradicts itself: {words}, {notification}")
        if "accepted" not in words and (words or self.is_certain(notification, flushed)):
            self.problem(f"has no beginning in the trace: {words}, {notification}")
        if "stored" in words and not ENDS.intersection(words) and not self.is_over(notification):
            self.problem(f"was stored and has no end in the trace: {words}, {notification}")
        for event in trace:
            is_over = notification.expiration and event["at"] >= (notification.expiration + 1) * 1000
            if event["event"] == "sent" and is_over:
                self.problem(f"was sent after its expiration: {event}, {notification}")

    def end(self, notification, trace, is_shown, flushed):
        """Returns the end of an accepted notification in a word, and reports an end that violates the rules."""
        if is_shown:
            return "delivered"
        words = {event["event"]: event.get("reason") for event in trace}
        if "expired" in words and notification.expiration is not None:
            if notification.expiration == 0:
                return "now or never"
            ended = next(event["at"] for event in trace if event["event"] == "expired")
            if ended >= notification.expiration * 1000:
                return "expired"
        if "replaced" in words and self.has_newer(notification):
            return "replaced"
        if words.get("dropped") in ("too-many-of-topic", "too-many-of-device"):
            return "dropped"
        if "stored" in words and not ENDS.intersection(words) and self.is_over(notification):
            return "expired, not swept"
        # It was not to be stored, so a kill ends it, and its trace may end earlier.
        if notification.may_be_unstored and "stored" not in words:
            if "sent" in words:
                return "gone with its stream"
            if not self.is_certain(notification, flushed):
                return "not stored, untraced"
        self.problem(f"LOST: {trace}, {notification}")
        return "lost"

    def has_newer(self, notification):
        """Whether another notification that is accepted or in doubt may have replaced it."""
        return notification.key and any(
            newer.key == notification.key and newer.status in (200, None)
            and (newer.answered is None or newer.answered > notification.sent)
            for newer in self.sent if newer is not notification)

    @staticmethod
    def is_over(notification):
        """Whether it has expired and only waits for the server's sweep."""
        return notification.expiration and notification.expiration < time.time()

    def waiting(self, traces):
        """Returns the unique IDs of stored notifications without an end, and whether all known ones have expired."""
        waiting = {id for id, trace in traces.items()
                   if self.is_stored(trace) and not ENDS.intersection(event["event"] for event in trace)}
        return waiting, all(self.is_over(one) for one in self.sent if one.is_accepted and one.unique_id in waiting)
