// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// GObject's signals and GLib's sources as Swift closures.
enum Signals {
    /// Keeps a closure for as long as GLib keeps the connection.
    fileprivate final class Handler {
        let body: () -> Void

        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Connects a signal without arguments (`g_signal_connect_data`).
    static func connect(_ object: Widget, _ signal: String, _ body: @escaping () -> Void) {
        let handler = unsafe Unmanaged.passRetained(Handler(body)).toOpaque()
        let isProperty = signal.hasPrefix("notify::")
        let callback =
            isProperty
            ? unsafe unsafeBitCast(propertyChanged, to: GCallback.self)
            : unsafe unsafeBitCast(signalled, to: GCallback.self)
        unsafe g_signal_connect_data(
            UnsafeMutableRawPointer(object.address), signal, callback, handler, released, GConnectFlags(rawValue: 0))
    }

    /// Calls the body whenever the descriptor is readable (`g_unix_fd_add_full`).
    static func watch(_ descriptor: Int32, _ body: @escaping () -> Void) {
        let handler = unsafe Unmanaged.passRetained(Handler(body)).toOpaque()
        unsafe g_unix_fd_add_full(
            G_PRIORITY_DEFAULT, descriptor, G_IO_IN, descriptorReady, handler, destroyed)
    }

    /// Calls the body once, when nothing more urgent waits (`g_idle_add_full`).
    static func whenIdle(_ body: @escaping () -> Void) {
        let handler = unsafe Unmanaged.passRetained(Handler(body)).toOpaque()
        unsafe g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, idle, handler, destroyed)
    }
}

private func call(_ handler: UnsafeMutableRawPointer?) {
    guard let handler = unsafe handler else { return }
    unsafe Unmanaged<Signals.Handler>.fromOpaque(handler).takeUnretainedValue().body()
}

private let signalled: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = {
    unsafe call($1)
}

private let propertyChanged:
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = {
        unsafe call($2)
    }

private let released: GClosureNotify = { handler, _ in
    guard let handler = unsafe handler else { return }
    unsafe Unmanaged<Signals.Handler>.fromOpaque(handler).release()
}

private let destroyed: GDestroyNotify = { handler in
    guard let handler = unsafe handler else { return }
    unsafe Unmanaged<Signals.Handler>.fromOpaque(handler).release()
}

private let descriptorReady: GUnixFDSourceFunc = { _, _, handler in
    unsafe call(handler)
    return 1
}

private let idle: GSourceFunc = { handler in
    unsafe call(handler)
    return 0
}
