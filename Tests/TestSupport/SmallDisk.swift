// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A file system of its own, so small that it is full soon; unmounted when the last user lets go.
///
/// Mounting needs root.
package final class SmallDisk: Sendable {
    /// Where it is mounted.
    package let directory: TemporaryDirectory
    private let umount: String

    /// Makes one.
    ///
    /// - Parameter byteCount: How much it holds.
    /// - Throws: `SystemFailure` when it cannot be mounted.
    package init(byteCount: Int) throws {
        directory = try TemporaryDirectory()
        umount = try RepositoryPaths.tool("umount")
        try Self.run(
            try RepositoryPaths.tool("mount"), "-t", "tmpfs", "-o", "size=\(byteCount)", "tmpfs", directory.path)
    }

    // Lazily: a program may close its files a moment later.
    deinit { try? Self.run(umount, "--lazy", directory.path) }

    private static func run(_ program: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw SystemFailure(call: "\(program) \(arguments)", code: EIO) }
    }
}
