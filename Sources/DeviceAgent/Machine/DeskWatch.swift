// SPDX-License-Identifier: Apache-2.0

package import PushDBus

/// Knows what the desktop's own programs say about the person's desk.
///
/// Each is asked at the start, when it comes, and when it says that something changed; a signal is only a reason to ask,
/// so that nobody can pretend anything. Nothing is asked in between.
///
/// One thread, that of the connections.
package final class DeskWatch {
    /// How long a program is waited for at the start, where alerts that wait must not show what a lock hides.
    static let startPatience: Duration = .milliseconds(500)
    /// A program that takes longer tells nothing.
    static let answerTimeout: Duration = .seconds(10)

    /// Called when something else holds.
    package var onChange: () -> Void = {}
    private var watched: [Watched] = []

    private final class Watched {
        let source: DeskWatchSource
        var holds = false
        /// A question is on its way; one more change means to ask once more.
        var isAsking = false
        var isStale = false

        init(_ source: DeskWatchSource) { self.source = source }
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
    /// - Parameters:
    ///   - sources: Which programs.
    ///   - connection: The bus, driven by the caller.
    /// - Throws: `BusError` when the bus refuses the subscriptions.
    package func watch(_ sources: [DeskWatchSource], on connection: BusConnection) throws(BusError) {
        for source in sources { try watch(source, on: connection) }
    }

    private func watch(_ source: DeskWatchSource, on connection: BusConnection) throws(BusError) {
        let watched = Watched(source)
        let ask: () -> Void = { [weak self, weak watched, weak connection] in
            guard let self, let watched, let connection else { return }
            self.ask(watched, on: connection)
        }
        try connection.watchOwner(of: source.name) { [weak self, weak watched] owner in
            guard let self, let watched else { return }
            if owner == nil { set(watched, false) } else { ask() }
        }
        for signal in source.signals {
            try connection.subscribe(
                sender: source.name, path: signal.path, interface: signal.interface, member: signal.member
            ) { _ in ask() }
        }
        self.watched.append(watched)
        // Only who is there: a question would start who is not.
        guard try connection.owner(of: source.name) != nil else { return }
        let question = source.question
        let answer = try? connection.call(
            source.name, source.path, question.interface, question.member, question.arguments,
            timeout: Self.startPatience)
        watched.holds = answer.map(source.holds) ?? false
    }

    private func ask(_ watched: Watched, on connection: BusConnection) {
        guard !watched.isAsking else { return watched.isStale = true }
        (watched.isAsking, watched.isStale) = (true, false)
        let (source, question) = (watched.source, watched.source.question)
        connection.send(
            source.name, source.path, question.interface, question.member, question.arguments,
            timeout: Self.answerTimeout
        ) { [weak self, weak connection] answer in
            watched.isAsking = false
            guard let self, let connection else { return }
            set(watched, (try? answer.get()).map(source.holds) ?? false)
            if watched.isStale { ask(watched, on: connection) }
        }
    }

    private func set(_ watched: Watched, _ holds: Bool) {
        guard watched.holds != holds else { return }
        watched.holds = holds
        onChange()
    }
}
