// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// An ext4 file system in an image file, which can simulate a power loss.
///
/// FS_IOC_SHUTDOWN drops the content of the page cache that the journal does not have, as a power loss does. The next
/// mount replays the journal.
package final class CutDisk: Sendable {
    /// The value of `_IOR('X', 125, __u32)`, which is used with the flag that prevents a flush of the journal.
    private static let shutdownRequest: UInt = 0x8004_587D
    private static let withoutLogFlush: UInt32 = 2

    private let directory: TemporaryDirectory
    private let mountPoint: String
    private let image: String
    private let mount: String
    private let umount: String

    /// Whether this machine and this user can mount such a file system.
    package static let isPossible =
        geteuid() == 0 && FileManager.default.fileExists(atPath: "/dev/loop-control")
        && (try? RepositoryPaths.tool("mkfs.ext4")) != nil

    /// Creates a file system and mounts it.
    ///
    /// - Parameters:
    ///   - byteCount: The capacity in bytes.
    ///   - isOpen: Whether every user of the machine may reach its content.
    /// - Throws: `SystemFailure` when it cannot be mounted, `MissingProgram`.
    package init(byteCount: Int = 64 << 20, isOpen: Bool = false) throws {
        directory = try TemporaryDirectory(isOpen: isOpen)
        (mount, umount) = (try RepositoryPaths.tool("mount"), try RepositoryPaths.tool("umount"))
        mountPoint = try directory.makeDirectory("disk")
        image = directory.path(of: "image")
        try Data().write(to: URL(fileURLWithPath: image))
        guard unsafe truncate(image, off_t(byteCount)) == 0 else { throw SystemFailure(call: "truncate", code: errno) }
        try Self.run(try RepositoryPaths.tool("mkfs.ext4"), "-q", "-F", image)
        try Self.run(mount, "-t", "ext4", "-o", "loop,errors=remount-ro", image, mountPoint)
    }

    deinit { try? Self.run(umount, "--lazy", mountPoint) }

    /// Returns the path of a file or directory in the file system, which need not exist.
    package func path(of name: String) -> String { "\(mountPoint)/\(name)" }

    /// Simulates a power loss: all unsynchronized data is lost.
    package func cutPower() throws {
        let root = unsafe open(mountPoint, O_RDONLY | O_CLOEXEC)
        guard root >= 0 else { throw SystemFailure(call: "open", code: errno) }
        defer { close(root) }
        var flag = Self.withoutLogFlush
        guard unsafe ioctl(root, Self.shutdownRequest, &flag) == 0 else {
            throw SystemFailure(call: "ioctl FS_IOC_SHUTDOWN", code: errno)
        }
    }

    /// Reports a file system error to the kernel, which then remounts read-only as after a real error.
    package func becomeReadOnly() throws {
        let mounts = readText("/proc/mounts").split(separator: "\n").map { $0.split(separator: " ") }
        guard let device = mounts.first(where: { $0[1] == mountPoint })?[0].split(separator: "/").last else {
            throw SystemFailure(call: "find the device", code: ENOENT)
        }
        let trigger = "/sys/fs/ext4/\(device)/trigger_fs_error"
        try Data("error".utf8).write(to: URL(fileURLWithPath: trigger))
    }

    /// Mounts the file system again, as after a restart of the machine; none of its files may be open.
    package func comeBack() throws {
        try unmount()
        try Self.run(mount, "-t", "ext4", "-o", "loop", image, mountPoint)
    }

    /// Unmounts the file system, with retries.
    ///
    /// A child of another test holds our file descriptors between fork and exec.
    ///
    /// - Throws: `SystemFailure` when it stays busy.
    private func unmount() throws {
        for _ in 0..<100 {
            if (try? Self.run(umount, "--quiet", mountPoint)) != nil { return }
            usleep(20_000)
        }
        try Self.run(umount, mountPoint)
    }

    private static func run(_ program: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw SystemFailure(call: "\(program) \(arguments)", code: EIO) }
    }
}
