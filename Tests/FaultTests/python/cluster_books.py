# SPDX-License-Identifier: Apache-2.0
"""Records a run of a cluster, and checks what it promised: see books.py for the records and the ticks."""
import collections
import time

from books import Books, Screen, Sent

#: The seconds before and after an event from which a problem's history is printed.
AROUND = 15
PROBLEM_COUNT_MAX = 12


class ClusterSent(Sent):
    """A notification that was sent to a node with a key."""

    def __init__(self, node, key, *arguments):
        super().__init__(*arguments)
        self.node, self.key_id, self.sent_at = node, key, time.time()

    def __repr__(self):
        words = {name: value for name, value in vars(self).items() if value is not None and name != "life"}
        return f"{words}"


class ClusterScreen(Screen):
    """The durable data of a device, with the beginnings and ends of its streams."""

    def __init__(self, device):
        super().__init__(device)
        self.history = []
        #: The node of the open stream.
        self.node = None
        #: The beginnings and durations of involuntary pauses between two streams.
        self.pauses = []

    def note(self, text):
        self.history.append((time.time(), text))


class ClusterBooks(Books):
    """The records of a run on a cluster."""

    def __init__(self):
        super().__init__()
        self.faults = []
        #: The ticks of the answers to revocations, by key ID.
        self.revoked = {}
        #: The ticks of the requests, answers and ends of removals, by topic, by device, and by device and topic.
        self.removals = collections.defaultdict(list)
        #: The time and node of each display.
        self.deliveries = []

        self.accepted_count = 0
        #: The latest sending time of an accepted notification, by node.
        self.latest_accepted = collections.defaultdict(float)

    def note(self, text):
        self.faults.append((time.time(), text))

    def answer(self, notification, status, unique_id):
        super().answer(notification, status, unique_id)
        if notification.is_accepted:
            self.accepted_count += 1
            node = notification.node
            self.latest_accepted[node] = max(self.latest_accepted[node], notification.sent_at)

    def add_device(self, device):
        screen = self.screens[device] = ClusterScreen(device)
        return screen

    def send(self, node, key, device, topic, collapse, expiration):
        one = ClusterSent(node, key, len(self.sent), 0, device, topic, collapse, expiration, self.tick())
        self.sent.append(one)
        return one

    def show(self, screen, stream, event):
        self.deliveries.append((time.time(), screen.node))
        screen.note(f"got {event['payload']['n']} as {event['id']} from {screen.node}")
        is_known = event["unique-id"] in screen.number_of_unique_id
        super().show(screen, stream, event)
        # A deletion that a fail-over lost brings back a notification that the device recognizes.
        if is_known and self.collapsible and self.collapsible[-1][0].number == event["payload"]["n"]:
            self.collapsible.pop()

    def check_sequence(self, sequence, sequences, where):
        """Accepts any order: only the order of one sender's notifications is promised, which `check_order` checks."""

    # Checking

    def balance(self):
        """Checks all records, and counts the notifications by their end."""
        shown = {number for screen in self.screens.values() for number in screen.shown}
        for screen in self.screens.values():
            self.check_once(screen)
            self.check_order(screen)
        self.check_replacements({})
        ends = collections.Counter()
        for one in self.sent:
            ends[self.final(one, one.number in shown)] += 1
        return ends

    def final(self, one, is_shown):
        """Returns the end of a notification in a word, and reports one that breaks a promise."""
        is_app_removed = self.was_removed_before(one, one.topic)
        is_registration_removed = self.was_removed_before(one, one.device, (one.device, one.topic))
        if (is_app_removed or is_registration_removed) and is_shown:
            self.problem(f"sent after a removal and shown: {one}")
        if one.status is None:
            return "in doubt"
        if not one.is_accepted:
            if one.status != 503 and is_shown and not self.was_removed_meanwhile(one):
                self.problem(f"refused and shown: {one}")
            return f"refused {one.status}"
        if one.key_id in self.revoked and one.sent > self.revoked[one.key_id]:
            self.problem(f"accepted with a revoked key: {one}")
        # If the device has no stream, nodes do not look for the registration of what they need not store.
        if is_app_removed or is_registration_removed and not one.may_be_unstored:
            self.problem(f"accepted after a removal: {one}")
        if is_shown:
            return "shown"
        return self.reason(one) or self.lost(one)

    def removals_of(self, one):
        """Returns the removals of the notification's app, of its device, and of the app by the device."""
        return [removal for scope in (one.topic, one.device, (one.device, one.topic))
                for removal in self.removals.get(scope, [])]

    def was_removed_before(self, one, *scopes):
        """Returns whether a removal was answered before the notification was sent."""
        return any(answered is not None and answered < one.sent < until
                   for scope in scopes for _, answered, until in self.removals.get(scope, []))

    def was_removed_meanwhile(self, one):
        """Returns whether a removal was between request and answer, perhaps just after the device showed it."""
        return any(asked < one.answered and (answered is None or one.sent < answered)
                   for asked, answered, _ in self.removals_of(one))

    def reason(self, one):
        """Returns why an accepted notification need not have been shown."""
        if one.expiration == 0:
            return "now or never"
        if one.expiration is not None and one.expiration < time.time():
            return "expired"
        if self.has_newer(one):
            return "replaced"
        if any(one.sent < until for _, _, until in self.removals_of(one)):
            return "unregistered"
        return None

    def has_newer(self, one):
        """Whether another notification that is accepted or in doubt, also after 503, may have replaced it."""
        return one.key and any(
            newer.status in (200, 503, None) and (newer.answered is None or newer.answered > one.sent)
            for newer in self.by_key()[one.key] if newer is not one)

    def by_key(self):
        if self.keyed_count != len(self.sent):
            self.keyed_count, self.keyed = len(self.sent), collections.defaultdict(list)
            for one in self.sent:
                if one.key:
                    self.keyed[one.key].append(one)
        return self.keyed

    keyed_count, keyed = 0, None

    def lost(self, one):
        self.problem(f"LOST: {one}\n{self.history(one.device, one.sent_at)}")
        return "lost"

    def missing(self):
        """Returns the accepted notifications that were neither shown nor have a reason."""
        shown = {number for screen in self.screens.values() for number in screen.shown}
        return [one for one in self.sent if one.is_accepted and one.number not in shown and not self.reason(one)]

    def check_once(self, screen):
        """Checks that nothing is shown twice.

        A notification may come again with another sequence: its host raises the sequence of what is behind a higher one.
        """
        for number, count in collections.Counter(screen.shown).items():
            if count > 1:
                self.problem(f"shown {count} times: {self.sent[number]}")

    def check_order(self, screen):
        """Checks that a notification answered before another one was sent is shown before it."""
        latest = {}
        for number in screen.shown:
            one = self.sent[number]
            last = latest.setdefault(one.topic, one)
            if one.answered is not None and one.is_accepted and one.answered < last.sent:
                self.problem(
                    f"shown behind one that was sent after its answer: {one}, {last}\n"
                    f"{self.history(screen.device, one.sent_at)}")
            if one.sent > last.sent:
                latest[one.topic] = one

    def history(self, device, moment):
        """Returns the faults, and the events of a device, around a time."""
        events = [(at, f"  {text}") for at, text in self.screens[device].history]
        events += [(at, f"* {text}") for at, text in self.faults]
        return "\n".join(
            f"{at - moment:+8.3f} {text}" for at, text in sorted(events) if abs(at - moment) < AROUND)

    def report(self):
        return {"count": len(self.problems), "problems": self.problems[:PROBLEM_COUNT_MAX]}

    # Figures

    def figures(self, since, until):
        """Returns how the cluster served between two times."""
        sent = [one for one in self.sent if since <= one.sent_at < until]
        answered = [one for one in self.sent if one.is_accepted and since <= one.answered_at < until]
        delays = sorted(one.answered_at - one.sent_at for one in answered)
        pauses = sorted(
            duration for screen in self.screens.values() for at, duration in screen.pauses if since <= at < until)
        nodes = sorted({one.node for one in sent})
        return {
            "accepted": len(answered), "refused": sum(one.status == 503 for one in sent),
            "doubtful": sum(one.status is None for one in sent),
            "milliseconds": {name: round(1000 * value, 1) for name, value in quantiles(delays).items()},
            "longestPause": longest_pause([one.answered_at for one in answered], since, until),
            "streamPauses": {"count": len(pauses)} | {
                name: round(value, 2) for name, value in quantiles(pauses).items()},
            "nodes": {node: self.figures_of(node, sent, answered, since, until) for node in nodes}}

    def figures_of(self, node, sent, answered, since, until):
        times = [one.answered_at for one in answered if one.node == node]
        shown = [at for at, name in self.deliveries if name == node and since <= at < until]
        return {
            "accepted": len(times), "refused": sum(one.status == 503 for one in sent if one.node == node),
            "longestPause": longest_pause(times, since, until),
            "lastAccepted": round(max(times, default=since) - since, 2),
            "lastDelivered": round(max(shown, default=since) - since, 2)}


def quantiles(values):
    """Returns quantiles of sorted values."""
    if not values:
        return {}
    at = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1}
    return {name: values[min(len(values) - 1, int(part * len(values)))] for name, part in at.items()}


def longest_pause(times, since, until):
    times = [since, *sorted(times), until]
    return round(max(later - earlier for earlier, later in zip(times, times[1:])), 2)
