// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// GLib's main loop, with Swift closures as event sources.
package enum MainLoop {
    /// The box around a closure, which lives as long as GLib keeps the source.
    fileprivate final class Handler {
        let body: () -> Bool

        init(_ body: @escaping () -> Bool) { self.body = body }
    }

    /// An event source that can be removed.
    package struct Source {
        fileprivate var number: UInt32

        /// Removes the source with `g_source_remove`; must be called at most once, and not after the source has ended.
        package func cancel() { g_source_remove(number) }
    }

    /// The conditions to wait for on a descriptor.
    package struct Readiness: Equatable {
        package var isReadable: Bool
        package var isWritable: Bool

        package init(isReadable: Bool, isWritable: Bool) {
            self.isReadable = isReadable
            self.isWritable = isWritable
        }
    }

    /// Calls the body whenever the descriptor is ready (`g_unix_fd_add_full`).
    package static func watch(_ descriptor: Int32, for readiness: Readiness, _ body: @escaping () -> Void) -> Source {
        var events = G_IO_HUP.rawValue | G_IO_ERR.rawValue
        if readiness.isReadable { events |= G_IO_IN.rawValue }
        if readiness.isWritable { events |= G_IO_OUT.rawValue }
        let handler = unsafe retained {
            body()
            return true
        }
        let number = unsafe g_unix_fd_add_full(
            G_PRIORITY_DEFAULT, descriptor, GIOCondition(rawValue: events), descriptorReady, handler, released)
        return Source(number: number)
    }

    /// Calls the body once, when no event of higher priority is pending (`g_idle_add_full`).
    package static func whenIdle(_ body: @escaping () -> Void) {
        let handler = unsafe retained {
            body()
            return false
        }
        unsafe g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, due, handler, released)
    }

    /// Calls the body once, after a delay (`g_timeout_add_full`).
    @discardableResult
    package static func after(milliseconds: UInt32, _ body: @escaping () -> Void) -> Source {
        let handler = unsafe retained {
            body()
            return false
        }
        return Source(number: unsafe g_timeout_add_full(G_PRIORITY_DEFAULT, milliseconds, due, handler, released))
    }

    /// Calls the body before each frame of a widget until it returns false (`gtk_widget_add_tick_callback`).
    static func onFrames(of widget: UnsafeMutablePointer<GtkWidget>, _ body: @escaping () -> Bool) {
        unsafe _ = gtk_widget_add_tick_callback(widget, frameDue, retained(body), released)
    }

    /// Calls the body whenever the process receives a signal (`g_unix_signal_add_full`).
    package static func onSignal(_ signal: Int32, _ body: @escaping () -> Void) {
        let handler = unsafe retained {
            body()
            return true
        }
        unsafe g_unix_signal_add_full(G_PRIORITY_HIGH, signal, due, handler, released)
    }

    private static func retained(_ body: @escaping () -> Bool) -> UnsafeMutableRawPointer {
        unsafe Unmanaged.passRetained(Handler(body)).toOpaque()
    }
}

private func call(_ handler: UnsafeMutableRawPointer?) -> Int32 {
    guard let handler = unsafe handler else { return 0 }
    return unsafe Unmanaged<MainLoop.Handler>.fromOpaque(handler).takeUnretainedValue().body() ? 1 : 0
}

private let released: GDestroyNotify = { handler in
    guard let handler = unsafe handler else { return }
    unsafe Unmanaged<MainLoop.Handler>.fromOpaque(handler).release()
}

private let descriptorReady: GUnixFDSourceFunc = { _, _, handler in unsafe call(handler) }

private let frameDue: GtkTickCallback = { _, _, handler in unsafe call(handler) }

private let due: GSourceFunc = { handler in unsafe call(handler) }
