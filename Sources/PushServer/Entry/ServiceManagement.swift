// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// The service manager of the server, through functions of the program's entry.
package struct ServiceManagement: Sendable {
    /// Reports a state, for example `READY=1`.
    package var reportState: @Sendable (String) -> Void
    /// The listening sockets that the service manager, or an earlier process of this server, passed to this one.
    package var inheritedSockets: [Int32]
    /// Gives the service manager copies of listening sockets for the next process; nil without a service manager.
    package var storeSockets: (@Sendable ([Int32]) -> Void)?
    /// The environment of this process, which the check of its replacement inherits.
    package var environment: [String: String] = [:]
    /// The interval within which the service manager expects `WATCHDOG=1`; nil if it expects none.
    package var watchdogInterval: Duration?

    package init(
        reportState: @escaping @Sendable (String) -> Void, inheritedSockets: [Int32] = [],
        storeSockets: (@Sendable ([Int32]) -> Void)? = nil, watchdogInterval: Duration? = nil
    ) {
        self.reportState = reportState
        self.inheritedSockets = inheritedSockets
        self.storeSockets = storeSockets
        self.watchdogInterval = watchdogInterval
    }
}
