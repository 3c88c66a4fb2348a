// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// A sent call whose reply is outstanding; the connection owns it until its callback has run.
final class PendingCall {
    private let onReply: (borrowing BusMessage) -> Void
    private unowned let connection: BusConnection

    init(_ connection: BusConnection, _ onReply: @escaping (borrowing BusMessage) -> Void) {
        self.connection = connection
        self.onReply = onReply
    }

    func finish(with reply: borrowing BusMessage) {
        connection.pendingCalls[ObjectIdentifier(self)] = nil
        onReply(reply)
    }
}

extension BusConnection {
    /// Calls a method and blocks until the reply arrives (`sd_bus_call`); meant for the command line and for startup.
    ///
    /// - Parameters:
    ///   - destination: The bus name of the service.
    ///   - path: The path of the object.
    ///   - interface: The interface of the method.
    ///   - member: The name of the method.
    ///   - arguments: The arguments of the method.
    ///   - timeout: The maximum wait for the reply.
    /// - Returns: The values that the method returned.
    /// - Throws: The error from the service or the bus; `invalidArguments` for arguments that cannot be sent.
    package func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        timeout: Duration = .seconds(25)
    ) throws(BusError) -> [BusValue] {
        defer { activityHandler?() }
        let message = try unsafe BusMessage.call(on: handle, destination, path, interface, member)
        try message.append(arguments)
        var error = unsafe sd_bus_error()
        defer { unsafe sd_bus_error_free(&error) }
        var reply: OpaquePointer?
        let code = unsafe sd_bus_call(handle, message.handle, timeout.busMicroseconds, &error, &reply)
        guard code >= 0, let reply = unsafe reply else {
            guard unsafe error.name != nil else { throw BusError(code: code, during: "call") }
            throw unsafe BusError(error)
        }
        return try unsafe BusMessage(adopting: reply).values()
    }

    /// Calls a method without blocking (`sd_bus_call_async`).
    ///
    /// - Parameters:
    ///   - destination: The bus name of the service.
    ///   - path: The path of the object.
    ///   - interface: The interface of the method.
    ///   - member: The name of the method.
    ///   - arguments: The arguments of the method.
    ///   - timeout: The time after which the completion gets an error.
    ///   - completion: Called exactly once, in a later `process()`; never if the connection is released first.
    package func send(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        timeout: Duration = .seconds(25), completion: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        send(destination, path, interface, member, arguments, timeout: timeout) { message in
            completion(Self.result(of: message))
        } onFailure: {
            completion(.failure($0))
        }
    }

    /// Calls a method without blocking, for callers that read the reply, which may be an error, themselves.
    func send(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue],
        timeout: Duration, onReply: @escaping (borrowing BusMessage) -> Void, onFailure: @escaping (BusError) -> Void
    ) {
        defer { activityHandler?() }
        let pending = PendingCall(self, onReply)
        do {
            let message = try unsafe BusMessage.call(on: handle, destination, path, interface, member)
            try message.append(arguments)
            let address = unsafe Unmanaged.passUnretained(pending).toOpaque()
            let code = unsafe sd_bus_call_async(
                handle, nil, message.handle, callAnswered, address, timeout.busMicroseconds)
            try BusError.check(code, "call")
            pendingCalls[ObjectIdentifier(pending)] = pending
            // A failed flush ends the connection. sd-bus then reports an error to the completion in the next process().
            _ = unsafe sd_bus_flush(handle)
        } catch {
            runLater { onFailure(error) }
        }
    }

    /// Broadcasts a signal to all subscribers on the bus.
    package func emit(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue])
        throws(BusError)
    {
        defer { activityHandler?() }
        let message = try unsafe BusMessage.signal(on: handle, path, interface, member)
        try message.append(arguments)
        try unsafe message.send(on: handle)
    }

    /// Returns the values of a reply, or its error.
    static func result(of reply: borrowing BusMessage) -> Result<[BusValue], BusError> {
        if let error = reply.error { return .failure(error) }
        do { return .success(try reply.values()) } catch { return .failure(error) }
    }
}

extension Duration {
    /// The duration in microseconds for sd-bus: at least 1, because 0 selects its default, and within its range.
    var busMicroseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 1 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
        guard !overflow, whole < UInt64.max / 4 else { return UInt64.max / 4 }
        return max(1, whole + UInt64(attoseconds) / 1_000_000_000_000)
    }
}

/// The `sd_bus_message_handler_t` for the reply to a call.
private func callAnswered(
    _ message: OpaquePointer?, _ userData: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message = unsafe message, let userData = unsafe userData else { return 0 }
    let pending = unsafe Unmanaged<PendingCall>.fromOpaque(userData).takeUnretainedValue()
    unsafe pending.finish(with: BusMessage(borrowing: message))
    return 1
}
