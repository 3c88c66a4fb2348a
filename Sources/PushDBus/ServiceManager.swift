// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

/// The service manager: notifications (sd_notify), sockets and the watchdog; without one, all of it does nothing.
package enum ServiceManager {
    /// The longest time to wait until the service manager has processed all messages.
    private static let barrierMicroseconds: UInt64 = 5_000_000

    /// Sends a state such as `READY=1`, with errors ignored, as sd_notify(3) recommends.
    package static func notify(_ state: String) { _ = unsafe sd_notify(0, state) }

    /// Returns the sockets that a service manager passed to this process, with the names under which it keeps them.
    ///
    /// Later calls return none.
    ///
    /// - SeeAlso: sd_listen_fds_with_names(3)
    package static func takeSockets() -> [(descriptor: Int32, name: String)] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &names)
        guard count > 0, let names = unsafe names else { return [] }
        defer { unsafe free(names) }
        return (0..<count).map { index in
            let name = unsafe names[Int(index)]
            defer { unsafe free(name) }
            return (SD_LISTEN_FDS_START + index, unsafe name.map { unsafe String(cString: $0) } ?? "")
        }
    }

    /// Gives the service manager copies of sockets, which it passes to the next process of the service.
    ///
    /// A service manager that keeps them already, or keeps none for this service, ignores them.
    ///
    /// - Parameters:
    ///   - sockets: The descriptors.
    ///   - name: The name under which it keeps them, without a colon.
    /// - SeeAlso: sd_pid_notify_with_fds(3), `FDSTORE=1`
    package static func store(_ sockets: [Int32], name: String) {
        guard !sockets.isEmpty else { return }
        _ = unsafe sockets.withUnsafeBufferPointer { buffer in
            unsafe sd_pid_notify_with_fds(
                0, 0, "FDSTORE=1\nFDNAME=\(name)", buffer.baseAddress, UInt32(buffer.count))
        }
    }

    /// Makes the service manager close the sockets that it keeps under these names, and waits until it has done so.
    ///
    /// - SeeAlso: sd_notify(3), `FDSTOREREMOVE=1`
    package static func forget(_ names: [String]) {
        guard !names.isEmpty else { return }
        for name in names { notify("FDSTOREREMOVE=1\nFDNAME=\(name)") }
        _ = sd_notify_barrier(0, barrierMicroseconds)
    }

    /// The interval within which the service manager expects signs of life; nil if it expects none.
    ///
    /// - SeeAlso: sd_watchdog_enabled(3)
    package static var watchdogInterval: Duration? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }
}
