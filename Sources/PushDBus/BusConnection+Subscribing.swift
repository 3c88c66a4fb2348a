// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// A handler for a signal; owned by the connection.
final class SignalSubscription {
    let handler: (IncomingSignal) -> Void

    init(_ handler: @escaping (IncomingSignal) -> Void) { self.handler = handler }

    func receive(_ message: borrowing BusMessage) {
        // A signal that exceeds `MessageLimits` or carries file descriptors is not one that this program expects.
        guard let arguments = try? message.values() else { return }
        handler(
            IncomingSignal(
                sender: message.sender, path: message.path, interface: message.interface, member: message.member,
                arguments: arguments))
    }
}

extension BusConnection {
    /// Calls `handler` for each matching signal while the connection exists (`sd_bus_match_signal`).
    ///
    /// Blocks until the bus has added the match, so that no later signal is missed.
    ///
    /// - Parameters:
    ///   - sender: The bus name of the sender; nil for any. See `IncomingSignal.sender` for forged signals.
    ///   - path: The path of the object; nil for any.
    ///   - interface: The interface of the signal.
    ///   - member: The name of the signal.
    ///   - handler: Called in `process()` with each signal.
    /// - Throws: The error from the bus, for example for a malformed name.
    package func subscribe(
        sender: String?, path: String?, interface: String, member: String,
        _ handler: @escaping (IncomingSignal) -> Void
    ) throws(BusError) {
        defer { activityHandler?() }
        let subscription = SignalSubscription(handler)
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

    /// Calls `handler` for each signal that matches a trusted match rule (`sd_bus_add_match`).
    func subscribe(rule: String, _ handler: @escaping (IncomingSignal) -> Void) throws(BusError) {
        defer { activityHandler?() }
        let subscription = SignalSubscription(handler)
        let address = unsafe Unmanaged.passUnretained(subscription).toOpaque()
        try BusError.check(unsafe sd_bus_add_match(handle, nil, rule, signalArrived, address), "subscribe")
        subscriptions.append(subscription)
    }
}

/// Passes a text to `body` as a C string, and nil as a null pointer.
private func withOptionalCString<Answer>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Answer) -> Answer {
    guard let text else { return body(nil) }
    return unsafe text.withCString { unsafe body($0) }
}

/// The `sd_bus_message_handler_t` for a signal.
private func signalArrived(
    _ message: OpaquePointer?, _ userData: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message = unsafe message, let userData = unsafe userData else { return 0 }
    let subscription = unsafe Unmanaged<SignalSubscription>.fromOpaque(userData).takeUnretainedValue()
    unsafe subscription.receive(BusMessage(borrowing: message))
    // Zero lets other subscriptions to the same signal run.
    return 0
}
