// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushDBus
import TestSupport

/// A real bus with two connections: a server and a client.
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

    /// Serves the test object.
    func serve(_ handler: @escaping (IncomingCall) -> Result<[BusValue], BusError>) throws {
        try server.serve(
            path: TestBus.path, interface: TestBus.interface, introspection: TestBus.introspection, handler)
    }

    /// Serves a method that returns its arguments.
    func serveEcho() throws { try serve { .success($0.arguments) } }

    /// Runs both connections until a condition holds.
    ///
    /// Does not suspend. Otherwise one end could wait for other tests until the other end's deadline passes.
    ///
    /// - Parameters:
    ///   - what: The condition in words.
    ///   - condition: Returns whether the condition holds.
    /// - Throws: An error when the deadline passes, or the condition's error.
    func work(until what: String, _ condition: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + Patience.usual * Patience.factor
        var descriptors = [server, client].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while true {
            try server.process()
            try client.process()
            if try condition() { return }
            guard ContinuousClock.now < deadline else { throw BusError(name: "deadline passed", message: what) }
            _ = unsafe poll(&descriptors, nfds_t(descriptors.count), 10)
        }
    }

    /// Calls the test object from the client while the server answers.
    func call(_ member: String, _ arguments: [BusValue] = []) throws -> Result<[BusValue], BusError> {
        var answer: Result<[BusValue], BusError>?
        client.send(server.uniqueName, TestBus.path, TestBus.interface, member, arguments) { answer = $0 }
        try work(until: "\(member) is answered") { answer != nil }
        guard let answer else { throw BusError(name: "", message: "no answer") }
        return answer
    }
}

/// Returns the error of a result, or nil if the result is a success.
func failure<Value>(of result: Result<Value, BusError>?) -> BusError? {
    guard case .failure(let error) = result else { return nil }
    return error
}
