// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// An error from the bus, a service or sd-bus.
package struct BusError: Error, Equatable, Sendable {
    /// The error name, for example `org.freedesktop.DBus.Error.ServiceUnknown`; sd-bus names local failures
    /// `System.Error.…`.
    package var name: String
    /// A text for users and logs, from the service or from this module.
    package var message: String

    package init(name: String, message: String) {
        self.name = name
        self.message = message
    }
}

extension BusError {
    /// The bus name has no owner, and the bus cannot start a service for it.
    package static let serviceUnknownName = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// The object does not have the method.
    package static let unknownMethodName = "org.freedesktop.DBus.Error.UnknownMethod"
    /// The arguments do not match the method.
    static let invalidArgumentsName = "org.freedesktop.DBus.Error.InvalidArgs"
    /// A message is larger or more deeply nested than this module reads.
    package static let limitsExceededName = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// The service did not answer in time, or dropped the call.
    package static let noReplyName = "org.freedesktop.DBus.Error.NoReply"
    /// A service failed without a more specific error.
    package static let failedName = "org.freedesktop.DBus.Error.Failed"

    /// Creates an error for arguments that cannot be sent or do not match the method.
    package static func invalidArguments(_ message: String) -> BusError {
        BusError(name: invalidArgumentsName, message: message)
    }
}

// sd-bus reports errors in two ways: a negative errno and an sd_bus_error. Both are converted only here.
extension BusError {
    /// Converts the negative errno of an sd-bus function (`sd_bus_error_set_errno`).
    init(code: Int32, during activity: StaticString) {
        var error = unsafe sd_bus_error()
        defer { unsafe sd_bus_error_free(&error) }
        unsafe sd_bus_error_set_errno(&error, code)
        unsafe self.init(error, fallbackName: "System.Error.Unknown")
        message = "\(activity): \(message)"
    }

    /// Copies an `sd_bus_error`, which its owner still has to free.
    init(_ error: sd_bus_error, fallbackName: String = BusError.failedName) {
        unsafe self.init(
            name: error.name.map { unsafe String(cString: $0) } ?? fallbackName,
            message: error.message.map { unsafe String(cString: $0) } ?? "")
    }

    /// Throws for a negative errno from an sd-bus function, and returns all other values.
    @discardableResult
    static func check(_ code: Int32, _ activity: StaticString) throws(BusError) -> Int32 {
        guard code >= 0 else { throw BusError(code: code, during: activity) }
        return code
    }
}
