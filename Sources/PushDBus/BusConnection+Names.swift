// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

/// Bus names: requesting one, and finding and watching owners.
extension BusConnection {
    /// Requests a well-known name (`sd_bus_request_name`), and blocks until the reply arrives.
    ///
    /// - Parameters:
    ///   - name: The well-known name.
    ///   - waits: Whether this connection queues for the name while others own it.
    /// - Returns: Whether this connection owns the name now.
    /// - Throws: The error from the bus.
    package func requestName(_ name: String, waits: Bool = false) throws(BusError) -> Bool {
        defer { activityHandler?() }
        let code = unsafe sd_bus_request_name(handle, name, waits ? UInt64(SD_BUS_NAME_QUEUE) : 0)
        guard code != -EEXIST, code != -EALREADY else { return code == -EALREADY }
        // The code for a place in the queue is 0.
        return try BusError.check(code, "request a name") > 0
    }

    /// Returns the unique name of a name's owner, or nil if the name has no owner; blocks until the reply arrives.
    package func owner(of name: String) throws(BusError) -> String? {
        do {
            return try askBus("GetNameOwner", [.string(name)]).first?.stringValue
        } catch let error where error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" {
            return nil
        }
    }

    /// Returns whether the bus can start a service for a name; blocks until the reply arrives.
    package func isActivatable(_ name: String) throws(BusError) -> Bool {
        let names = try askBus("ListActivatableNames").first?.arrayValue ?? []
        return names.contains(.string(name))
    }

    /// Returns the globally unique ID of this bus, 32 hexadecimal digits; blocks until the reply arrives.
    package func busID() throws(BusError) -> String { try askBus("GetId").first?.stringValue ?? "" }

    /// Calls `handler` when the owner of a name changes, with the new owner's unique name, or with nil if there is no
    /// owner.
    ///
    /// Changes of other names do not wake this connection. To learn the first owner, call `owner(of:)` after this
    /// function.
    ///
    /// - Parameters:
    ///   - name: The well-known name.
    ///   - handler: Called in `process()`.
    /// - Throws: The error from the bus, or `invalidArguments` for a malformed name.
    package func watchOwner(of name: String, _ handler: @escaping (String?) -> Void) throws(BusError) {
        // The name becomes part of a match rule, and a quote would end it there.
        guard unsafe sd_bus_service_name_is_valid(name) > 0 else { throw .invalidArguments("not a bus name") }
        let bus = "org.freedesktop.DBus"
        let rule = "type='signal',sender='\(bus)',interface='\(bus)',member='NameOwnerChanged',arg0='\(name)'"
        try subscribe(rule: rule) { signal in
            // Any program can send such a signal directly to this connection, but only the bus itself can have this
            // sender.
            guard signal.sender == bus, signal.arguments.count == 3, signal.arguments[0] == .string(name) else {
                return
            }
            handler(signal.arguments[2].stringValue.flatMap { $0.isEmpty ? nil : $0 })
        }
    }

    private func askBus(_ member: String, _ arguments: [BusValue] = []) throws(BusError) -> [BusValue] {
        try call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member, arguments)
    }
}
