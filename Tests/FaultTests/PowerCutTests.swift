// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// The power goes: what the kernel had not written to the disk is lost.
    @Suite(.enabled(if: CutDisk.isPossible, "cutting the power needs root, loop devices and mkfs.ext4"))
    struct PowerCutTests {
        @Test(.tags(.slow)) func `what was accepted before the power went is there when it is back`() async throws {
            for round in 0..<max(2, Patience.caseCount / 50) {
                let disk = try CutDisk()
                let site = try await Site(data: disk.path(of: "data"))
                let server = try site.start()
                let url = try await server.url()
                let sender = Task {
                    var accepted: [(text: String, at: ContinuousClock.Instant)] = []
                    for number in 0..<60 {
                        let text = "text-\(number)"
                        guard try await site.send(text, to: url) == 200 else { break }
                        accepted.append((text, .now))
                    }
                    return accepted
                }
                try await Task.sleep(for: .milliseconds(100 + round * 271 % 900))
                let cut = ContinuousClock.now
                try disk.cutPower()
                let answered = try await sender.value
                // A machine without power answers nothing: what came while it went is in doubt.
                let accepted = answered.filter { $0.at < cut }.map(\.text)
                try await server.process.killNow()
                try disk.comeBack()
                let waiting = try await site.waiting()
                #expect(Array(waiting.prefix(accepted.count)) == accepted, "round \(round)")
                #expect(waiting.count <= answered.count + 1, "round \(round): at most the one in doubt")
            }
        }

        @Test func `the method tells what is synchronized from what is not`() throws {
            let disk = try CutDisk()
            try write("kept", to: disk.path(of: "kept"), isSynchronized: true)
            try write("lost", to: disk.path(of: "lost"), isSynchronized: false)
            try disk.cutPower()
            try disk.comeBack()
            #expect(readText(disk.path(of: "kept")) == "kept")
            #expect(readText(disk.path(of: "lost")) == "")
        }

        private func write(_ text: String, to path: String, isSynchronized: Bool) throws {
            let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            defer { close(file) }
            let bytes = Array(text.utf8)
            guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count, !isSynchronized || fsync(file) == 0
            else { throw SystemFailure(call: "write \(path)", code: errno) }
        }

        @Test func `a file system that the kernel makes read-only ends the server, and nothing accepted is lost`()
            async throws
        {
            let disk = try CutDisk()
            let site = try await Site(data: disk.path(of: "data"))
            let server = try site.start()
            let url = try await server.url()
            #expect(try await site.send("before", to: url) == 200)
            try disk.becomeReadOnly()
            #expect(try await site.send("after", to: url) != 200)
            #expect(try await server.process.waitForExit() == .code(74), "\(server.process.transcript)")
            let refused = try site.start()
            guard case .code(let code) = try await refused.process.waitForExit(), code != 0 else {
                Issue.record("\(refused.process.transcript)")
                return
            }
            #expect(refused.process.errorOutput.contains("write"), "\(refused.process.transcript)")
            try disk.comeBack()
            #expect(try await site.waiting() == ["before"])
        }
    }
}

/// An ext4 file system in a file, whose power can be cut.
///
/// FS_IOC_SHUTDOWN drops what the page cache held and the journal had not, as loss of power does; the next mount replays
/// the journal.
final class CutDisk: Sendable {
    /// `_IOR('X', 125, __u32)`, and the flag that does not even flush the journal.
    private static let shutdownRequest: UInt = 0x8004_587D
    private static let withoutLogFlush: UInt32 = 2

    private let directory: TemporaryDirectory
    private let mountPoint: String
    private let image: String
    private let mount: String
    private let umount: String

    static let isPossible =
        geteuid() == 0 && FileManager.default.fileExists(atPath: "/dev/loop-control")
        && (try? RepositoryPaths.tool("mkfs.ext4")) != nil

    init() throws {
        directory = try TemporaryDirectory()
        (mount, umount) = (try RepositoryPaths.tool("mount"), try RepositoryPaths.tool("umount"))
        mountPoint = try directory.makeDirectory("disk")
        image = directory.path(of: "image")
        try Data().write(to: URL(fileURLWithPath: image))
        guard unsafe truncate(image, 64 << 20) == 0 else { throw SystemFailure(call: "truncate", code: errno) }
        try Self.run(try RepositoryPaths.tool("mkfs.ext4"), "-q", "-F", image)
        try Self.run(mount, "-t", "ext4", "-o", "loop,errors=remount-ro", image, mountPoint)
    }

    deinit { try? Self.run(umount, "--lazy", mountPoint) }

    func path(of name: String) -> String { "\(mountPoint)/\(name)" }

    func cutPower() throws {
        let root = unsafe open(mountPoint, O_RDONLY | O_CLOEXEC)
        guard root >= 0 else { throw SystemFailure(call: "open", code: errno) }
        defer { close(root) }
        var flag = Self.withoutLogFlush
        guard unsafe ioctl(root, Self.shutdownRequest, &flag) == 0 else {
            throw SystemFailure(call: "ioctl FS_IOC_SHUTDOWN", code: errno)
        }
    }

    /// Reports an error of the file system to the kernel, which reacts as to a real one.
    func becomeReadOnly() throws {
        let mounts = readText("/proc/mounts").split(separator: "\n").map { $0.split(separator: " ") }
        guard let device = mounts.first(where: { $0[1] == mountPoint })?[0].split(separator: "/").last else {
            throw SystemFailure(call: "find the device", code: ENOENT)
        }
        let trigger = "/sys/fs/ext4/\(device)/trigger_fs_error"
        try Data("error".utf8).write(to: URL(fileURLWithPath: trigger))
    }

    func comeBack() throws {
        try Self.run(umount, mountPoint)
        try Self.run(mount, "-t", "ext4", "-o", "loop", image, mountPoint)
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
