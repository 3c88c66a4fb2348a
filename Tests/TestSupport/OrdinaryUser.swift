// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Runs code with the file permissions of a user other than root.
package enum OrdinaryUser {
    /// The user ID of `nobody` in Debian.
    private static let nobody: UInt32 = 65_534

    /// Runs a closure with the file access of `nobody` if the tests run as root, and unchanged otherwise.
    ///
    /// Only the current thread is affected: `setfsuid` drops its capabilities to ignore file modes.
    ///
    /// - Parameter body: Uses files that every user can reach, in a `TemporaryDirectory(isOpen: true)`.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure; `SystemFailure` when the permissions cannot be dropped.
    package static func run<Result>(_ body: () throws -> Result) throws -> Result {
        guard geteuid() == 0 else { return try body() }
        _ = try setFileSystemUser(nobody)
        defer { _ = try? setFileSystemUser(0) }
        // The call returns the previous user and never an error, so a second call verifies the first.
        guard try setFileSystemUser(nobody) == nobody else { throw SystemFailure(call: "setfsuid", code: EPERM) }
        return try body()
    }

    /// Changes the owner of a file or directory to `nobody` and `nogroup` if the tests run as root.
    ///
    /// The user and the group have the same number.
    static func own(_ path: String) throws {
        guard geteuid() == 0 else { return }
        guard unsafe chown(path, nobody, nobody) == 0 else { throw SystemFailure(call: "chown", code: errno) }
    }

    /// Calls `setfsuid`, which Swift's Glibc module lacks.
    private static func setFileSystemUser(_ user: UInt32) throws -> UInt32 {
        guard let symbol = unsafe dlsym(nil, "setfsuid") else { throw SystemFailure(call: "dlsym", code: ENOSYS) }
        typealias SetFileSystemUser = @convention(c) (UInt32) -> Int32
        return UInt32(bitPattern: unsafe unsafeBitCast(symbol, to: SetFileSystemUser.self)(user))
    }
}
