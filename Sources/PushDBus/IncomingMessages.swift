// SPDX-License-Identifier: Apache-2.0

/// A method call that this connection received.
package struct IncomingCall {
    /// The interface by which callers read the properties of an object.
    package static let propertiesInterface = "org.freedesktop.DBus.Properties"

    /// The caller's unique name, such as `:1.42`.
    package var sender: String
    /// The path of the called object.
    package var path: String
    /// The interface of the method.
    package var interface: String
    /// The name of the method.
    package var member: String
    /// The arguments in order.
    package var arguments: [BusValue]
}

extension IncomingCall {
    /// The approximate size of the arguments in memory, in bytes.
    package var argumentByteCount: Int { arguments.reduce(0) { $0 + Self.byteCount(of: $1) } }

    private static func byteCount(of value: BusValue) -> Int {
        switch value {
        case .string(let text), .objectPath(let text), .typeSignature(let text): text.utf8.count
        case .variant(let inner): byteCount(of: inner)
        case .array(_, let values), .structure(let values): values.reduce(16) { $0 + byteCount(of: $1) }
        case .dictionary(let pairs): pairs.reduce(16) { $0 + $1.0.utf8.count + byteCount(of: $1.1) }
        case .bool, .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double: 8
        }
    }
}

/// A signal that this connection received.
package struct IncomingSignal {
    /// The sender's unique name; empty if sd-bus itself created the signal.
    ///
    /// Any program on the bus can send a signal directly to a connection, regardless of subscriptions. If the sender
    /// matters, compare this name with the owner of the subscribed name.
    package var sender: String
    /// The path of the object that sent the signal.
    package var path: String
    /// The interface of the signal.
    var interface: String
    /// The name of the signal.
    var member: String
    /// The arguments in order.
    package var arguments: [BusValue]
}
