// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TestSupport

/// Kills programs of a user's desktop at random moments while a provider sends.
///
/// Kills the agent most often, and the notification server and posthornd less often.
final class ChaosScenario: Sendable {
    private static let stayingApp = "org.example.Alarm"

    let stack: TestStack
    let daemon: RecordingDaemon
    private let stayingToken: String
    private let icon: RunningProcess
    private let isOver = Atomic(false)
    /// The number of notifications that the provider has accepted so far.
    private let acceptedCount = Atomic(0)

    /// The results of the notifications sent, which are numbered.
    struct Sent {
        var accepted: Set<Int> = []
        /// The numbers whose connection was lost before the answer.
        var uncertain: Set<Int> = []
    }

    /// The number of kills of each program.
    struct Kills: CustomStringConvertible {
        var agent = 0
        var daemon = 0
        var server = 0
        var description: String { "kills: agent \(agent), notification server \(daemon), posthornd \(server)" }
    }

    init() async throws {
        let bus = try await DesktopBus()
        daemon = try await RecordingDaemon(bus)
        icon = try await bus.monitor("type='signal',interface='com.canonical.Unity.LauncherEntry'")
        stack = try await TestStack(bus: bus)
        try await stack.server.posthorn("app", "add", Self.stayingApp)
        stayingToken = try await stack.user.register(Self.stayingApp, name: "Example Alarm")
        try await stack.user.posthorn("settings", "set", Self.stayingApp, "alert", "alert")
        try await stack.user.posthorn("settings", "set", "inbox-count", "100000")
    }

    /// Kills and restarts programs for a number of rounds, and returns the notifications sent meanwhile.
    func run(rounds: Int, using generator: inout some RandomNumberGenerator) async throws -> (Sent, Kills) {
        async let sent = send()
        var kills = Kills()
        do {
            for _ in 0..<rounds { try await round(&kills, using: &generator) }
        } catch {
            isOver.store(true, ordering: .relaxed)
            throw error
        }
        isOver.store(true, ordering: .relaxed)
        return (try await sent, kills)
    }

    /// Waits until all notifications have been processed.
    func settle() async throws {
        try await stack.user.waitForAgent()
        try await stack.user.waitUntilConnected()
        try await eventually("all is delivered and shown", within: .seconds(60), evidence: { self.transcript }) {
            guard try await stack.server.admin.status().counts.pending == 0 else { return false }
            return try await stack.user.inbox(limit: 100).allSatisfy { $0.state != "waiting" && $0.state != "claimed" }
        }
    }

    /// The number on the icon, as docks receive it.
    var badgeOnIcon: Int? { icon.output.matches(of: /"count"\s+variant\s+int64 ([0-9]+)/).last.flatMap { Int($0.1) } }

    /// The current agent's output, for a failure's text.
    var transcript: String { stack.user.agent.now.transcript }

    // MARK: The provider

    /// Sends one number after the other, each once, until the rounds are over; every fourth goes to an app whose alerts
    /// stay.
    private func send() async throws -> Sent {
        let provider = try await APNsProvider(stack.target, connectionAttempts: 1)
        var sent = Sent()
        var number = 0
        while !isOver.load(ordering: .relaxed) {
            number += 1
            let isStaying = number.isMultiple(of: 4)
            let payload =
                isStaying
                ? #"{"aps":{"alert":"number \#(number)"}}"#
                : #"{"aps":{"alert":"number \#(number)","badge":\#(number)}}"#
            let notification = SentNotification(
                token: isStaying ? stayingToken : stack.token, payload: payload,
                topic: isStaying ? Self.stayingApp : nil)
            do {
                if try await provider.send(notification).status == 200 {
                    sent.accepted.insert(number)
                    acceptedCount.add(1, ordering: .relaxed)
                }
            } catch is ProviderFailure {
                sent.uncertain.insert(number)
            }
            try await Task.sleep(for: .milliseconds(200))
        }
        return sent
    }

    // MARK: Kills

    private func round(_ kills: inout Kills, using generator: inout some RandomNumberGenerator) async throws {
        try await waitForNextAccepted()
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...1000, using: &generator)))
        if Bool.random(using: &generator) {
            // The kill comes while a notification is received and shown.
            try await waitForNextAccepted()
            try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000, using: &generator)))
        }
        let chance = Int.random(in: 0..<10, using: &generator)
        if chance == 0 {
            try await stack.server.process.killNow()
            kills.server += 1
        }
        if chance <= 2 {
            try await daemon.kill()
            try await daemon.start()
            kills.daemon += 1
        }
        try await stack.user.agent.killNow()
        kills.agent += 1
        if chance == 0 { try await stack.server.start() }
        try stack.user.launchAgent()
        guard chance >= 8 else { return }
        // A second kill comes at a random moment of the start.
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &generator)))
        try await stack.user.agent.killNow()
        kills.agent += 1
        try stack.user.launchAgent()
    }

    private func waitForNextAccepted() async throws {
        let before = acceptedCount.load(ordering: .relaxed)
        try await eventually("one more is accepted", evidence: { transcript }) {
            acceptedCount.load(ordering: .relaxed) > before
        }
    }

    /// Returns whether an entry's alert stays until it is answered, and so returns with the next notification server.
    static func isStaying(_ number: Int) -> Bool { number.isMultiple(of: 4) }
}
