// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// An interface of an object that the connection serves; owned by the connection.
final class ServedObject {
    let interface: String
    let introspection: StaticString
    let hasProperties: Bool
    let handler: (IncomingCall, BusReply) -> Void
    unowned let connection: BusConnection

    init(
        _ connection: BusConnection, interface: String, introspection: StaticString, hasProperties: Bool,
        _ handler: @escaping (IncomingCall, BusReply) -> Void
    ) {
        self.connection = connection
        self.interface = interface
        self.hasProperties = hasProperties
        self.introspection = introspection
        self.handler = handler
    }

    /// Handles a call to this interface; returns false to leave it to sd-bus, which serves `Peer` and replies
    /// UnknownMethod.
    func receive(_ message: consuming BusMessage) -> Bool {
        let call = IncomingCall(
            sender: message.sender, path: message.path, interface: message.interface, member: message.member,
            arguments: [])
        if call.interface == "org.freedesktop.DBus.Introspectable" {
            guard call.member == "Introspect" else { return false }
            BusReply(message, on: connection).answer(.success([.string(introspection.description)]))
            return true
        }
        let isOfProperties = hasProperties && call.interface == IncomingCall.propertiesInterface
        guard call.interface == interface || isOfProperties else { return false }
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

/// The reply that a caller waits for.
///
/// Send it once, now or later, on the connection's thread.
///
/// A reply that is released without an answer sends NoReply, so that a bug leaves no caller waiting.
package final class BusReply {
    /// Called once, after the reply was sent.
    package var onAnswer: (() -> Void)?
    private var call: BusMessage?
    private weak var connection: BusConnection?

    init(_ call: consuming BusMessage, on connection: BusConnection) {
        self.call = consume call
        self.connection = connection
    }

    deinit { answer(.failure(BusError(name: BusError.noReplyName, message: "the service gave no answer"))) }

    /// Sends the reply; later calls are ignored.
    ///
    /// A caller that has disconnected is not an error. If the values cannot be sent, the caller gets an error.
    ///
    /// - Parameter result: The values that the method returns, or the error.
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
    /// Serves an object whose handler answers each method call of the interface immediately.
    ///
    /// Introspect returns the XML, sd-bus serves org.freedesktop.DBus.Peer, and all other calls get UnknownMethod.
    ///
    /// - Parameters:
    ///   - path: The path of the object.
    ///   - interface: The interface whose methods the handler implements.
    ///   - introspection: The XML that describes the object.
    ///   - handler: Called in `process()`.
    /// - Throws: `BusError` if the path is malformed.
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

    /// Serves an object whose handler may keep a reply and answer it later.
    ///
    /// - Parameters:
    ///   - path: The path of the object.
    ///   - interface: The interface whose methods the handler implements.
    ///   - introspection: The XML that describes the object.
    ///   - hasProperties: Whether the handler also gets the calls of `org.freedesktop.DBus.Properties`.
    ///   - handler: Called in `process()`.
    /// - Throws: `BusError` if the path is malformed.
    package func serve(
        path: String, interface: String, introspection: StaticString, hasProperties: Bool = false,
        replyingLater handler: @escaping (IncomingCall, BusReply) -> Void
    ) throws(BusError) {
        let object = ServedObject(
            self, interface: interface, introspection: introspection, hasProperties: hasProperties, handler)
        let address = unsafe Unmanaged.passUnretained(object).toOpaque()
        try BusError.check(unsafe sd_bus_add_object(handle, nil, path, callArrived, address), "serve an object")
        servedObjects.append(object)
    }
}

/// The `sd_bus_message_handler_t` for a method call to a served object.
private func callArrived(
    _ message: OpaquePointer?, _ userData: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message = unsafe message, let userData = unsafe userData else { return 0 }
    let object = unsafe Unmanaged<ServedObject>.fromOpaque(userData).takeUnretainedValue()
    return unsafe object.receive(BusMessage(borrowing: message)) ? 1 : 0
}
