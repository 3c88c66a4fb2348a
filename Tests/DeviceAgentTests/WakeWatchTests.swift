// SPDX-License-Identifier: Apache-2.0

import DeviceAgent
import PushDBus
import PushNet
import TestSupport
import Testing

/// A system bus of the test's own with python-dbusmock's logind, which is none of ours.
@Suite struct WakeWatchTests {
    private let bus: DesktopBus
    private let logind: RunningProcess
    private let loop: EventLoop

    init() async throws {
        bus = try await DesktopBus()
        loop = try EventLoop()
        logind = try Self.startLogind(on: bus)
        try await bus.waitForOwner(of: "org.freedesktop.login1")
    }

    private static func startLogind(on bus: DesktopBus) throws -> RunningProcess {
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "DBUS_SESSION_BUS_ADDRESS": bus.address]
        return try RunningProcess(
            "/usr/bin/python3", ["-m", "dbusmock", "--system", "--template", "logind"], environment: environment)
    }

    private final class Heard {
        var events: [WakeWatch.Event] = []
    }

    private func watch(_ heard: Heard) throws -> WakeWatch {
        try WakeWatch(loop: loop, connection: BusConnection(.address(bus.address))) { heard.events.append($0) }
    }

    /// Who keeps the machine awake, as logind tells; asked without the loop's help.
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

    @Test func `the machine waits with its sleep until the goodbye is said, each time`() async throws {
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

    @Test func `a logind that restarted is asked for another lock`() async throws {
        let heard = Heard()
        let watch = try watch(heard)
        try await waitForLocks(1)
        try await logind.killNow()
        let next = try Self.startLogind(on: bus)
        try await bus.waitForOwner(of: "org.freedesktop.login1")
        try await waitForLocks(1)
        try await next.killNow()
        #expect(heard.events.isEmpty)
        withExtendedLifetime(watch) {}
    }

    @Test func `a sleep whose end nobody tells ends with the system bus`() async throws {
        let heard = Heard()
        let watch = try watch(heard)
        try await waitForLocks(1)
        try await prepareForSleep(true)
        try await loop.run("it hears of it") { heard.events == [.sleeps] }
        try await bus.stop()
        try await loop.run("it hears of it") { heard.events == [.sleeps, .wakes] }
        withExtendedLifetime(watch) {}
    }
}
