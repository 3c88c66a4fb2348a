// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// An outgoing or incoming message; owns one reference to an `sd_bus_message *`.
@safe struct BusMessage: ~Copyable {
    let handle: OpaquePointer

    /// Takes over a reference from an sd-bus function.
    init(adopting handle: OpaquePointer) { unsafe self.handle = handle }

    /// Adds a reference to a message that sd-bus passes to a callback (`sd_bus_message_ref`).
    init(borrowing handle: OpaquePointer) { unsafe self.handle = sd_bus_message_ref(handle) }

    deinit { _ = unsafe sd_bus_message_unref(handle) }

    /// Creates a method call (`sd_bus_message_new_method_call`, which validates the names).
    static func call(
        on bus: OpaquePointer, _ destination: String, _ path: String, _ interface: String, _ member: String
    ) throws(BusError) -> BusMessage {
        var handle: OpaquePointer?
        let code = unsafe sd_bus_message_new_method_call(bus, &handle, destination, path, interface, member)
        return try unsafe adopt(handle, code, "make a call: a name or the path may be malformed")
    }

    /// Creates a signal (`sd_bus_message_new_signal`, which validates the names).
    static func signal(
        on bus: OpaquePointer, _ path: String, _ interface: String, _ member: String
    ) throws(BusError) -> BusMessage {
        var handle: OpaquePointer?
        let code = unsafe sd_bus_message_new_signal(bus, &handle, path, interface, member)
        return try unsafe adopt(handle, code, "make a signal: a name or the path may be malformed")
    }

    /// Creates the reply to this call (`sd_bus_message_new_method_return`).
    borrowing func reply() throws(BusError) -> BusMessage {
        var answer: OpaquePointer?
        let code = unsafe sd_bus_message_new_method_return(handle, &answer)
        return try unsafe BusMessage.adopt(answer, code, "make an answer")
    }

    /// Creates the error reply to this call (`sd_bus_message_new_method_error`).
    borrowing func failure(_ error: BusError) throws(BusError) -> BusMessage {
        var copy = unsafe sd_bus_error()
        defer { unsafe sd_bus_error_free(&copy) }
        // sd-bus sends any name, but the bus disconnects the sender of a malformed one.
        let isValid = unsafe sd_bus_interface_name_is_valid(error.name) > 0
        let message = BusValue.carriable(error.message)
        unsafe sd_bus_error_set(&copy, isValid ? error.name : BusError.failedName, message)
        var answer: OpaquePointer?
        let code = unsafe sd_bus_message_new_method_error(handle, &answer, &copy)
        return try unsafe BusMessage.adopt(answer, code, "make an error")
    }

    /// Queues the message (`sd_bus_send`) and writes it out (`sd_bus_flush`).
    ///
    /// The flush makes sure that the program may exit right afterwards. It blocks only while the bus does not read.
    ///
    /// - Parameter bus: The `sd_bus *` of the connection.
    /// - Throws: `BusError` if the message cannot be sent.
    borrowing func send(on bus: OpaquePointer) throws(BusError) {
        try BusError.check(unsafe sd_bus_send(bus, handle, nil), "send")
        try BusError.check(unsafe sd_bus_flush(bus), "flush")
    }

    private static func adopt(
        _ handle: OpaquePointer?, _ code: Int32, _ activity: StaticString
    ) throws(BusError) -> BusMessage {
        try BusError.check(code, activity)
        guard let handle = unsafe handle else { throw BusError(code: -12, during: activity) }
        return unsafe BusMessage(adopting: handle)
    }
}

/// The header fields of an incoming message.
extension BusMessage {
    var sender: String { unsafe BusMessage.text(sd_bus_message_get_sender(handle)) }
    var path: String { unsafe BusMessage.text(sd_bus_message_get_path(handle)) }
    var interface: String { unsafe BusMessage.text(sd_bus_message_get_interface(handle)) }
    var member: String { unsafe BusMessage.text(sd_bus_message_get_member(handle)) }

    /// The error of an error message (`sd_bus_message_get_error`); nil for other messages.
    var error: BusError? {
        guard unsafe sd_bus_message_is_method_error(handle, nil) > 0 else { return nil }
        guard let error = unsafe sd_bus_message_get_error(handle) else { return nil }
        return unsafe BusError(error.pointee)
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }
}
