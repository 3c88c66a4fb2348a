// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Finds the server's admin socket.
enum AdminSocket {
    /// The environment variable with the path of the socket.
    static let variable = "POSTHORN_ADMIN_SOCKET"
    /// The path of the socket of a server that systemd starts.
    static let systemPath = "/run/posthorn/admin.sock"

    /// Returns the socket paths in the order in which they are tried.
    ///
    /// A path from the command line or the environment is the only candidate, so that no other server answers instead.
    static func candidates(named option: String?, in context: CommandContext) -> [String] {
        if let named = option ?? context.variable(variable) { return [named] }
        return [systemPath, defaultDataDirectory(in: context)].compactMap(\.self)
    }

    /// The socket in the default data directory of a server that this user starts without a configuration.
    private static func defaultDataDirectory(in context: CommandContext) -> String? {
        if context.isRoot { return "/var/lib/posthorn/admin.sock" }
        // The XDG base directory specification says that relative paths must be ignored.
        if let data = context.variable("XDG_DATA_HOME"), data.hasPrefix("/") {
            return "\(data)/posthorn/server/admin.sock"
        }
        return context.variable("HOME").map { "\($0)/.local/share/posthorn/server/admin.sock" }
    }

    /// Finds the reason why a connection to the socket failed.
    static func finding(at path: String) -> SocketAttempt.Finding {
        guard unsafe access(path, W_OK) != 0 else { return .notListening }
        switch errno {
        case ENOENT, ENOTDIR: return .absent
        case EACCES, EPERM: return .noPermission
        default: return .notListening
        }
    }
}
