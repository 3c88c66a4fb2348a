// SPDX-License-Identifier: Apache-2.0

@testable import PushDBus
import TestSupport
import Testing

struct BusSubscribingTests {
    @Test func `every matching subscription gets a signal, and no other does`() async throws {
        let bus = try await TestBus()
        var heard: [String] = []
        for (label, path, member) in [("any", nil, "Changed"), ("path", TestBus.path, "Changed"), ("no", nil, "Gone")] {
            try bus.client.subscribe(
                sender: bus.server.uniqueName, path: path, interface: TestBus.interface, member: member
            ) { signal in
                heard.append("\(label) \(signal.member) \(signal.arguments.first?.stringValue ?? "")")
            }
        }
        try bus.server.emit("/elsewhere", TestBus.interface, "Changed", [.string("1")])
        try bus.server.emit(TestBus.path, TestBus.interface, "Changed", [.string("2")])
        try bus.work(until: "both signals arrived") { heard.count >= 3 }
        #expect(heard.sorted() == ["any Changed 1", "any Changed 2", "path Changed 2"])
    }

    @Test func `a signal names its sender`() async throws {
        let bus = try await TestBus()
        var signals: [IncomingSignal] = []
        try bus.client.subscribe(sender: nil, path: nil, interface: TestBus.interface, member: "Changed") {
            signals.append($0)
        }
        try bus.server.emit(TestBus.path, TestBus.interface, "Changed", [])
        try bus.work(until: "the signal arrived") { !signals.isEmpty }
        #expect(signals.first?.sender == bus.server.uniqueName)
        #expect(signals.first?.path == TestBus.path)
        #expect(signals.first?.interface == TestBus.interface)
    }

    @Test func `a signal of a foreign client arrives`() async throws {
        let bus = try await TestBus()
        var arguments: [BusValue] = []
        try bus.client.subscribe(sender: nil, path: nil, interface: TestBus.interface, member: "Changed") {
            arguments = $0.arguments
        }
        _ = try await bus.bus.busctl("emit", TestBus.path, TestBus.interface, "Changed", "us", "7", "text").succeeded()
        try bus.work(until: "the signal arrived") { !arguments.isEmpty }
        #expect(arguments == [.uint32(7), .string("text")])
    }

    @Test func `more signals than one turn handles request another turn immediately`() async throws {
        let bus = try await TestBus()
        var count = 0
        try bus.client.subscribe(sender: nil, path: nil, interface: TestBus.interface, member: "Changed") { _ in
            count += 1
        }
        for _ in 0..<600 { try bus.server.emit(TestBus.path, TestBus.interface, "Changed", []) }
        // The bus answers one connection in order. After the first call all signals are on their way.
        // After the second call they have arrived.
        for connection in [bus.server, bus.client] {
            _ = try connection.call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Peer", "Ping")
        }
        try bus.client.process()
        #expect(count > 0 && count <= 256)
        #expect(bus.client.timeout == .zero)
        try bus.work(until: "all signals arrived") { count == 600 }
    }

    @Test(arguments: [("not a name", "a.b", "C"), ("a.b", "nointerface", "C"), ("a.b", "a.b", "no member")])
    func `a malformed subscription is refused`(sender: String, interface: String, member: String) async throws {
        let bus = try await TestBus()
        #expect(throws: BusError.self) {
            try bus.client.subscribe(sender: sender, path: nil, interface: interface, member: member) { _ in }
        }
    }

    @Test func `a signal that cannot be sent is an error`() async throws {
        let bus = try await TestBus()
        #expect(throws: BusError.self) { try bus.client.emit("no path", "a.b", "C", []) }
        #expect(throws: BusError.self) { try bus.client.emit("/", "a.b", "C", [.string("\0")]) }
    }
}
