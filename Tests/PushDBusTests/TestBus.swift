// SPDX-License-Identifier: Apache-2.0

import PushDBus
import TestSupport

/// A real bus with two connections of ours: one that serves, one that calls.
final class TestBus {
    static let path = "/org/posthorn/Test"
    static let interface = "org.posthorn.Test"
    static let introspection: StaticString = """
        <node><interface name="org.posthorn.Test"><method name="Echo"/></interface></node>
        """

    let bus: DesktopBus
    let server: BusConnection
    let client: BusConnection

    init() async throws {
        bus = try await DesktopBus()
        server = try BusConnection(.address(bus.address))
        client = try BusConnection(.address(bus.address))
    }

    /// Serves the test's object.
    func serve(_ handler: @escaping (IncomingCall) -> Result<[BusValue], BusError>) throws {
        try server.serve(
            path: TestBus.path, interface: TestBus.interface, introspection: TestBus.introspection, handler)
    }

    /// Serves a method that answers its arguments.
    func serveEcho() throws { try serve { .success($0.arguments) } }

    /// Lets both connections work until a condition holds.
    func work(until what: String, _ condition: () throws -> Bool) async throws {
        try await eventually(what) {
            try server.process()
            try client.process()
            return try condition()
        }
    }

    /// Calls the test's object from the client while the server answers.
    func call(_ member: String, _ arguments: [BusValue] = []) async throws -> Result<[BusValue], BusError> {
        var answer: Result<[BusValue], BusError>?
        client.send(server.uniqueName, TestBus.path, TestBus.interface, member, arguments) { answer = $0 }
        try await work(until: "\(member) is answered") { answer != nil }
        guard let answer else { throw BusError(name: "", message: "no answer") }
        return answer
    }
}

/// The error of a result; nil when it is a success.
func failure<Value>(of result: Result<Value, BusError>?) -> BusError? {
    guard case .failure(let error) = result else { return nil }
    return error
}
