// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension PrivateFile {
    /// Reads a regular file of any size in chunks.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - body: Receives each chunk, in order.
    /// - Throws: `NetError.system` with path and errno, or the error of the body.
    package static func forEachChunk(
        of path: String, _ body: ([UInt8]) throws(NetError) -> Void
    ) throws(NetError) {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .system(call: "open", code: errno, subject: path) }
        defer { close(file) }
        var information = stat()
        guard unsafe fstat(file, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
            throw .system(call: "open a regular file", code: EINVAL, subject: path)
        }
        var chunk = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .system(call: "read", code: errno, subject: path) }
            guard count > 0 else { return }
            try body(count == chunk.count ? chunk : Array(chunk[..<count]))
        }
    }

    /// Copies a regular file of any size to a new file, and synchronizes the new file.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - target: The new file, which must not exist.
    ///   - mode: The permissions of the new file, set at its creation.
    /// - Throws: `NetError.system` with path and errno.
    package static func copy(_ source: String, to target: String, mode: UInt32 = 0o600) throws(NetError) {
        let file = unsafe open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else { throw .system(call: "open", code: errno, subject: target) }
        defer { close(file) }
        try forEachChunk(of: source) { chunk throws(NetError) in try writeAll(chunk, to: file, path: target) }
        guard fsync(file) == 0 else { throw .system(call: "fsync", code: errno, subject: target) }
    }

    /// Writes the cached pages of a file or directory to its disk.
    package static func synchronize(_ path: String) throws(NetError) {
        let handle = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard handle >= 0 else { throw .system(call: "open", code: errno, subject: path) }
        defer { close(handle) }
        guard fsync(handle) == 0 else { throw .system(call: "fsync", code: errno, subject: path) }
    }

    /// Renames a file or directory on the same disk durably: both directories are synchronized.
    ///
    /// - Parameters:
    ///   - path: The current name.
    ///   - newPath: The new name; an existing file is replaced, an existing directory only if it is empty.
    /// - Throws: `NetError.system` with the new path and errno.
    package static func move(_ path: String, to newPath: String) throws(NetError) {
        guard unsafe rename(path, newPath) == 0 else { throw .system(call: "rename", code: errno, subject: newPath) }
        try synchronizeDirectory(of: newPath)
        if directory(of: path) != directory(of: newPath) { try synchronizeDirectory(of: path) }
    }

    /// Changes the owner of a file to that of its directory; for root working on behalf of another user.
    package static func giveToOwnerOfDirectory(_ path: String) throws(NetError) {
        var information = stat()
        let parent = directory(of: path)
        guard unsafe stat(parent, &information) == 0 else { throw .system(call: "stat", code: errno, subject: parent) }
        guard geteuid() == 0 else { return }
        guard unsafe lchown(path, information.st_uid, information.st_gid) == 0 else {
            throw .system(call: "lchown", code: errno, subject: path)
        }
    }
}
