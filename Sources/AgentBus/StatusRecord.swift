// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushDBus

/// The answer of `GetStatus`.
package struct StatusRecord: AgentRecord, Sendable, Equatable {
    /// The version of the agent.
    package var version = ""
    /// The process ID of the agent.
    package var processID: UInt32 = 0
    /// Whether the device is enrolled with a server.
    package var isEnrolled = false
    /// The server's URL; empty while the device is not enrolled.
    package var serverURL = ""
    /// The device ID; empty while the device is not enrolled.
    package var deviceID = ""
    /// Whether the server no longer knows this device.
    package var isRemoved = false
    /// Whether the agent is connected to the server.
    package var isConnected = false
    /// The start of the connection; nil while not connected.
    package var connectedSince: Timestamp?
    /// The time of the last connection; nil if there was none.
    package var lastConnectedAt: Timestamp?
    /// The time of the next attempt to connect or enrol; nil if none is scheduled.
    package var nextTryAt: Timestamp?
    /// The kind of the connection's problem.
    package var problem = ConnectionProblem.none
    /// The connection's error; empty for none.
    package var lastError = ""
    /// Other news for the user, such as a channel that the server ended; empty for none.
    package var notice = ""
    /// The presenters in use: `desktop`, `panel`, `desktop, panel`, `terminal`, `hooks:` with their names, or `none`.
    package var presenter = ""

    /// Creates an empty record.
    package init() {}

    package init(_ dictionary: BusValue) {
        version = dictionary.text("version")
        processID = UInt32(clamping: dictionary.number("pid"))
        isEnrolled = dictionary.flag("enrolled")
        serverURL = dictionary.text("server_url")
        deviceID = dictionary.text("device_id")
        isRemoved = dictionary.flag("removed")
        isConnected = dictionary.flag("connected")
        connectedSince = dictionary.secondsIfSet("connected_since")
        lastConnectedAt = dictionary.secondsIfSet("last_connected")
        nextTryAt = dictionary.secondsIfSet("next_try")
        // A word of a later agent still means that the connection has a problem.
        problem = ConnectionProblem(rawValue: dictionary.text("problem")) ?? .server
        lastError = dictionary.text("last_error")
        notice = dictionary.text("notice")
        presenter = dictionary.text("presenter")
    }

    package var entries: [(String, BusValue)] {
        [
            ("version", .entry(version)),
            ("pid", .entry(processID)),
            ("enrolled", .entry(isEnrolled)),
            ("server_url", .entry(serverURL)),
            ("device_id", .entry(deviceID)),
            ("removed", .entry(isRemoved)),
            ("connected", .entry(isConnected)),
            ("connected_since", .entry(secondsOf: connectedSince)),
            ("last_connected", .entry(secondsOf: lastConnectedAt)),
            ("next_try", .entry(secondsOf: nextTryAt)),
            ("problem", .entry(problem.rawValue)),
            ("last_error", .entry(lastError)),
            ("notice", .entry(notice)),
            ("presenter", .entry(presenter)),
        ]
    }
}
