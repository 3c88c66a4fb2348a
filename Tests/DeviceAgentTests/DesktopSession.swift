// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import LinuxDesktop
import PushDBus
import PushNet
import TestSupport

/// The agent's side of a desktop: a loop, its bus connection, and the presenter's reports.
final class DesktopSession: AlertPresenterDelegate {
    let bus: DesktopBus
    let loop: EventLoop
    let connection: BusConnection
    let driver: BusDriver
    /// The session's notification server, which this reference only keeps alive.
    var notificationServer: ScriptedNotificationServer?
    /// An earlier session that has ended, but whose loop still drives a server.
    var earlier: DesktopSession?
    private(set) var outcomes: [Outcome] = []
    private(set) var availableCount = 0
    /// The alerts that were lost with their server, in order.
    private(set) var lost: [EntryID] = []
    /// The location of each alert on the screen, by entry.
    private(set) var locations: [EntryID: AlertLocation] = [:]

    /// The outcome of an alert.
    struct Outcome: Equatable {
        var entry: EntryID
        var outcome: AlertOutcome

        init(_ entry: EntryID, _ outcome: AlertOutcome) {
            self.entry = entry
            self.outcome = outcome
        }
    }

    init(_ bus: DesktopBus) throws {
        self.bus = bus
        loop = try EventLoop()
        connection = try BusConnection(.address(bus.address))
        driver = try BusDriver(loop: loop, connection: connection)
    }

    /// Returns a presenter that reports to this session.
    func presenter(
        environment: [String: String] = [:], answerTimeout: Duration = DesktopPresenter.answerTimeout
    ) throws -> DesktopPresenter {
        let presenter = try DesktopPresenter(
            connection: connection, loop: loop, environment: environment, answerTimeout: answerTimeout)
        presenter.delegate = self
        return presenter
    }

    func alert(_ entry: EntryID, ended outcome: AlertOutcome) { outcomes.append(Outcome(entry, outcome)) }

    func alertShown(_ entry: EntryID, at location: AlertLocation) { locations[entry] = location }

    func alertsLeft(_ entries: [EntryID]) { for entry in entries { locations[entry] = nil } }

    func alertsLost(_ entries: [EntryID]) { lost += entries }

    func presenterBecameAvailable() { availableCount += 1 }

    /// Runs the loop until a condition holds.
    ///
    /// Does not suspend unless the condition does, because both ends of an exchange run on this task. While the task is
    /// suspended for other tests, a deadline of one end could pass.
    ///
    /// - Parameters:
    ///   - what: The condition in words.
    ///   - evidence: Returns text to print when the deadline passes.
    ///   - condition: Returns whether the condition holds.
    /// - Throws: An error when the deadline passes, or the condition's error.
    func run(until what: String, evidence: () -> String = { "" }, _ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + Patience.usual * Patience.factor
        while true {
            turn()
            earlier?.turn()
            if try await condition() { return }
            guard ContinuousClock.now < deadline else {
                throw DesktopTestFailure.deadlinePassed(what: what, lastSeen: evidence())
            }
        }
    }

    private func turn() {
        loop.schedule(after: .milliseconds(5)) { [loop] in loop.stop() }
        loop.run()
    }

    /// Runs the loop until the value is not nil.
    func value<Value>(_ what: String, _ value: () -> Value?) async throws -> Value {
        var found: Value?
        try await run(until: what) {
            found = value()
            return found != nil
        }
        guard let found else { throw DesktopTestFailure.impossible }
        return found
    }

    /// Presents an alert and waits for the presenter's answer.
    func present(_ alert: Alert, with presenter: DesktopPresenter) async throws -> AlertPresented {
        var answer: AlertPresented?
        presenter.present(alert) { answer = $0 }
        return try await value("alert \(alert.entry) is answered") { answer }
    }
}

/// An error that stops a desktop test.
enum DesktopTestFailure: Error {
    case deadlinePassed(what: String, lastSeen: String)
    case impossible
}
