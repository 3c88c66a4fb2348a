// SPDX-License-Identifier: Apache-2.0

@testable import PushDBus
import TestSupport
import Testing

struct BusNamesTests {
    private static let name = "org.posthorn.Watched"

    @Test func `a name is owned by the connection that took it, or by none`() async throws {
        let bus = try await TestBus()
        #expect(try bus.client.owner(of: BusNamesTests.name) == nil)
        #expect(try bus.server.requestName(BusNamesTests.name))
        #expect(try bus.client.owner(of: BusNamesTests.name) == bus.server.uniqueName)
    }

    @Test func `a connection that waits for a name gets it when its owner leaves`() async throws {
        let bus = try await TestBus()
        var first: BusConnection? = try BusConnection(.address(bus.bus.address))
        #expect(try first?.requestName(BusNamesTests.name) == true)
        #expect(try !bus.client.requestName(BusNamesTests.name))
        #expect(try !bus.server.requestName(BusNamesTests.name, waits: true))
        first = nil
        try bus.work(until: "the name has another owner") {
            try bus.client.owner(of: BusNamesTests.name) == bus.server.uniqueName
        }
    }

    @Test func `only a name with a service file is activatable`() async throws {
        let bus = try await TestBus()
        #expect(try !bus.client.isActivatable(BusNamesTests.name))
        try await bus.bus.addService(BusNamesTests.name, command: "/bin/true")
        #expect(try bus.client.isActivatable(BusNamesTests.name))
    }

    @Test func `a watch reports each owner change of its name and of no other`() async throws {
        let bus = try await TestBus()
        var owners: [String?] = []
        try bus.client.watchOwner(of: BusNamesTests.name) { owners.append($0) }
        var service: BusConnection? = try BusConnection(.address(bus.bus.address))
        let uniqueName = service?.uniqueName
        #expect(try service?.requestName("org.posthorn.Other") == true)
        #expect(try service?.requestName(BusNamesTests.name) == true)
        try bus.work(until: "the name has an owner") { owners.count == 1 }
        service = nil
        try bus.work(until: "the name has none") { owners.count == 2 }
        #expect(owners == [uniqueName, nil])
    }

    @Test func `an owner change that another program forges is ignored`() async throws {
        let bus = try await TestBus()
        var owners: [String?] = []
        try bus.client.watchOwner(of: BusNamesTests.name) { owners.append($0) }
        try await bus.bus.busctl(
            "emit", "--destination=\(bus.client.uniqueName)", "/org/freedesktop/DBus", "org.freedesktop.DBus",
            "NameOwnerChanged", "sss", BusNamesTests.name, "", ":1.999"
        ).succeeded()
        #expect(try bus.server.requestName(BusNamesTests.name))
        try bus.work(until: "the real change is heard") { !owners.isEmpty }
        #expect(owners == [bus.server.uniqueName])
    }

    @Test(arguments: ["", "a", "a.b',type='method_call", "a b.c"])
    func `an invalid name cannot be watched`(name: String) async throws {
        let bus = try await TestBus()
        #expect(throws: BusError.self) { try bus.client.watchOwner(of: name) { _ in } }
    }
}
