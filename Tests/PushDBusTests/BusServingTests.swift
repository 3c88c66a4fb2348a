// SPDX-License-Identifier: Apache-2.0

@testable import PushDBus
import TestSupport
import Testing

struct BusServingTests {
    @Test func `a foreign client exchanges values of every container type`() async throws {
        let bus = try await TestBus()
        var received: [BusValue] = []
        try bus.serve { call in
            received = call.arguments
            return .success([.dictionary([("on", .bool(true)), ("count", .uint32(3))]), .strings(["a", "b"])])
        }
        let result = try await busctlWhileServing(
            bus, "call", bus.server.uniqueName, TestBus.path, TestBus.interface, "Any", "a{sv}asa{ss}(ib)", "1", "key",
            "x", "-5", "2", "one", "two", "1", "left", "right", "9", "true")
        #expect(result.output == "a{sv}as 2 \"on\" b true \"count\" u 3 2 \"a\" \"b\"\n")
        #expect(
            received == [
                .dictionary([("key", .int64(-5))]), .strings(["one", "two"]),
                .array("{ss}", [.structure([.string("left"), .string("right")])]),
                .structure([.int32(9), .bool(true)]),
            ])
    }

    @Test func `busctl can introspect and ping our objects`() async throws {
        let bus = try await TestBus()
        try bus.serveEcho()
        let result = try await busctlWhileServing(bus, "introspect", bus.server.uniqueName, TestBus.path)
        #expect(result.output.contains("org.posthorn.Test") && result.output.contains(".Echo"))
        let ping = try await busctlWhileServing(
            bus, "call", bus.server.uniqueName, TestBus.path, "org.freedesktop.DBus.Peer", "Ping")
        #expect(ping.exit == .code(0))
    }

    @Test(arguments: [
        (TestBus.path, "org.posthorn.Other", "Echo", "Unknown interface"),
        (TestBus.path, "org.freedesktop.DBus.Introspectable", "Other", "Unknown"),
        ("/elsewhere", TestBus.interface, "Echo", "Unknown object"),
    ])
    func `other objects and interfaces are unknown`(
        path: String, interface: String, member: String, words: String
    ) async throws {
        let bus = try await TestBus()
        try bus.serveEcho()
        let result = try await busctlWhileServing(bus, "call", bus.server.uniqueName, path, interface, member)
        #expect(result.exit == .code(1))
        #expect(result.errorOutput.contains(words) || result.errorOutput.contains("Unknown method"))
    }

    @Test func `a handler's error reaches the caller with its name and text`() async throws {
        let bus = try await TestBus()
        let error = BusError(name: "org.posthorn.Error.UnknownApp", message: "no such app: 100%s")
        try bus.serve { _ in .failure(error) }
        #expect(try bus.call("Echo") == .failure(error))
    }

    @Test(arguments: ["", "nodots", "a..b", "sp ace.d"])
    func `a malformed error name becomes Failed instead of ending the connection`(name: String) async throws {
        let bus = try await TestBus()
        try bus.serve { _ in .failure(BusError(name: name, message: "text")) }
        #expect(try bus.call("Echo") == .failure(BusError(name: BusError.failedName, message: "text")))
    }

    @Test(arguments: BusValueTests.uncarried)
    func `an error's text loses the characters that a bus cannot carry`(text: String, carried: String) async throws {
        let bus = try await TestBus()
        let name = "org.posthorn.Error.Refused"
        try bus.serve { _ in .failure(BusError(name: name, message: "a \(text)")) }
        #expect(try bus.call("Echo") == .failure(BusError(name: name, message: "a \(carried)")))
    }

    @Test func `an answer that cannot be sent is an error for the caller`() async throws {
        let bus = try await TestBus()
        try bus.serve { _ in .success([.string("a\0b")]) }
        #expect(failure(of: try bus.call("Echo"))?.name == BusError.invalidArgumentsName)
    }

    @Test func `an answer may come later, and only the first counts`() async throws {
        let bus = try await TestBus()
        var replies: [BusReply] = []
        try bus.server.serve(
            path: TestBus.path, interface: TestBus.interface, introspection: TestBus.introspection,
            replyingLater: { replies.append($1) })
        var answers: [Result<[BusValue], BusError>] = []
        bus.client.send(bus.server.uniqueName, TestBus.path, TestBus.interface, "Slow") { answers.append($0) }
        try bus.work(until: "the call arrived") { !replies.isEmpty }
        #expect(answers.isEmpty)
        replies[0].answer(.success([.byte(1)]))
        replies[0].answer(.success([.byte(2)]))
        try bus.work(until: "the answer arrived") { !answers.isEmpty }
        try bus.client.process()
        #expect(answers == [.success([.byte(1)])])
    }

    @Test func `a reply that is dropped answers NoReply`() async throws {
        let bus = try await TestBus()
        try bus.server.serve(
            path: TestBus.path, interface: TestBus.interface, introspection: TestBus.introspection,
            replyingLater: { _, _ in })
        #expect(failure(of: try bus.call("Slow"))?.name == BusError.noReplyName)
    }

    @Test func `a reply that outlives its connection is discarded`() async throws {
        let bus = try await DesktopBus()
        var server: BusConnection? = try BusConnection(.address(bus.address))
        let client = try BusConnection(.address(bus.address))
        var reply: BusReply?
        try server?.serve(
            path: TestBus.path, interface: TestBus.interface, introspection: TestBus.introspection,
            replyingLater: { reply = $1 })
        var answer: Result<[BusValue], BusError>?
        client.send(try #require(server).uniqueName, TestBus.path, TestBus.interface, "Slow") { answer = $0 }
        try await eventually("the call arrived") {
            try server?.process()
            return reply != nil
        }
        server = nil
        reply?.answer(.success([]))
        try await eventually("the caller hears that the service left") {
            try client.process()
            return answer != nil
        }
        #expect(failure(of: answer)?.name == BusError.noReplyName)
    }

    /// Runs busctl while our server answers it.
    private func busctlWhileServing(_ bus: TestBus, _ arguments: String...) async throws -> RunningProcess {
        let process = try RunningProcess(
            RepositoryPaths.tool("busctl"), ["--address=\(bus.bus.address)", "--"] + arguments)
        try bus.work(until: "busctl has ended") { process.exit != nil }
        return process
    }
}
