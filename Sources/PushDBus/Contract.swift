// SPDX-License-Identifier: Apache-2.0
// The signatures that other modules build on; split into one file per type as they are written.

/// What the bus or a service answered.
package struct BusError: Error, Sendable {
    /// For example `org.freedesktop.DBus.Error.ServiceUnknown`; for local failures `System.Error.…` as sd-bus makes.
    package var name: String
    package var message: String
    package init(name: String, message: String) {
        self.name = name
        self.message = message
    }
}

/// A D-Bus value with its type.
package indirect enum BusValue: Equatable, Sendable {
    case string(String)
    case objectPath(String)
    case bool(Bool)
    case byte(UInt8)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case variant(BusValue)
    /// Element signature, because an array may be empty.
    case array(String, [BusValue])
    case structure([BusValue])
    /// `a{sv}`
    case dictionary([(String, BusValue)])
    package static func == (left: BusValue, right: BusValue) -> Bool { preconditionFailure("unwritten") }
    /// For example `a{sv}`.
    package var signature: String { preconditionFailure("unwritten") }
}

/// A method call that came in.
package struct IncomingCall {
    package var sender: String
    package var path: String
    package var interface: String
    package var member: String
    package var arguments: [BusValue]
}

/// A signal that came in.
package struct IncomingSignal {
    package var sender: String
    package var path: String
    package var interface: String
    package var member: String
    package var arguments: [BusValue]
}

/// A connection to a message bus; owns one `sd_bus *`. One thread, driven by the owner's loop:
/// watch `descriptor` for `wantedEvents` until `deadline`, then call `process()` (after every call of ours, too).
package final class BusConnection {
    package enum Bus { case session, system }
    package init(_ bus: Bus) throws(BusError) { preconditionFailure("unwritten") }
    package var descriptor: Int32 { preconditionFailure("unwritten") }
    /// (readable, writable)
    package var wantedEvents: (readable: Bool, writable: Bool) { preconditionFailure("unwritten") }
    /// Time until `process` must be called in any case; nil for none.
    package var timeout: Duration? { preconditionFailure("unwritten") }
    /// Handles everything that waits; throws when the bus is gone.
    package func process() throws(BusError) { preconditionFailure("unwritten") }
    package var uniqueName: String { preconditionFailure("unwritten") }
    /// False when another owns it.
    package func requestName(_ name: String) throws(BusError) -> Bool { preconditionFailure("unwritten") }
    /// Blocking: for the command line and start-up.
    package func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        timeout: Duration = .seconds(25)
    ) throws(BusError) -> [BusValue] { preconditionFailure("unwritten") }
    /// Asynchronous: the completion runs in a later `process()`, exactly once.
    package func send(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        timeout: Duration = .seconds(25), completion: @escaping (Result<[BusValue], BusError>) -> Void
    ) { preconditionFailure("unwritten") }
    package func emit(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue])
        throws(BusError)
    { preconditionFailure("unwritten") }
    /// Calls `handler` for each matching signal for as long as the connection lives.
    package func subscribe(
        sender: String?, path: String?, interface: String, member: String,
        _ handler: @escaping (IncomingSignal) -> Void
    ) throws(BusError) { preconditionFailure("unwritten") }
    /// Serves an object: the handler answers each method call; Introspect answers with the XML; other calls get
    /// UnknownMethod.
    package func serve(
        path: String, interface: String, introspection: StaticString,
        _ handler: @escaping (IncomingCall) -> Result<[BusValue], BusError>
    ) throws(BusError) { preconditionFailure("unwritten") }
    /// UNIX user and process of a bus name.
    package func credentials(of name: String) throws(BusError) -> (user: UInt32, process: Int32) {
        preconditionFailure("unwritten")
    }
}

/// systemd's sd_notify: nothing happens when no manager listens.
package enum ServiceManager {
    /// For example `READY=1`.
    package static func notify(_ state: String) { preconditionFailure("unwritten") }
}
