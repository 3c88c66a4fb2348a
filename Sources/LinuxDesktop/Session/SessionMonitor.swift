// SPDX-License-Identifier: Apache-2.0

package import PushDBus

/// Monitors the state of the desktop session that other programs report over D-Bus.
///
/// Each program is queried at the start, when it appears on the bus, and when it signals a change. A screen locker's
/// signal carries the value; it counts only if the name's owner sent it, so that no other program can forge it.
///
/// A program that does not answer in time is queried again; until then its last value counts. A locker that has not
/// answered yet counts as locked, because texts must not be shown only because a program was busy. When a bus was lost,
/// the last values count until the programs answer on the next connection. A lock stays in effect for as long as its
/// locker is away.
///
/// It runs on the thread of the connections.
package final class SessionMonitor {
    /// The time limit of the first query, which blocks: waiting alerts must not show what a lock hides.
    static let firstAnswerTimeout: Duration = .milliseconds(500)
    /// The time limit of later queries; a program that takes longer is queried again.
    package static let answerTimeout: Duration = .seconds(10)
    /// The shortest time after which a failed query is repeated.
    ///
    /// A program that drops queries sooner is not queried again before its next signal; otherwise the queries would
    /// loop.
    static let dropTimeMin: Duration = .seconds(1)

    /// Called when a value has changed.
    package var onChange: () -> Void = {}
    private var watched: [Watched] = []

    private final class Watched {
        let source: DesktopStateSource
        /// The unique name of the name's owner; nil while the name has no owner.
        var owner: String?
        /// The program's last answer; nil while it runs and has not answered yet.
        var answer: Bool?
        /// Whether a query is running; a change meanwhile sets `isStale`, which means one more query.
        var isAsking = false
        var isStale = false

        /// The value in effect.
        ///
        /// Without an answer, a locker counts as locked and all others as off.
        var holds: Bool { answer ?? (source.aspect == .lock) }

        init(_ source: DesktopStateSource, _ answer: Bool?) { (self.source, self.answer) = (source, answer) }
    }

    /// Creates a monitor without sources.
    package init() {}

    /// Whether the screen is locked.
    package var isLocked: Bool { holds(.lock) }
    /// Whether the desktop's own do-not-disturb is on.
    package var isQuiet: Bool { holds(.quiet) }
    /// Whether notifications are to make no sound.
    package var isSilent: Bool { holds(.silence) }
    /// Whether the machine saves power.
    package var savesPower: Bool { holds(.power) }

    private func holds(_ aspect: DesktopStateSource.Aspect) -> Bool {
        watched.contains { $0.holds && $0.source.aspect == aspect }
    }

    /// Adds sources on a bus and blocks for a short time for their first answers.
    ///
    /// They are watched for as long as this object and the connection exist.
    ///
    /// Sources that were watched on a lost connection do not block.
    ///
    /// - Parameters:
    ///   - sources: The programs to query.
    ///   - connection: The bus, driven by the caller.
    /// - Throws: `BusError` when the bus refuses the subscriptions.
    package func watch(_ sources: [DesktopStateSource], on connection: BusConnection) throws(BusError) {
        for source in sources { try watch(source, on: connection) }
    }

    private func watch(_ source: DesktopStateSource, on connection: BusConnection) throws(BusError) {
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
        // Only running programs are queried, because a query would start the others.
        watched.owner = try connection.owner(of: source.name)
        if let earlier {
            self.watched[earlier] = watched
            // A locker reconnects to the bus after its loss, as the agent does, so a lock stays in effect.
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
                timeout: Self.firstAnswerTimeout)
            watched.answer = source.holds(answer)
        } catch {
            // An error comes here, too: `ask` queries again and handles it.
            self.ask(watched, on: connection)
        }
    }

    private func ask(_ watched: Watched, on connection: BusConnection) {
        // A query would start a program that has ended.
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
            // The program is busy: its last value stays in effect.
            case .failure(let error) where error.isOfBusyProgram:
                if watched.owner != nil, ContinuousClock.now - start >= Self.dropTimeMin { watched.isStale = true }
            // The program lacks this method or property.
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

    /// Whether the program may exist all the same: it is slow, or the bus is overloaded.
    var isOfBusyProgram: Bool { Self.busyNames.contains(name) }
}
