// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// The service manager of the server, through functions of the program's entry.
package struct ServiceManagement: Sendable {
    /// Reports a state, for example `READY=1`.
    package var reportState: @Sendable (String) -> Void
    /// The listening sockets that the service manager, or an earlier process of this server, passed to this one.
    package var inheritedSockets: [PassedSocket] = []
    /// Gives the service manager copies of listening sockets for the next process; nil without a service manager.
    package var storeSockets: (@Sendable ([PassedSocket]) -> Void)?
    /// Makes the service manager close its copies of sockets with these names; nil without a service manager.
    package var forgetSockets: (@Sendable ([String]) -> Void)?
    /// The environment of this process, which the check of its replacement inherits.
    package var environment: [String: String] = [:]
    /// The interval within which the service manager expects `WATCHDOG=1`; nil if it expects none.
    package var watchdogInterval: Duration?

    package init(reportState: @escaping @Sendable (String) -> Void) { self.reportState = reportState }
}
