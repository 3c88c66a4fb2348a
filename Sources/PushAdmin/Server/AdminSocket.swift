// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Finds the server's admin socket.
package enum AdminSocket {
    /// The variable that says where it is.
    static let variable = "POSTHORN_ADMIN_SOCKET"
    /// Where a server that systemd started has it.
    static let systemPath = "/run/posthorn/admin.sock"

    /// The paths to try, in this order.
    ///
    /// A path that somebody named is the only one: another server must not answer in its place.
    package static func candidates(named option: String?, in surroundings: Surroundings) -> [String] {
        if let named = option ?? surroundings.variable(variable) { return [named] }
        return [systemPath, defaultDataDirectory(in: surroundings)].compactMap(\.self)
    }

    /// The socket in the data directory of a server that this person starts without a configuration.
    private static func defaultDataDirectory(in surroundings: Surroundings) -> String? {
        if surroundings.isRoot { return "/var/lib/posthorn/admin.sock" }
        // Relative paths are to be ignored, says the XDG base directory specification.
        if let data = surroundings.variable("XDG_DATA_HOME"), data.hasPrefix("/") {
            return "\(data)/posthorn/server/admin.sock"
        }
        return surroundings.variable("HOME").map { "\($0)/.local/share/posthorn/server/admin.sock" }
    }

    /// What stands in the way of a connection that failed.
    static func finding(at path: String) -> SocketAttempt.Finding {
        guard unsafe access(path, W_OK) != 0 else { return .notListening }
        switch errno {
        case ENOENT, ENOTDIR: return .absent
        case EACCES, EPERM: return .noPermission
        default: return .notListening
        }
    }
}

/// A path where the admin socket was looked for.
package struct SocketAttempt: Equatable, Sendable {
    /// What stood in the way.
    package enum Finding: Equatable, Sendable {
        case absent, noPermission, notListening

        /// One phrase.
        package var text: String {
            switch self {
            case .absent: "not there"
            case .noPermission: "no permission"
            case .notListening: "nobody listens"
            }
        }
    }

    /// The path.
    package let path: String
    /// What stood in the way.
    package let finding: Finding

    /// Joins both.
    package init(path: String, finding: Finding) {
        self.path = path
        self.finding = finding
    }
}
