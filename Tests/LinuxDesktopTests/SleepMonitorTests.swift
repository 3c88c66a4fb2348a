// SPDX-License-Identifier: Apache-2.0

@testable import LinuxDesktop
import PushDBus
import PushNet
import LoopTestSupport
import TestSupport
import Testing

/// Runs the watch on a private system bus, on which python-dbusmock simulates logind and NetworkManager.
@Suite struct WakeWatchTests {
    private let bus: DesktopBus
    private let logind: RunningProcess
    private let loop: EventLoop

    init() async throws {
        bus = try await DesktopBus()
        loop = try EventLoop()
        logind = try await Self.start("logind", named: "org.freedesktop.login1", on: bus)
    }

    private static func start(_ template: String, named name: String, on bus: DesktopBus) async throws -> RunningProcess
    {
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "DBUS_SESSION_BUS_ADDRESS": bus.address]
        let mock = try RunningProcess(
            "/usr/bin/python3", ["-m", "dbusmock", "--system", "--template", template], environment: environment)
        try await bus.waitForOwner(of: name, evidence: { mock.transcript })
        return mock
    }

    private final class Heard {
        var events: [SleepMonitor.Event] = []
    }

    private func watch(_ heard: Heard) throws -> SleepMonitor {
        try SleepMonitor(loop: loop, connection: BusConnection(.address(bus.address)), log: testLog) {
            heard.events.append($0)
        }
    }

    /// Returns logind's list of inhibitors, queried without the loop's help.
    private func inhibitors() async throws -> String {
        try await bus.busctl(
            "call", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
            "ListInhibitors"
        ).output
    }

    private func waitForLocks(_ count: Int) async throws {
        try await eventually("there are \(count) locks") {
            try await loop.run("a turn") { true }
            loop.schedule(after: .milliseconds(20)) { loop.stop() }
            loop.run()
            return try await inhibitors().hasPrefix("a(ssssuu) \(count)")
        }
    }

    private func prepareForSleep(_ isBeginning: Bool) async throws {
        let result = try await bus.busctl(
            "call", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.DBus.Mock", "EmitSignal",
            "sssav", "org.freedesktop.login1.Manager", "PrepareForSleep", "b", "1", "b", "\(isBeginning)")
        #expect(result.exit == .code(0), "\(result)")
    }

    @Test func `the machine delays its sleep until the goodbye is sent, each time`() async throws {
        let heard = Heard()
        let watch = try watch(heard)
        for round in 1...2 {
            try await waitForLocks(1)
            #expect(try await inhibitors().contains(#""sleep" "Posthorn" "Says goodbye to the server" "delay""#))
            try await prepareForSleep(true)
            try await loop.run("it hears of it") { heard.events.count == 2 * round - 1 }
            try await waitForLocks(0)
            try await prepareForSleep(false)
            try await loop.run("it hears of it") { heard.events.count == 2 * round }
        }
        #expect(heard.events == [.sleeps, .wakes, .sleeps, .wakes])
        withExtendedLifetime(watch) {}
    }

    @Test func `a restarted logind is asked for another lock`() async throws {
        let heard = Heard()
        let watch = try watch(heard)
        try await waitForLocks(1)
        try await logind.killNow()
        let next = try await Self.start("logind", named: "org.freedesktop.login1", on: bus)
        try await waitForLocks(1)
        try await next.killNow()
        #expect(heard.events.isEmpty)
        withExtendedLifetime(watch) {}
    }

    @Test func `a sleep whose end is not reported ends with the system bus`() async throws {
        let heard = Heard()
        let watch = try watch(heard)
        try await waitForLocks(1)
        try await prepareForSleep(true)
        try await loop.run("it hears of it") { heard.events == [.sleeps] }
        try await bus.stop()
        try await loop.run("it hears of it") { heard.events == [.sleeps, .wakes] }
        withExtendedLifetime(watch) {}
    }

    @Test func `a network that returns is reported, and one that is lost is not`() async throws {
        let name = "org.freedesktop.NetworkManager"
        let manager = try await Self.start("networkmanager", named: name, on: bus)
        let heard = Heard()
        let watch = try watch(heard)
        // 20: disconnected. 60: connected to a site. 70: connected to the internet. Signals come in order.
        for state in [20, 60, 70, 20, 70] {
            let result = try await bus.busctl(
                "call", name, "/org/freedesktop/NetworkManager", "org.freedesktop.DBus.Mock", "EmitSignal", "sssav",
                name,
                "StateChanged", "u", "1", "u", "\(state)")
            #expect(result.exit == .code(0), "\(result)")
        }
        try await loop.run("it hears of it") { heard.events.count == 2 }
        #expect(heard.events == [.networkChanged, .networkChanged])
        withExtendedLifetime((watch, manager)) {}
    }
}
