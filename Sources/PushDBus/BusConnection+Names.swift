// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

/// Names of the bus: who has them, and taking one.
extension BusConnection {
    /// Takes a well-known name with `sd_bus_request_name`; false when another owns it.
    ///
    /// Blocks for the answer.
    ///
    /// - Parameters:
    ///   - name: A well-known name.
    ///   - waits: Whether we get it once those who were first are gone.
    /// - Returns: Whether it is ours now.
    /// - Throws: What the bus answered.
    package func requestName(_ name: String, waits: Bool = false) throws(BusError) -> Bool {
        defer { activityHandler?() }
        let code = unsafe sd_bus_request_name(handle, name, waits ? UInt64(SD_BUS_NAME_QUEUE) : 0)
        guard code != -EEXIST, code != -EALREADY else { return code == -EALREADY }
        // In the queue it is 0.
        return try BusError.check(code, "request a name") > 0
    }

    /// The unique name of who owns a name; nil for nobody.
    ///
    /// Blocks for the answer.
    package func owner(of name: String) throws(BusError) -> String? {
        do {
            return try askBus("GetNameOwner", [.string(name)]).first?.stringValue
        } catch let error where error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" {
            return nil
        }
    }

    /// Whether the bus can start a service for a name.
    ///
    /// Blocks for the answer.
    package func isActivatable(_ name: String) throws(BusError) -> Bool {
        let names = try askBus("ListActivatableNames").first?.arrayValue ?? []
        return names.contains(.string(name))
    }

    /// What tells this bus from every other: 32 hexadecimal digits.
    ///
    /// Blocks for the answer.
    package func busID() throws(BusError) -> String { try askBus("GetId").first?.stringValue ?? "" }

    /// Calls `handler` when a name gets another owner, with its unique name, or nil when it has none any more.
    ///
    /// Other names' changes do not wake this connection. Ask `owner(of:)` after this for the owner at the start.
    ///
    /// - Parameters:
    ///   - name: A well-known name.
    ///   - handler: Runs in `process()`.
    /// - Throws: What the bus answered, or that the name is malformed.
    package func watchOwner(of name: String, _ handler: @escaping (String?) -> Void) throws(BusError) {
        // The name goes into a match rule, where a quote would end it.
        guard unsafe sd_bus_service_name_is_valid(name) > 0 else { throw .invalidArguments("not a bus name") }
        let bus = "org.freedesktop.DBus"
        let rule = "type='signal',sender='\(bus)',interface='\(bus)',member='NameOwnerChanged',arg0='\(name)'"
        try subscribe(rule: rule) { signal in
            // Anybody can send such a signal straight to us; the bus itself has this sender, and nobody else can.
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
