// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// What the bus or a service answered.
package struct BusError: Error, Equatable, Sendable {
    /// For example `org.freedesktop.DBus.Error.ServiceUnknown`; for local failures `System.Error.…` as sd-bus makes.
    package var name: String
    /// A text for the log and for people, written by the service or by this module.
    package var message: String

    /// Joins a name and a text.
    package init(name: String, message: String) {
        self.name = name
        self.message = message
    }
}

extension BusError {
    /// Nothing on the bus has the name, and nothing can be started for it.
    package static let serviceUnknownName = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// The object does not have the method.
    package static let unknownMethodName = "org.freedesktop.DBus.Error.UnknownMethod"
    /// The arguments are not what the method takes.
    package static let invalidArgumentsName = "org.freedesktop.DBus.Error.InvalidArgs"
    /// A message is larger or nested deeper than this module reads.
    package static let limitsExceededName = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// The service did not answer in time, or dropped the call.
    package static let noReplyName = "org.freedesktop.DBus.Error.NoReply"
    /// A service failed without a better word for it.
    package static let failedName = "org.freedesktop.DBus.Error.Failed"

    /// The caller's arguments cannot be sent or are not what the method takes.
    package static func invalidArguments(_ message: String) -> BusError {
        BusError(name: invalidArgumentsName, message: message)
    }
}

// The one place where sd-bus's two ways of failing, a negative errno and an sd_bus_error, become ours.
extension BusError {
    /// Translates the negative errno of an sd-bus function, with `sd_bus_error_set_errno`.
    init(code: Int32, during activity: StaticString) {
        var error = unsafe sd_bus_error()
        defer { unsafe sd_bus_error_free(&error) }
        unsafe sd_bus_error_set_errno(&error, code)
        unsafe self.init(error, fallbackName: "System.Error.Unknown")
        message = "\(activity): \(message)"
    }

    /// Copies an error that sd-bus lends or hands over.
    init(_ error: sd_bus_error, fallbackName: String = BusError.failedName) {
        unsafe self.init(
            name: error.name.map { unsafe String(cString: $0) } ?? fallbackName,
            message: error.message.map { unsafe String(cString: $0) } ?? "")
    }

    /// Throws when an sd-bus function answered a negative errno, and gives back what it answered otherwise.
    @discardableResult
    static func check(_ code: Int32, _ activity: StaticString) throws(BusError) -> Int32 {
        guard code >= 0 else { throw BusError(code: code, during: activity) }
        return code
    }
}
