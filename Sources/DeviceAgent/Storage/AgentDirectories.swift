// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where the agent's files lie, by the XDG base directory specification.
package struct AgentDirectories: Sendable {
    /// Database, secret and lock; mode 0700.
    package let state: String
    /// `agent.ini`.
    package let configuration: String

    /// Reads `XDG_STATE_HOME`, `XDG_CONFIG_HOME` and `HOME`; relative paths in them are ignored, as the specification
    /// says.
    package init(environment: [String: String]) {
        let home = Self.absolute(environment["HOME"]) ?? Self.homeOfUser()
        state = (Self.absolute(environment["XDG_STATE_HOME"]) ?? "\(home)/.local/state") + "/posthorn"
        configuration = (Self.absolute(environment["XDG_CONFIG_HOME"]) ?? "\(home)/.config") + "/posthorn"
    }

    /// The inbox, the apps and the settings.
    package var databasePath: String { "\(state)/agent.sqlite" }
    /// The device secret.
    package var secretPath: String { "\(state)/device-secret" }
    /// The authority that an enrolment code named.
    package var authorityPath: String { "\(state)/authority.pem" }
    /// Held for as long as an agent runs.
    package var lockPath: String { "\(state)/agent.lock" }
    /// Where programs lie that run for each alert, the person's first.
    package var hooks: [String] { ["\(configuration)/hooks", "/etc/posthorn/hooks"] }
    /// Read when `--config` names no other.
    package var configurationPath: String { "\(configuration)/agent.ini" }

    /// Makes the state directory and what it lies in, and lets nobody else into it.
    package func makeState() throws(StorageError) {
        var path = ""
        for part in state.split(separator: "/") {
            path += "/\(part)"
            guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { continue }
            throw .directory(path: path, code: errno)
        }
        guard unsafe chmod(state, 0o700) == 0 else { throw .directory(path: state, code: errno) }
    }

    private static func absolute(_ path: String?) -> String? {
        guard let path, path.utf8.first == UInt8(ascii: "/") else { return nil }
        return path
    }

    private static func homeOfUser() -> String {
        guard let entry = unsafe getpwuid(getuid()), let home = unsafe entry.pointee.pw_dir else { return "/" }
        return unsafe String(cString: home)
    }
}
