// SPDX-License-Identifier: Apache-2.0

package import PushNet
package import PushStore
package import PushTLS

/// Why the server, or one connection, cannot go on.
package enum ServerError: Error, Sendable {
    /// Flags, environment or file.
    case configuration(ConfigurationError)
    /// The data directory.
    case installation(InstallationError)
    /// The database.
    case store(StoreError)
    /// The store would not tell what is needed to start.
    case refused(String)
    /// A system call.
    case system(NetError)
    /// TLS or a key.
    case tls(TLSError)
    /// A library that is too old to be exposed to the network.
    case library(String)

    /// The exit status, from sysexits.h.
    package var exitStatus: Int32 {
        switch self {
        case .configuration, .library: 78
        case .installation: 73
        case .store(let error): error.isLocked ? 75 : 74
        case .refused: 74
        case .system: 71
        case .tls: 78
        }
    }

    /// One or two lines: what is wrong, and what to do.
    package var description: String {
        switch self {
        case .configuration(let error): error.description
        case .installation(let error): error.description
        case .store(let error): error.description
        case .refused(let text): text
        case .system(let error): "\(error.description)\n\(error.advice)"
        case .tls(let error): error.description
        case .library(let text): text
        }
    }
}

extension ServerError {
    static func wrapping<Value>(_ body: () throws(NetError) -> Value) throws(ServerError) -> Value {
        do throws(NetError) { return try body() } catch { throw .system(error) }
    }

    static func wrapping<Value>(_ body: () throws(InstallationError) -> Value) throws(ServerError) -> Value {
        do throws(InstallationError) { return try body() } catch { throw .installation(error) }
    }
}
