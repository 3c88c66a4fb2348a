// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// GObject signals with Swift closures as handlers; a closure lives as long as GLib keeps the connection.
enum Signals {
    /// The arguments of a signal, without its object.
    @safe
    struct Arguments {
        fileprivate(set) var object: OpaquePointer?
        fileprivate(set) var numbers: (first: Double, second: Double) = (0, 0)
        fileprivate(set) var key: UInt32 = 0
        fileprivate(set) var code: UInt32 = 0
    }

    fileprivate final class Handler {
        let body: (Arguments) -> Bool

        init(_ body: @escaping (Arguments) -> Bool) { self.body = body }
    }

    /// Connects a signal whose arguments are not needed (`g_signal_connect_data`).
    static func connect(_ object: NativeObject, _ signal: String, _ body: @escaping () -> Void) {
        attach(object, signal, unsafe unsafeBitCast(plain, to: GCallback.self)) { _ in
            body()
            return false
        }
    }

    /// Connects the change of a property.
    static func connectProperty(_ object: NativeObject, _ property: String, _ body: @escaping () -> Void) {
        attach(object, "notify::\(property)", unsafe unsafeBitCast(withObject, to: GCallback.self)) { _ in
            body()
            return false
        }
    }

    /// Connects a signal with an object as its argument.
    static func connectObject(_ object: NativeObject, _ signal: String, _ body: @escaping (OpaquePointer?) -> Void) {
        attach(object, signal, unsafe unsafeBitCast(withObject, to: GCallback.self)) { arguments in
            unsafe body(arguments.object)
            return false
        }
    }

    /// Connects a signal with one unused argument, which need not be an object; an example is an action's parameter.
    static func connectAction(_ object: NativeObject, _ signal: String, _ body: @escaping () -> Void) {
        attach(object, signal, unsafe unsafeBitCast(withObject, to: GCallback.self)) { _ in
            body()
            return false
        }
    }

    /// Connects a signal with an index as its argument.
    static func connectIndex(_ object: NativeObject, _ signal: String, _ body: @escaping (Int) -> Void) {
        attach(object, signal, unsafe unsafeBitCast(withIndex, to: GCallback.self)) { arguments in
            body(Int(arguments.numbers.first))
            return false
        }
    }

    /// Connects a signal with two integers as its arguments.
    static func connectSize(_ object: NativeObject, _ signal: String, _ body: @escaping (Int, Int) -> Void) {
        attach(object, signal, unsafe unsafeBitCast(withSize, to: GCallback.self)) { arguments in
            body(Int(arguments.numbers.first), Int(arguments.numbers.second))
            return false
        }
    }

    /// Connects a signal with two floating-point numbers, such as the offset of a gesture.
    static func connectPoint(_ object: NativeObject, _ signal: String, _ body: @escaping (Double, Double) -> Void) {
        attach(object, signal, unsafe unsafeBitCast(withPoint, to: GCallback.self)) { arguments in
            body(arguments.numbers.first, arguments.numbers.second)
            return false
        }
    }

    /// Connects a signal whose handler returns whether it handled the event.
    static func connectAnswering(_ object: NativeObject, _ signal: String, _ body: @escaping () -> Bool) {
        attach(object, signal, unsafe unsafeBitCast(answering, to: GCallback.self)) { _ in body() }
    }

    /// Connects `key-pressed` of a key controller; the handler gets the hardware code and the key symbol.
    static func connectKeyDown(_ object: NativeObject, _ body: @escaping (_ code: UInt32, _ symbol: UInt32) -> Bool) {
        attach(object, "key-pressed", unsafe unsafeBitCast(withKey, to: GCallback.self)) { body($0.code, $0.key) }
    }

    /// Connects `key-released` of a key controller.
    static func connectKeyUp(_ object: NativeObject, _ body: @escaping (_ code: UInt32) -> Void) {
        attach(object, "key-released", unsafe unsafeBitCast(withKeyUp, to: GCallback.self)) { arguments in
            body(arguments.code)
            return false
        }
    }

    /// Connects `pressed` or `released` of a click gesture.
    static func connectPress(_ object: NativeObject, _ signal: String, _ body: @escaping () -> Void) {
        attach(object, signal, unsafe unsafeBitCast(withPress, to: GCallback.self)) { _ in
            body()
            return false
        }
    }

    /// Adds an action without a parameter to a window or an application (`g_action_map_add_action`).
    static func addAction(_ name: String, to object: NativeObject, _ body: @escaping () -> Void) {
        let action = unsafe NativeObject(adopting: g_simple_action_new(name, nil))
        connectAction(action, "activate", body)
        unsafe g_action_map_add_action(object.address, action.address)
    }

    private static func attach(
        _ object: NativeObject, _ signal: String, _ callback: GCallback, _ body: @escaping (Arguments) -> Bool
    ) {
        let handler = unsafe Unmanaged.passRetained(Handler(body)).toOpaque()
        unsafe g_signal_connect_data(
            UnsafeMutableRawPointer(object.address), signal, callback, handler, released, GConnectFlags(rawValue: 0))
    }
}

private typealias Pointer = UnsafeMutableRawPointer

private func call(_ handler: UnsafeMutableRawPointer?, _ arguments: Signals.Arguments = Signals.Arguments()) -> Bool {
    guard let handler = unsafe handler else { return false }
    return unsafe Unmanaged<Signals.Handler>.fromOpaque(handler).takeUnretainedValue().body(arguments)
}

private let plain: @convention(c) (Pointer?, Pointer?) -> Void = { _ = unsafe call($1) }

private let withObject: @convention(c) (Pointer?, Pointer?, Pointer?) -> Void = {
    _ = unsafe call($2, Signals.Arguments(object: OpaquePointer($1)))
}

private let withIndex: @convention(c) (Pointer?, UInt32, Pointer?) -> Void = {
    _ = unsafe call($2, Signals.Arguments(numbers: (Double($1), 0)))
}

private let withSize: @convention(c) (Pointer?, Int32, Int32, Pointer?) -> Void = {
    _ = unsafe call($3, Signals.Arguments(numbers: (Double($1), Double($2))))
}

private let withPoint: @convention(c) (Pointer?, Double, Double, Pointer?) -> Void = {
    _ = unsafe call($3, Signals.Arguments(numbers: ($1, $2)))
}

private let withPress: @convention(c) (Pointer?, Int32, Double, Double, Pointer?) -> Void = {
    _ = unsafe call($4, Signals.Arguments(numbers: ($2, $3)))
}

private let answering: @convention(c) (Pointer?, Pointer?) -> Int32 = { unsafe call($1) ? 1 : 0 }

private let withKey: @convention(c) (Pointer?, UInt32, UInt32, UInt32, Pointer?) -> Int32 = {
    unsafe call($4, Signals.Arguments(key: $1, code: $2)) ? 1 : 0
}

private let withKeyUp: @convention(c) (Pointer?, UInt32, UInt32, UInt32, Pointer?) -> Void = {
    _ = unsafe call($4, Signals.Arguments(key: $1, code: $2))
}

private let released: GClosureNotify = { handler, _ in
    guard let handler = unsafe handler else { return }
    unsafe Unmanaged<Signals.Handler>.fromOpaque(handler).release()
}
