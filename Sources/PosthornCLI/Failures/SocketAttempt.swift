// SPDX-License-Identifier: Apache-2.0

/// A path at which a connection to the admin socket failed.
package struct SocketAttempt: Equatable, Sendable {
    /// The reason why the connection failed.
    enum Finding: Equatable, Sendable {
        case absent, noPermission, notListening

        /// The reason as a phrase for the error message.
        var text: String {
            switch self {
            case .absent: "no such file"
            case .noPermission: "permission denied"
            case .notListening: "connection refused"
            }
        }
    }

    let path: String
    let finding: Finding
}
