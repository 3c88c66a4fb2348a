// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

extension BusConnection {
    /// Opens a connection with `sd_bus_open_user`, `sd_bus_open_system`, or `sd_bus_set_address` and `sd_bus_start`.
    static func open(_ bus: Bus) throws(BusError) -> OpaquePointer {
        var handle: OpaquePointer?
        let code: Int32
        switch bus {
        case .session: code = unsafe sd_bus_open_user(&handle)
        case .system: code = unsafe sd_bus_open_system(&handle)
        case .address(let address): code = unsafe start(&handle, at: address)
        }
        guard code >= 0, let handle = unsafe handle else {
            throw BusError(code: code, during: "connect to the bus").explained(for: bus)
        }
        // By default, sd-bus ends the process when the bus goes. The owner of the connection decides that.
        _ = unsafe sd_bus_set_exit_on_disconnect(handle, 0)
        return unsafe handle
    }

    private static func start(_ handle: inout OpaquePointer?, at address: String) -> Int32 {
        var bus: OpaquePointer?
        var code = unsafe sd_bus_new(&bus)
        if code >= 0 { code = unsafe sd_bus_set_address(bus, address) }
        if code >= 0 { code = unsafe sd_bus_set_bus_client(bus, 1) }
        if code >= 0 { code = unsafe sd_bus_start(bus) }
        guard code >= 0 else {
            _ = unsafe sd_bus_close_unref(bus)
            return code
        }
        unsafe handle = bus
        return code
    }

    /// Waits until the bus accepts the connection (`sd_bus_get_unique_name`), so that a refusal is reported here and
    /// not later.
    static func greet(_ handle: OpaquePointer) throws(BusError) -> String {
        var name: UnsafePointer<CChar>?
        try BusError.check(unsafe sd_bus_get_unique_name(handle, &name), "connect to the bus")
        return unsafe name.map { unsafe String(cString: $0) } ?? ""
    }

    static func duplicateDescriptor(of handle: OpaquePointer) throws(BusError) -> Int32 {
        let own = try BusError.check(unsafe sd_bus_get_fd(handle), "connect to the bus")
        let duplicate = fcntl(own, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { throw BusError(code: -errno, during: "duplicate the bus's descriptor") }
        return duplicate
    }

    static func monotonicMicroseconds() -> UInt64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(clamping: now.tv_sec) &* 1_000_000 &+ UInt64(clamping: now.tv_nsec) / 1000
    }
}

extension BusError {
    /// Returns the same error with advice on a bus that cannot be reached.
    func explained(for bus: BusConnection.Bus) -> BusError {
        let advice =
            switch bus {
            case .session:
                "Start this in a desktop session or with `dbus-run-session`, or set DBUS_SESSION_BUS_ADDRESS to the "
                    + "address of the session's bus."
            case .system: "Check that the system bus runs: `systemctl status dbus`."
            case .address(let address): "Check that a message bus listens at \(address)."
            }
        // The C library's text for this errno, "No medium found", is about disks.
        let problem = name == "System.Error.ENOMEDIUM" ? "no bus address is known" : message
        return BusError(name: name, message: "\(problem). \(advice)")
    }
}
