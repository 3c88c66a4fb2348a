// SPDX-License-Identifier: Apache-2.0

import AgentBus
@testable import AgentStore
@testable import DeviceAgent
import Foundation
import LinuxDesktop
import PushAPI
import PushCore
import PushDBus
import PushNet
import PushSQLite
import LoopTestSupport
import TestSupport
import Testing

/// The agent's service on a real bus, with a client on the same loop.
final class ServiceHarness {
    let harness: AgentHarness
    let service: AgentService
    private let serviceDriver: BusDriver
    private let clientDriver: BusDriver
    let client: BusConnection
    var signals: [String] = []

    init(busAddress: String, directory: TemporaryDirectory) throws {
        harness = try AgentHarness(in: directory)
        let connection = try BusConnection(.address(busAddress))
        serviceDriver = try BusDriver(loop: harness.loop, connection: connection)
        service = try AgentService(harness.agent, on: connection, deviceName: "test", callers: AnyCaller())
        client = try BusConnection(.address(busAddress))
        clientDriver = try BusDriver(loop: harness.loop, connection: client)
        harness.agent.observer = service
        let members = [
            "TokenChanged", "BadgeChanged", "SettingsChanged", "InboxChanged", "SubscriptionEnded",
            "NotificationArrived", "StatusChanged",
        ]
        for member in members {
            try client.subscribe(sender: nil, path: AgentInterface.path, interface: AgentInterface.name, member: member)
            {
                [weak self] signal in
                self?.signals.append("\(member) \(signal.arguments.compactMap(\.stringValue).joined(separator: " "))")
            }
        }
        try harness.agent.start()
        _ = try service.claimName()
    }

    func call(_ member: String, _ arguments: BusValue...) async throws -> Result<[BusValue], BusError> {
        var result: Result<[BusValue], BusError>?
        client.send(AgentInterface.name, AgentInterface.path, AgentInterface.name, member, arguments) { result = $0 }
        try await harness.loop.run("\(member) is answered") { result != nil }
        guard let result else { throw NeverHappened(what: "\(member) is answered") }
        return result
    }

    func set(_ appID: String, _ name: String, _ value: String) async throws -> Result<[BusValue], BusError> {
        try await call("SetSetting", .string(appID), .string(""), .string(name), .string(value))
    }

    /// Calls a method and returns the last part of the error's name.
    func refusal(_ member: String, _ arguments: [BusValue]) async throws -> String? {
        var result: Result<[BusValue], BusError>?
        client.send(AgentInterface.name, AgentInterface.path, AgentInterface.name, member, arguments) { result = $0 }
        try await harness.loop.run("\(member) is answered") { result != nil }
        guard case .failure(let error) = result else { return nil }
        return error.name.split(separator: ".").last.map(String.init)
    }
}

/// A message bus, a device server and a folder, with which a test starts the agent's service.
struct ServiceSetup {
    let bus: DesktopBus
    let server: ScriptedDeviceServer
    private let directory: TemporaryDirectory

    init() async throws {
        bus = try await DesktopBus()
        server = try await ScriptedDeviceServer()
        directory = try TemporaryDirectory()
    }

    func start() throws -> ServiceHarness { try ServiceHarness(busAddress: bus.address, directory: directory) }

    func enrol(_ service: ServiceHarness) async throws {
        let answer = try await service.call("Enrol", .string(server.url), .string("C0DE"), .string(server.caFile)).get()
        #expect(answer == [.string("00000000000000ab")])
        try await service.harness.loop.run("the stream is open") { service.harness.isConnected() }
    }
}
