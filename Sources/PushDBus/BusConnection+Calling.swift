// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// A call of ours whose answer is awaited; kept by the connection until its callback has run.
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
    /// Calls a method and waits for the answer (`sd_bus_call`): for the command line and start-up.
    ///
    /// - Parameters:
    ///   - destination: The bus name to call.
    ///   - path: The object.
    ///   - interface: The interface of the method.
    ///   - member: The method.
    ///   - arguments: Its arguments.
    ///   - timeout: How long to wait.
    /// - Returns: What the method answers.
    /// - Throws: What the service or the bus answered instead; `invalidArguments` for what cannot be sent.
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

    /// Calls a method without waiting (`sd_bus_call_async`).
    ///
    /// - Parameters:
    ///   - destination: The bus name to call.
    ///   - path: The object.
    ///   - interface: The interface of the method.
    ///   - member: The method.
    ///   - arguments: Its arguments.
    ///   - timeout: After which the completion gets an error.
    ///   - completion: Runs in a later `process()`, exactly once; never when the connection goes away first.
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

    /// The same for who reads the answer itself, which may be an error.
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
            // What fails here ends the connection: the completion hears of it from sd-bus in the next process().
            _ = unsafe sd_bus_flush(handle)
        } catch {
            runLater { onFailure(error) }
        }
    }

    /// Broadcasts a signal.
    package func emit(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue])
        throws(BusError)
    {
        defer { activityHandler?() }
        let message = try unsafe BusMessage.signal(on: handle, path, interface, member)
        try message.append(arguments)
        try unsafe message.send(on: handle)
    }

    /// The values of an answer, or the error that it is.
    static func result(of reply: borrowing BusMessage) -> Result<[BusValue], BusError> {
        if let error = reply.error { return .failure(error) }
        do { return .success(try reply.values()) } catch { return .failure(error) }
    }
}

extension Duration {
    /// Whole microseconds for sd-bus: at least one, because 0 means its default, and never past the range.
    var busMicroseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 1 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
        guard !overflow, whole < UInt64.max / 4 else { return UInt64.max / 4 }
        return max(1, whole + UInt64(attoseconds) / 1_000_000_000_000)
    }
}

/// `sd_bus_message_handler_t` for the answer to a call.
private func callAnswered(
    _ message: OpaquePointer?, _ userData: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message = unsafe message, let userData = unsafe userData else { return 0 }
    let pending = unsafe Unmanaged<PendingCall>.fromOpaque(userData).takeUnretainedValue()
    unsafe pending.finish(with: BusMessage(borrowing: message))
    return 1
}
