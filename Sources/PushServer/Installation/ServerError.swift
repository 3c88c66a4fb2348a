// SPDX-License-Identifier: Apache-2.0

package import PushNet
internal import PushServing
package import PushStore
package import PushTLS

/// The reason why the server or a connection cannot continue.
package enum ServerError: Error, Sendable {
    /// An invalid flag, environment variable or configuration file.
    case configuration(ConfigurationError)
    /// A problem with the data directory.
    case installation(InstallationError)
    /// A damaged backup, or a database that failed its check.
    case damaged(InstallationError)
    /// A problem of the database.
    case store(any StoreFailure)
    /// A store that could not be copied to another database.
    case move(StoreMoveError)
    /// The store did not return the data that the server needs to start.
    case refused(String)
    /// A failed system call.
    case system(NetError)
    /// A TLS or key error.
    case tls(TLSError)
    /// A library that is too old to be exposed to the network.
    case library(String)

    /// The exit status, from sysexits.h.
    package var exitStatus: Int32 {
        switch self {
        case .configuration, .library: 78
        case .installation: 73
        case .damaged: 65
        case .store(let error): error.exitStatus
        case .move(let error): error.exitStatus
        case .refused: 74
        case .system: 71
        case .tls: 78
        }
    }

    /// The problem and what to do about it, in one or two lines.
    package var description: String {
        switch self {
        case .configuration(let error): error.description
        case .installation(let error), .damaged(let error): error.description
        case .store(let error): error.description
        case .move(let error): error.description
        case .refused(let text): text
        case .system(let error): "\(error.description)\n\(error.advice)"
        case .tls(let error): error.description
        case .library(let text): text
        }
    }
}

extension StoreMoveError {
    /// The exit status, from sysexits.h.
    fileprivate var exitStatus: Int32 {
        if isInUse { return 75 }
        return switch self {
        case .aheadOfClock: 75
        case .differs: 65
        case .notEmpty, .noTables, .severalShards: 73
        case .postgres: 69
        case .sqlite, .newerSchema, .nodeRunning, .outOfNumbers: 74
        }
    }
}

extension ServerError {
    static func wrapping<Value>(_ body: () throws(NetError) -> Value) throws(ServerError) -> Value {
        do throws(NetError) { return try body() } catch { throw .system(error) }
    }

    static func wrapping<Value>(_ body: () throws(ServingError) -> Value) throws(ServerError) -> Value {
        do throws(ServingError) {
            return try body()
        } catch {
            switch error {
            case .system(let error): throw .system(error)
            case .tls(let error): throw .tls(error)
            }
        }
    }

    static func wrapping<Value>(_ body: () throws(InstallationError) -> Value) throws(ServerError) -> Value {
        do throws(InstallationError) { return try body() } catch { throw .installation(error) }
    }

    static func damaging<Value>(_ body: () throws(InstallationError) -> Value) throws(ServerError) -> Value {
        do throws(InstallationError) { return try body() } catch { throw .damaged(error) }
    }
}
