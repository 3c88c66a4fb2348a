// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceEndToEnd {
    /// Checks an agent while the clock of the user's machine jumps.
    ///
    /// The server's clock and the timers' clock do not jump, as in the kernel.
    @Suite(.preloadsLibrary) struct AgentClockTests {
        private let clock: UserClock
        private let bus: DesktopBus
        private let daemon: RecordingDaemon
        private let icon: RunningProcess
        private let stack: TestStack

        init() async throws {
            clock = try UserClock()
            bus = try await DesktopBus()
            daemon = try await RecordingDaemon(bus)
            icon = try await bus.monitor("type='signal',interface='com.canonical.Unity.LauncherEntry'")
            stack = try await TestStack(bus: bus, environment: clock.environment)
        }

        private func send(_ number: Int, hasBadge: Bool = true, timeToLiveSeconds: Int? = nil) async throws {
            let badge = hasBadge ? #","badge":\#(number)"# : ""
            var notification = SentNotification(
                token: stack.token, payload: #"{"aps":{"alert":"number \#(number)"\#(badge)}}"#)
            notification.timeToLiveSeconds = timeToLiveSeconds
            #expect(try await stack.provider.send(notification).status == 200)
        }

        private func entry(_ number: Int) async throws -> InboxEntry {
            try await stack.user.waitForEntry("number \(number) is settled") {
                $0.body == "number \(number)" && $0.state != "waiting" && $0.state != "claimed"
            }
        }

        private var evidence: String { stack.user.agent.now.transcript }

        /// Checks that all numbers are in the inbox and were shown once, in order, and that the badge is the last
        /// number.
        private func checkAllShown(_ numbers: ClosedRange<Int>) async throws {
            let bodies = numbers.map { "number \($0)" }
            #expect(try await stack.user.wholeInbox().map(\.body) == bodies)
            #expect(daemon.shown().map(\.call.body) == bodies)
            try await eventually("the badge is the last", evidence: { icon.transcript }) {
                icon.output.matches(of: /"count"\s+variant\s+int64 ([0-9]+)/).last?.1 == "\(numbers.upperBound)"
            }
        }

        /// Returns the CPU seconds that the agent has used so far.
        private func processorSeconds() throws -> Double {
            let statistics = readText("/proc/\(stack.user.agent.now.identifier)/stat")
            let fields = try #require(statistics.split(separator: ")").last).split(separator: " ")
            let ticks = try #require(Int(fields[11])) + #require(Int(fields[12]))
            return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }

        @Test(.tags(.slow)) func `all alerts are shown once with any clock, and no timer spins`() async throws {
            // Many banners of an app in a short time would be summed up.
            try await stack.user.posthorn("settings", "set", TestStack.app, "alert", "alert")
            let jumps = ["+0", "+3h", "-3h", "+3650d", "-3650d", "+0"]
            for (index, offset) in jumps.enumerated() {
                let before = try processorSeconds()
                try clock.jump(to: offset)
                // By a clock that is ahead this notification would have expired long ago.
                try await send(index + 1, timeToLiveSeconds: 600)
                #expect(try await entry(index + 1).state == "shown", "\(offset): \(evidence)")
                try await Task.sleep(for: .seconds(1))
                #expect(try processorSeconds() - before < 1, "\(offset)")
            }
            try await checkAllShown(1...jumps.count)
        }

        @Test(.tags(.slow)) func `alerts wait for a notification server, and the inbox for its age, over any jump`()
            async throws
        {
            try await send(1)
            #expect(try await entry(1).state == "shown")
            try await daemon.kill()
            try await send(2)
            try await stack.user.waitForEntry("it waits") { $0.body == "number 2" && $0.state == "waiting" }
            for offset in ["-20d", "+3650d"] {
                try clock.jump(to: offset)
                try await stack.user.agent.killNow()
                try await stack.user.startAgent()
                #expect(try await stack.user.wholeInbox().map(\.state) == ["shown", "waiting"], "\(offset)")
            }
            // No certificate is valid at such a time, so the notification arrives when the clock is correct again.
            try await send(3)
            try clock.jump(to: "+0")
            try await stack.user.waitUntilConnected()
            try await daemon.start()
            #expect(try await entry(3).state == "shown")
            try await checkAllShown(1...3)
        }

        @Test(.tags(.slow)) func `do-not-disturb uses the current clock`() async throws {
            try await stack.user.posthorn("dnd", "for", "1h")
            try await send(1, hasBadge: false)
            #expect(try await entry(1).reason == "do-not-disturb")
            try clock.jump(to: "+2h")
            try await send(2, hasBadge: false)
            #expect(try await entry(2).state == "shown")
            try clock.jump(to: "+0")
            try await send(3, hasBadge: false)
            #expect(try await entry(3).reason == "do-not-disturb")

            try await stack.user.posthorn("dnd", "off")
            let start = (Int(Date().timeIntervalSince1970) / 60 + 12 * 60) % (24 * 60)
            let times = [start, start + 60].map { $0 % (24 * 60) }.map { String(format: "%02d:%02d", $0 / 60, $0 % 60) }
            try await stack.user.posthorn("settings", "set", "schedule", "mon-sun \(times[0])-\(times[1])")
            try await send(4, hasBadge: false)
            #expect(try await entry(4).state == "shown")
            try clock.jump(to: "-690m")
            try await send(5, hasBadge: false)
            #expect(try await entry(5).reason == "do-not-disturb")
            try clock.jump(to: "+0")
            try await send(6, hasBadge: false)
            #expect(try await entry(6).state == "shown")
            #expect(daemon.shown().map(\.call.body) == ["number 2", "number 4", "number 6"])
        }
    }
}
