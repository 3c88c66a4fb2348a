// SPDX-License-Identifier: Apache-2.0

@testable import DeviceAgent
import LoopTestSupport
import PushCore
import TestSupport
import Testing

/// Checks that the agent reports power saving on each stream.
///
/// While a machine saves power, the server batches low-priority notifications.
final class PowerSavingTests {
    private let directory: TemporaryDirectory
    private let server: ScriptedDeviceServer

    init() async throws {
        directory = try TemporaryDirectory()
        server = try await ScriptedDeviceServer()
    }

    /// The power states that the server received, in order.
    private var told: [String] { server.requests("PUT /v1/power") }

    @Test func `each stream is notified of power saving, and of each change`() async throws {
        let harness = try AgentHarness(in: directory)
        harness.agent.savesPower = true
        _ = try await harness.enrol(with: server)
        let (saving, notSaving) = (#"PUT /v1/power {"saving":true}"#, #"PUT /v1/power {"saving":false}"#)
        try await harness.loop.run("the first stream hears it") { told == [saving] }
        try await server.endStreams()
        try await harness.loop.run("the second stream hears it") { told == [saving, saving] }
        harness.agent.savesPower = false
        try await harness.loop.run("it hears the end") { told == [saving, saving, notSaving] }
        try await server.endStreams()
        try await harness.loop.run("it noticed") { !harness.isConnected() }
        try await harness.loop.run("a third stream is open") { harness.isConnected() }
        // The server's default needs no request, so the next state is the fourth request.
        harness.agent.savesPower = true
        try await harness.loop.run("the third stream hears it") { told.count >= 4 }
        #expect(told == [saving, saving, notSaving, saving])
    }

    @Test(arguments: [(503, 2), (404, 1)])
    func `a server that failed is notified again, and one without the feature is not`(
        status: Int, count: Int
    ) async throws {
        try await server.fail("/v1/power", status: status)
        let harness = try AgentHarness(in: directory)
        harness.agent.savesPower = true
        _ = try await harness.enrol(with: server)
        try await harness.loop.run("it was told so often") { told.count == count }
        _ = try await harness.register("org.example.Mail")
        #expect(told.count == count)
    }

    /// A daemon of the system bus, and its property for power saving.
    struct Daemon: Sendable, CustomTestStringConvertible {
        var template: String
        var name: String
        var path: String
        var property: String
        /// The value as `busctl` expects it: signature and value.
        var saving: (String, String)
        var notSaving: (String, String)
        var testDescription: String { name }
    }

    static let daemons = [
        Daemon(
            template: "upower", name: "org.freedesktop.UPower", path: "/org/freedesktop/UPower",
            property: "OnBattery", saving: ("b", "true"), notSaving: ("b", "false")),
        Daemon(
            template: "power_profiles_daemon", name: "net.hadess.PowerProfiles", path: "/net/hadess/PowerProfiles",
            property: "ActiveProfile", saving: ("s", "power-saver"), notSaving: ("s", "balanced")),
    ]

    @Test(.tags(.slow), arguments: daemons)
    func `the agent reads power saving from the system's daemons, at its start and later`(
        daemon: Daemon
    ) async throws {
        let bus = try await DesktopBus()
        let system = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        let mock = try RunningProcess(
            "/usr/bin/python3", ["-m", "dbusmock", "--template", daemon.template], environment: system)
        try await bus.waitForOwner(of: daemon.name, evidence: { mock.transcript })
        try await set(daemon, daemon.saving, on: bus)
        let user = try await DeviceUser(busAddress: bus.address, environment: system)
        try await user.posthorn("agent", "enrol", server.url, "C0DE-C0DE-C0DE", "--ca-file", server.caFile)
        try await waitUntilTold([true], user)
        try await set(daemon, daemon.notSaving, on: bus)
        try await waitUntilTold([true, false], user)
        try await set(daemon, daemon.saving, on: bus)
        try await waitUntilTold([true, false, true], user)
        // A daemon that has ended sends no more signals.
        try await mock.killNow()
        try await waitUntilTold([true, false, true, false], user)
    }

    @Test(.tags(.slow)) func `a restarted system bus is read again`() async throws {
        let daemon = Self.daemons[0]
        var bus = try await DesktopBus()
        let session = try await DesktopBus()
        let system = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "DBUS_SESSION_BUS_ADDRESS": session.address]
        func mocks() async throws -> [RunningProcess] {
            let names = [(daemon.template, daemon.name), ("logind", "org.freedesktop.login1")]
            var mocks: [RunningProcess] = []
            for (template, name) in names {
                let mock = try RunningProcess(
                    "/usr/bin/python3", ["-m", "dbusmock", "--system", "--template", template], environment: system)
                try await bus.waitForOwner(of: name, evidence: { mock.transcript })
                mocks.append(mock)
            }
            return mocks
        }
        let first = try await mocks()
        try await set(daemon, daemon.saving, on: bus)
        let user = try await DeviceUser(busAddress: session.address, environment: system)
        try await user.posthorn("agent", "enrol", server.url, "C0DE-C0DE-C0DE", "--ca-file", server.caFile)
        try await waitUntilTold([true], user)
        try await bus.stop()
        try await eventually("it noticed", evidence: { user.agent.now.transcript }) {
            user.agent.now.errorOutput.contains("event=system_bus_lost")
        }
        bus = try await DesktopBus(inPlaceOf: bus)
        let second = try await mocks()
        try await waitUntilTold([true, false], user)
        try await set(daemon, daemon.saving, on: bus)
        try await waitUntilTold([true, false, true], user)
        try await eventually("the observer hears of the sleep", evidence: { user.agent.now.transcript }) {
            try await bus.busctl(
                "call", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.DBus.Mock", "EmitSignal",
                "sssav", "org.freedesktop.login1.Manager", "PrepareForSleep", "b", "1", "b", "true"
            ).succeeded()
            return user.agent.now.errorOutput.contains("event=machine news=sleeps")
        }
        withExtendedLifetime((first, second)) {}
    }

    private func waitUntilTold(_ values: [Bool], _ user: DeviceUser) async throws {
        try await eventually("the server was told \(values)", evidence: { user.agent.now.transcript }) {
            told == values.map { #"PUT /v1/power {"saving":\#($0)}"# }
        }
    }

    private func set(_ daemon: Daemon, _ value: (String, String), on bus: DesktopBus) async throws {
        try await bus.busctl(
            "call", daemon.name, daemon.path, "org.freedesktop.DBus.Mock", "UpdateProperties", "sa{sv}", daemon.name,
            "1", daemon.property, value.0, value.1
        ).succeeded()
    }
}
