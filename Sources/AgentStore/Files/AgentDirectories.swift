// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The paths of the agent's files, according to the XDG base directory specification.
package struct AgentDirectories: Sendable {
    /// The directory with the database, the secret and the lock; mode 0700.
    package let state: String
    /// The directory with `agent.ini`.
    package let configuration: String

    /// Reads `XDG_STATE_HOME`, `XDG_CONFIG_HOME` and `HOME`; ignores relative paths, as the specification requires.
    package init(environment: [String: String]) {
        let home = Self.absolute(environment["HOME"]) ?? Self.homeOfUser()
        state = (Self.absolute(environment["XDG_STATE_HOME"]) ?? "\(home)/.local/state") + "/posthorn"
        configuration = (Self.absolute(environment["XDG_CONFIG_HOME"]) ?? "\(home)/.config") + "/posthorn"
    }

    /// The database with the inbox, the apps and the settings.
    package var databasePath: String { "\(state)/agent.sqlite" }
    /// The file with the device secret.
    package var secretPath: String { "\(state)/device-secret" }
    /// The file with the authority that an enrolment code named.
    package var authorityPath: String { "\(state)/authority.pem" }
    /// The directory with the pictures of inbox entries.
    package var pictures: String { "\(state)/pictures" }
    /// The lock file of the running agent.
    package var lockPath: String { "\(state)/agent.lock" }
    /// The directories with programs that run for each alert; the user's is first.
    package var hooks: [String] { ["\(configuration)/hooks", "/etc/posthorn/hooks"] }
    /// The configuration file that is read without `--config`.
    package var configurationPath: String { "\(configuration)/agent.ini" }

    /// Creates the state directory and its parents, and denies other users access to it.
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
