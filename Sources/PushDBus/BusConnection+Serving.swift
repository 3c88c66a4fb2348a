// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// One interface of one object that the connection serves; kept by the connection.
final class ServedObject {
    let interface: String
    let introspection: StaticString
    let handler: (IncomingCall, BusReply) -> Void
    unowned let connection: BusConnection

    init(
        _ connection: BusConnection, interface: String, introspection: StaticString,
        _ handler: @escaping (IncomingCall, BusReply) -> Void
    ) {
        self.connection = connection
        self.interface = interface
        self.introspection = introspection
        self.handler = handler
    }

    /// Answers a call if it is ours; false leaves it to sd-bus, which answers `Peer` and says UnknownMethod.
    func receive(_ message: consuming BusMessage) -> Bool {
        let call = IncomingCall(
            sender: message.sender, path: message.path, interface: message.interface, member: message.member,
            arguments: [])
        if call.interface == "org.freedesktop.DBus.Introspectable" {
            guard call.member == "Introspect" else { return false }
            BusReply(message, on: connection).answer(.success([.string(introspection.description)]))
            return true
        }
        guard call.interface == interface else { return false }
        dispatch(call, message)
        return true
    }

    private func dispatch(_ call: IncomingCall, _ message: consuming BusMessage) {
        var call = call
        do {
            call.arguments = try message.values()
        } catch {
            BusReply(message, on: connection).answer(.failure(error))
            return
        }
        handler(call, BusReply(message, on: connection))
    }
}

/// The answer that a caller waits for; give it once, now or later, on the connection's thread.
///
/// One that is dropped without an answer answers NoReply, so that no caller waits for a bug.
package final class BusReply {
    /// Called once, when the answer was given.
    package var onAnswer: (() -> Void)?
    private var call: BusMessage?
    private weak var connection: BusConnection?

    init(_ call: consuming BusMessage, on connection: BusConnection) {
        self.call = consume call
        self.connection = connection
    }

    deinit { answer(.failure(BusError(name: BusError.noReplyName, message: "the service gave no answer"))) }

    /// Sends the answer; every further one is ignored.
    ///
    /// A caller that left meanwhile is no failure, and values that cannot be sent become an error for the caller.
    ///
    /// - Parameter result: What the method returns, or why it does not.
    package func answer(_ result: Result<[BusValue], BusError>) {
        guard let call = call.take() else { return }
        defer { onAnswer.take()?() }
        guard let connection else { return }
        defer { connection.activityHandler?() }
        do {
            switch result {
            case .success(let values):
                let reply = try call.reply()
                try reply.append(values)
                try unsafe reply.send(on: connection.handle)
            case .failure(let error):
                try unsafe call.failure(error).send(on: connection.handle)
            }
        } catch {
            try? unsafe call.failure(error).send(on: connection.handle)
        }
    }
}

extension BusConnection {
    /// Serves an object: the handler answers each method call of the interface at once.
    ///
    /// Introspect answers with the XML; other calls get UnknownMethod; org.freedesktop.DBus.Peer is sd-bus's.
    ///
    /// - Parameters:
    ///   - path: The object.
    ///   - interface: Whose methods the handler knows.
    ///   - introspection: The XML that describes the object.
    ///   - handler: Runs in `process()`.
    /// - Throws: `BusError` when the path is malformed.
    package func serve(
        path: String, interface: String, introspection: StaticString,
        _ handler: @escaping (IncomingCall) -> Result<[BusValue], BusError>
    ) throws(BusError) {
        try serve(
            path: path, interface: interface, introspection: introspection,
            replyingLater: { call, reply in
                reply.answer(handler(call))
            })
    }

    /// Serves an object whose answers may come later: the handler keeps the reply and answers it when it can.
    ///
    /// - Parameters:
    ///   - path: The object.
    ///   - interface: Whose methods the handler knows.
    ///   - introspection: The XML that describes the object.
    ///   - handler: Runs in `process()`.
    /// - Throws: `BusError` when the path is malformed.
    package func serve(
        path: String, interface: String, introspection: StaticString,
        replyingLater handler: @escaping (IncomingCall, BusReply) -> Void
    ) throws(BusError) {
        let object = ServedObject(self, interface: interface, introspection: introspection, handler)
        let address = unsafe Unmanaged.passUnretained(object).toOpaque()
        try BusError.check(unsafe sd_bus_add_object(handle, nil, path, callArrived, address), "serve an object")
        servedObjects.append(object)
    }
}

/// `sd_bus_message_handler_t` for a method call to a served object.
private func callArrived(
    _ message: OpaquePointer?, _ userData: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message = unsafe message, let userData = unsafe userData else { return 0 }
    let object = unsafe Unmanaged<ServedObject>.fromOpaque(userData).takeUnretainedValue()
    return unsafe object.receive(BusMessage(borrowing: message)) ? 1 : 0
}
