// SPDX-License-Identifier: Apache-2.0

@testable import PushDBus
import TestSupport
import Testing

struct BusCallingTests {
    @Test func `calling a name without an owner is ServiceUnknown`() async throws {
        let bus = try await TestBus()
        let error = #expect(throws: BusError.self) { try bus.client.call("org.posthorn.Nobody", "/", "a.b", "C") }
        #expect(error?.name == BusError.serviceUnknownName)
    }

    @Test func `a blocking call returns the bus's answer`() async throws {
        let bus = try await TestBus()
        let answer = try bus.client.call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner",
            [.string(bus.server.uniqueName)])
        #expect(answer == [.string(bus.server.uniqueName)])
    }

    @Test func `a service that does not answer is a timeout for both kinds of call`() async throws {
        let bus = try await TestBus()
        let destination = bus.server.uniqueName
        #expect(throws: BusError.self) {
            try bus.client.call(destination, "/", "a.b", "C", timeout: .milliseconds(30))
        }
        var answers: [Result<[BusValue], BusError>] = []
        bus.client.send(destination, "/", "a.b", "C", timeout: .milliseconds(30)) { answers.append($0) }
        try await eventually("the call times out") {
            try bus.client.process()
            return !answers.isEmpty
        }
        try bus.server.process()
        try bus.client.process()
        #expect(answers.count == 1)
    }

    @Test(arguments: [
        ("no destination!", "/", "a.b", "C", [BusValue]()), ("a.b", "no path", "a.b", "C", []),
        ("a.b", "/", "nointerface", "C", []), ("a.b", "/", "a.b", "no member", []),
        ("a.b", "/", "a.b", "C", [.string("a\0b")]), ("a.b", "/", "a.b", "C", [.objectPath("a//b")]),
        ("a.b", "/", "a.b", "C", [.array("", [])]), ("a.b", "/", "a.b", "C", [.array("s", [.int32(1)])]),
        ("a.b", "/", "a.b", "C", [.array("{ss}", [.string("no pair")])]), ("a.b", "/", "a.b", "C", [.structure([])]),
        ("a.b", "/", "a.b", "C", [.array("{", [])]), ("a.b", "/", "a.b", "C", [.typeSignature("(")]),
    ])
    func `a message that cannot be sent fails in both kinds of call, and the connection stays usable`(
        destination: String, path: String, interface: String, member: String, arguments: [BusValue]
    ) async throws {
        let bus = try await TestBus()
        #expect(throws: BusError.self) { try bus.client.call(destination, path, interface, member, arguments) }
        var answers: [Result<[BusValue], BusError>] = []
        bus.client.send(destination, path, interface, member, arguments) { answers.append($0) }
        #expect(answers.isEmpty, "the completion runs in process(), not in send()")
        try bus.client.process()
        #expect(answers.count == 1 && failure(of: answers.first) != nil)
        try bus.serveEcho()
        #expect(try bus.call("Echo", [.byte(1)]).get() == [.byte(1)])
    }

    @Test(arguments: [262_143, 262_144])
    func `a message with more values than the limit is refused without reading it`(elementCount: Int) async throws {
        let bus = try await TestBus()
        try bus.serve { .success([.uint32(UInt32($0.arguments.first?.arrayValue?.count ?? 0))]) }
        let bytes = BusValue.array("y", Array(repeating: .byte(0), count: elementCount))
        let answer = try bus.call("Count", [bytes])
        // The array itself counts as one value.
        if elementCount < 262_144 {
            #expect(try answer.get() == [.uint32(UInt32(elementCount))])
        } else {
            #expect(failure(of: answer)?.name == BusError.limitsExceededName)
        }
    }

    @Test func `values nested deeper than the bus permits are refused before sending`() async throws {
        let bus = try await TestBus()
        var value = BusValue.byte(0)
        for _ in 0..<100 { value = .variant(value) }
        let error = #expect(throws: BusError.self) {
            try bus.client.call(bus.server.uniqueName, "/", "a.b", "C", [value])
        }
        #expect(error?.name == BusError.invalidArgumentsName)
    }

    @Test func `a completion may make another call`() async throws {
        let bus = try await TestBus()
        try bus.serveEcho()
        var second: Result<[BusValue], BusError>?
        bus.client.send(bus.server.uniqueName, TestBus.path, TestBus.interface, "Echo", [.byte(1)]) { _ in
            bus.client.send(bus.server.uniqueName, TestBus.path, TestBus.interface, "Echo", [.byte(2)]) { second = $0 }
        }
        try bus.work(until: "the second call is answered") { second != nil }
        #expect(try second?.get() == [.byte(2)])
    }
}
