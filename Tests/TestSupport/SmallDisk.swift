// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A small tmpfs file system for tests of a full disk; unmounted when the last reference is released.
///
/// Mounting needs root.
package final class SmallDisk: Sendable {
    /// The mount point.
    package let directory: TemporaryDirectory
    private let umount: String

    /// Mounts a file system.
    ///
    /// - Parameters:
    ///   - byteCount: The capacity in bytes.
    ///   - isOpen: Whether every user of the machine may write there.
    /// - Throws: `SystemFailure` when it cannot be mounted.
    package init(byteCount: Int, isOpen: Bool = false) throws {
        directory = try TemporaryDirectory(isOpen: isOpen)
        umount = try RepositoryPaths.tool("umount")
        try Self.run(
            try RepositoryPaths.tool("mount"), "-t", "tmpfs", "-o", "size=\(byteCount)", "tmpfs", directory.path)
    }

    // Unmount lazily, because a program may close its files a moment later.
    deinit { try? Self.run(umount, "--lazy", directory.path) }

    /// Fills the disk to its last byte.
    ///
    /// - Throws: `SystemFailure`.
    package func fill() throws {
        let file = unsafe open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SystemFailure(call: "open", code: errno) }
        defer { close(file) }
        let block = [UInt8](repeating: 1, count: 4096)
        while unsafe write(file, block, block.count) > 0 {}
        guard errno == ENOSPC else { throw SystemFailure(call: "write", code: errno) }
    }

    /// Frees the space that `fill` used.
    package func free() throws { try FileManager.default.removeItem(atPath: ballast) }

    private var ballast: String { directory.path(of: "ballast") }

    private static func run(_ program: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw SystemFailure(call: "\(program) \(arguments)", code: EIO) }
    }
}
