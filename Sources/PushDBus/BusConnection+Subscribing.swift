// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// A handler for a signal; kept by the connection.
final class Subscription {
    let handler: (IncomingSignal) -> Void

    init(_ handler: @escaping (IncomingSignal) -> Void) { self.handler = handler }

    func receive(_ message: borrowing BusMessage) {
        // A signal with more than we read, or with file descriptors, is none that we subscribe to.
        guard let arguments = try? message.values() else { return }
        handler(
            IncomingSignal(
                sender: message.sender, path: message.path, interface: message.interface, member: message.member,
                arguments: arguments))
    }
}

extension BusConnection {
    /// Calls `handler` for each matching signal for as long as the connection lives (`sd_bus_match_signal`).
    ///
    /// Blocks until the bus has taken the match, so that nothing which happens after is missed.
    ///
    /// - Parameters:
    ///   - sender: The bus name that speaks; nil for any. See `IncomingSignal.sender` on who can pretend.
    ///   - path: The object; nil for any.
    ///   - interface: The interface of the signal.
    ///   - member: The signal's name.
    ///   - handler: Gets each signal in `process()`.
    /// - Throws: What the bus answered, for example that a name is malformed.
    package func subscribe(
        sender: String?, path: String?, interface: String, member: String,
        _ handler: @escaping (IncomingSignal) -> Void
    ) throws(BusError) {
        defer { activityHandler?() }
        let subscription = Subscription(handler)
        let address = unsafe Unmanaged.passUnretained(subscription).toOpaque()
        let code = unsafe withOptionalCString(sender) { sender in
            unsafe withOptionalCString(path) { path in
                unsafe sd_bus_match_signal(
                    handle, nil, sender, path, interface, member, signalArrived, address)
            }
        }
        try BusError.check(code, "subscribe")
        subscriptions.append(subscription)
    }

    /// Calls `handler` for each signal that matches a rule of our own making (`sd_bus_add_match`).
    func subscribe(rule: String, _ handler: @escaping (IncomingSignal) -> Void) throws(BusError) {
        defer { activityHandler?() }
        let subscription = Subscription(handler)
        let address = unsafe Unmanaged.passUnretained(subscription).toOpaque()
        try BusError.check(unsafe sd_bus_add_match(handle, nil, rule, signalArrived, address), "subscribe")
        subscriptions.append(subscription)
    }
}

/// Lends a text as a C string, and nil as a null pointer.
private func withOptionalCString<Answer>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Answer) -> Answer {
    guard let text else { return body(nil) }
    return unsafe text.withCString { unsafe body($0) }
}

/// `sd_bus_message_handler_t` for a signal.
private func signalArrived(
    _ message: OpaquePointer?, _ userData: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message = unsafe message, let userData = unsafe userData else { return 0 }
    let subscription = unsafe Unmanaged<Subscription>.fromOpaque(userData).takeUnretainedValue()
    unsafe subscription.receive(BusMessage(borrowing: message))
    // Others may have subscribed to the same signal.
    return 0
}
