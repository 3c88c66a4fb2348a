// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelWindowEndToEnd {
    /// Kills agent and panel at random moments while alerts arrive and a user answers them.
    struct PanelKillTests {
        /// Runs 8 rounds, and 300 in `make soak`.
        @Test(.tags(.slow)) func `kills at any moment lose no alert, and no answered alert returns`()
            async throws
        {
            let seed = UInt64.random(in: 0...UInt64.max)
            let world = try await PanelTurmoil(seed: seed)
            do {
                for _ in 0..<max(8, Patience.caseCount * 3 / 100) { try await world.round() }
                try await world.answerAll()
                try await check(world)
            } catch {
                Issue.record("\(world.story): \(error)")
            }
            print("\(world.story): \(world.sentCount) alerts")
        }

        private func check(_ world: PanelTurmoil) async throws {
            let scene = world.scene
            let story: Comment = "\(world.story)"
            let entries = try await scene.user.wholeInbox()
            #expect(entries.compactMap { PanelTurmoil.number(in: $0.body) } == Array(1...world.sentCount), story)
            #expect(entries.allSatisfy { ["viewed", "closed"].contains($0.state) }, "\(entries), \(world.story)")
            // View is recorded before the app is opened, so a kill in between opens nothing.
            try await eventually("what was viewed is open, but for kills", evidence: { world.story }) {
                let viewedCount = entries.count { $0.state == "viewed" }
                return scene.opened.count >= viewedCount - world.agentKillCount
            }
            for entry in entries {
                let count = scene.opened.count { $0.contains("\"\(entry.body)\"") }
                #expect(count <= (entry.state == "viewed" ? 1 : 0), "\(entry) opened \(count) times, \(world.story)")
            }
            try await countsRight(world)
        }

        /// Checks that the open panel's count of new entries continues over a restart of the agent.
        private func countsRight(_ world: PanelTurmoil) async throws {
            let scene = world.scene
            try await scene.openPanel()
            try await scene.user.agent.killNow()
            try await scene.user.startAgent()
            try await scene.user.waitUntilConnected()
            // The alert is visible only in the list.
            try await scene.user.posthorn("settings", "set", PanelScene.app, "alert", "none")
            try await scene.send(PanelScene.alert("New."))
            try await eventually("the panel says how many are new", evidence: { world.story }) {
                let unread = try await scene.user.posthorn("inbox", "list", "--unread", "--limit", "100000", "--json")
                let count = unread.output.components(separatedBy: "\"entry\":").count - 1
                let tab = try await scene.contents().all("tab").first?.name
                return count > 0 && tab == "Notifications, \(count) unread"
            }
        }
    }
}

/// A user who answers alerts with keys while agent and panel are killed.
private final class PanelTurmoil {
    let scene: PanelScene
    private let seed: UInt64
    private var generator: SeededGenerator
    private(set) var sentCount = 0
    private(set) var agentKillCount = 0
    private var panelKillCount = 0
    private var killsSinceAnswer = 0
    /// The entries that the agent has reported as answered.
    private var answered: Set<Int> = []

    init(seed: UInt64) async throws {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        scene = try await PanelScene()
        try await scene.useAlerts()
        try await scene.user.posthorn("settings", "set", "inbox-count", "100000")
    }

    /// A description of the run for a failure's text.
    var story: String { "seed \(seed), kills: agent \(agentKillCount), panel \(panelKillCount)" }

    static func number(in body: String) -> Int? { body.split { !$0.isNumber }.first.flatMap { Int($0) } }

    /// Sends some alerts, answers some, and kills a process.
    func round() async throws {
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
            sentCount += 1
            try await scene.send(PanelScene.alert("Number \(sentCount)."))
        }
        // The agent does not start a panel for a minute after too many kills without an answer.
        let isAnswerDue = killsSinceAnswer >= 3
        for _ in 0..<(isAnswerDue ? 1 : Int.random(in: 0...1, using: &generator)) { try await answerOne() }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...800, using: &generator)))
        if Bool.random(using: &generator) { try await answerAtOnce() }
        try await look()
        let chance = Int.random(in: 0..<10, using: &generator)
        if chance < 6 { try await killPanel() }
        if chance >= 4 { try await killAgent() }
        try await look()
    }

    /// Checks that at most one alert is on the screen, and no answered one.
    private func look() async throws {
        let before = answered
        let contents = try await scene.contents()
        // A killed panel's window can remain listed for a moment, but has no children.
        let alerts = contents.windows.filter { $0.role == "alert dialog" && !contents.inside($0).nodes.isEmpty }
        if alerts.count > 1 { Issue.record("two alerts, \(story): \(contents.transcript)") }
        if let number = shown(contents), before.contains(number) { Issue.record("\(number) came back, \(story)") }
        let windows = try await scene.screen.xdotool("search", "--onlyvisible", "--name", "^\(PanelScene.appName)$")
        if windows.output.split(separator: "\n").count > 1 { Issue.record("two windows, \(story): \(windows.output)") }
        // The agent may not be running.
        guard let entries = try? await scene.user.inbox(limit: 1000) else { return }
        for entry in entries {
            guard let number = Self.number(in: entry.body) else { continue }
            let isOver = ["viewed", "closed"].contains(entry.state)
            if !isOver, answered.contains(number) { Issue.record("\(entry) was answered before, \(story)") }
            if isOver, answered.insert(number).inserted { killsSinceAnswer = 0 }
        }
    }

    private func shown(_ contents: ScreenContents) -> Int? {
        contents.texts.first { $0.hasPrefix("Number ") }.flatMap(Self.number)
    }

    // MARK: The user

    /// Presses a key immediately, whatever is on the screen.
    private func answerAtOnce() async throws {
        try await scene.press(Bool.random(using: &generator) ? "Return" : "Escape")
    }

    /// Answers the first alert, and waits until the agent has recorded it.
    private func answerOne() async throws {
        let countBefore = answered.count
        try await eventually("one more is answered", evidence: { self.evidence }) {
            try await look()
            if answered.count > countBefore || answered.count == sentCount { return true }
            if shown(try await scene.contents()) != nil {
                try await scene.rest()
                try await answerAtOnce()
            }
            return false
        }
    }

    /// Answers alerts until none is left.
    func answerAll() async throws {
        while answered.count < sentCount { try await answerOne() }
        try await scene.waitUntilEmpty()
        try await look()
    }

    private var evidence: String { "\(story), \(answered.count) of \(sentCount): \(scene.user.agent.now.transcript)" }

    // MARK: Kills

    private func killPanel() async throws {
        guard let process = try await scene.panelProcess() else { return }
        kill(process, SIGKILL)
        panelKillCount += 1
        killsSinceAnswer += 1
        try await eventually("process \(process) is gone") { kill(process, 0) != 0 }
    }

    private func killAgent() async throws {
        try await scene.user.agent.killNow()
        agentKillCount += 1
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &generator)))
        if Bool.random(using: &generator) { try await answerAtOnce() }
        try scene.user.launchAgent()
    }
}
