// SPDX-License-Identifier: Apache-2.0

package import PushDBus

/// Knows what the desktop's own programs say about the person's desk.
///
/// Each is asked at the start, when it comes, and when it says that something changed. A signal is a reason to ask; that of
/// a locker has the value, which counts when the owner of the name itself sent it, so that nobody can pretend anything.
/// Who takes too long is asked again, and until then what it said last holds. A locker that has not answered yet counts as
/// locked: texts must not be seen because a program was busy. When a bus was lost, what its programs said last holds until
/// they say something on the next one; a lock does so for as long as they are away.
///
/// One thread, that of the connections.
package final class DeskWatch {
    /// How long a program is waited for at the start, where alerts that wait must not show what a lock hides.
    static let startPatience: Duration = .milliseconds(500)
    /// A program that takes longer is asked again.
    package static let answerTimeout: Duration = .seconds(10)
    /// One that drops a question sooner than this is not asked again before it says something: it would go round and round.
    static let dropTimeMin: Duration = .seconds(1)

    /// Called when something else holds.
    package var onChange: () -> Void = {}
    private var watched: [Watched] = []

    private final class Watched {
        let source: DeskWatchSource
        /// Who has the name.
        var owner: String?
        /// What it said last; nil while it runs and has not said anything.
        var answer: Bool?
        /// A question is on its way; one more change means to ask once more.
        var isAsking = false
        var isStale = false

        /// Whether it holds, as far as is known.
        var holds: Bool { answer ?? (source.aspect == .lock) }

        init(_ source: DeskWatchSource, _ answer: Bool?) { (self.source, self.answer) = (source, answer) }
    }

    /// Watches nothing yet.
    package init() {}

    /// Whether the screen is locked.
    package var isLocked: Bool { holds(.lock) }
    /// Whether the desktop's own do-not-disturb is on.
    package var isQuiet: Bool { holds(.quiet) }
    /// Whether notifications are to make no sound.
    package var isSilent: Bool { holds(.silence) }
    /// Whether the machine saves power.
    package var savesPower: Bool { holds(.power) }

    private func holds(_ aspect: DeskWatchSource.Aspect) -> Bool {
        watched.contains { $0.holds && $0.source.aspect == aspect }
    }

    /// Watches programs on a bus for as long as both live; waits a moment for the first answers.
    ///
    /// Those that were watched on a connection that was lost are not waited for.
    ///
    /// - Parameters:
    ///   - sources: Which programs.
    ///   - connection: The bus, driven by the caller.
    /// - Throws: `BusError` when the bus refuses the subscriptions.
    package func watch(_ sources: [DeskWatchSource], on connection: BusConnection) throws(BusError) {
        for source in sources { try watch(source, on: connection) }
    }

    private func watch(_ source: DeskWatchSource, on connection: BusConnection) throws(BusError) {
        let earlier = self.watched.firstIndex { $0.source.isSame(as: source) }
        let watched = Watched(source, earlier.map { self.watched[$0].answer } ?? false)
        let ask: () -> Void = { [weak self, weak watched, weak connection] in
            guard let self, let watched, let connection else { return }
            self.ask(watched, on: connection)
        }
        try connection.watchOwner(of: source.name) { [weak self, weak watched] owner in
            guard let self, let watched else { return }
            watched.owner = owner
            set(watched, owner == nil ? false : nil)
            if owner != nil { ask() }
        }
        for signal in source.signals {
            try connection.subscribe(
                sender: source.name, path: signal.path, interface: signal.interface, member: signal.member
            ) { [weak self, weak watched] signal in
                guard let self, let watched else { return }
                let isItsOwn = source.signalsHaveValue && signal.sender == watched.owner
                if isItsOwn, let value = signal.arguments.first?.boolValue { set(watched, value) }
                ask()
            }
        }
        // Only who is there: a question would start who is not.
        watched.owner = try connection.owner(of: source.name)
        if let earlier {
            self.watched[earlier] = watched
            // Who locked the screen comes back to the bus, as we did.
            if watched.owner == nil, source.aspect != .lock { set(watched, false) }
            return ask()
        }
        self.watched.append(watched)
        guard watched.owner != nil else { return }
        watched.answer = nil
        let question = source.question
        do throws(BusError) {
            let answer = try connection.call(
                source.name, source.path, question.interface, question.member, question.arguments,
                timeout: Self.startPatience)
            watched.answer = source.holds(answer)
        } catch {
            // Another answer than a value comes here again, and soon.
            self.ask(watched, on: connection)
        }
    }

    private func ask(_ watched: Watched, on connection: BusConnection) {
        // A question would start who is gone.
        guard watched.owner != nil else { return }
        guard !watched.isAsking else { return watched.isStale = true }
        (watched.isAsking, watched.isStale) = (true, false)
        let (source, question, start) = (watched.source, watched.source.question, ContinuousClock.now)
        connection.send(
            source.name, source.path, question.interface, question.member, question.arguments,
            timeout: Self.answerTimeout
        ) { [weak self, weak connection] answer in
            watched.isAsking = false
            guard let self, let connection else { return }
            switch answer {
            case .success(let values): set(watched, source.holds(values))
            // It is there and busy: what it said last holds.
            case .failure(let error) where error.isOfBusyProgram:
                if watched.owner != nil, ContinuousClock.now - start >= Self.dropTimeMin { watched.isStale = true }
            // It is no program of the kind that knows.
            case .failure: set(watched, false)
            }
            if watched.isStale { ask(watched, on: connection) }
        }
    }

    private func set(_ watched: Watched, _ answer: Bool?) {
        let before = watched.holds
        watched.answer = answer
        if watched.holds != before { onChange() }
    }
}

extension BusError {
    private static let busyNames = [noReplyName, "org.freedesktop.DBus.Error.Timeout", limitsExceededName]

    /// Whether whom the call asked may be there all the same: it is slow, or the bus has its hands full.
    var isOfBusyProgram: Bool { Self.busyNames.contains(name) }
}
