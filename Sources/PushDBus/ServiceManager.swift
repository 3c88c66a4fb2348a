// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// The service manager: notifications (sd_notify), sockets and the watchdog; without one, all of it does nothing.
package enum ServiceManager {
    /// Sends a state such as `READY=1`, with errors ignored, as sd_notify(3) recommends.
    package static func notify(_ state: String) { _ = unsafe sd_notify(0, state) }

    /// Returns the sockets that a service manager passed to this process, once; later calls return none.
    ///
    /// - SeeAlso: sd_listen_fds(3)
    package static func takeSockets() -> [Int32] {
        let count = sd_listen_fds(1)
        guard count > 0 else { return [] }
        return (0..<count).map { SD_LISTEN_FDS_START + $0 }
    }

    /// Gives the service manager copies of sockets, which it passes to the next process of the service.
    ///
    /// A service manager that keeps them already, or keeps none for this service, ignores them.
    ///
    /// - SeeAlso: sd_pid_notify_with_fds(3), `FDSTORE=1`
    package static func store(_ sockets: [Int32]) {
        guard !sockets.isEmpty else { return }
        _ = unsafe sockets.withUnsafeBufferPointer { buffer in
            unsafe sd_pid_notify_with_fds(
                0, 0, "FDSTORE=1\nFDNAME=posthornd", buffer.baseAddress, UInt32(buffer.count))
        }
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
