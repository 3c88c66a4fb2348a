// SPDX-License-Identifier: Apache-2.0

internal import CPushShims
internal import Glibc

/// Files and directories that only their owner can read; they have their mode from creation on.
package enum PrivateFile {
    /// Reads a whole regular file of at most `byteCountMax` bytes.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - byteCountMax: The size limit; a longer file is an error (`EFBIG`).
    /// - Returns: The content.
    /// - Throws: `NetError.system` with path and errno.
    package static func read(_ path: String, byteCountMax: Int = 1 << 20) throws(NetError) -> [UInt8] {
        // Without O_NONBLOCK, opening a pipe would wait for a writer.
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .system(call: "open", code: errno, subject: path) }
        defer { close(file) }
        var information = stat()
        guard unsafe fstat(file, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
            throw .system(call: "open a regular file", code: EINVAL, subject: path)
        }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .system(call: "read", code: errno, subject: path) }
            guard count > 0 else { return content }
            content += chunk[..<count]
            guard content.count <= byteCountMax else { throw .system(call: "read", code: EFBIG, subject: path) }
        }
    }

    /// Writes a file atomically: after a crash at any moment, either the complete old or the complete new file exists.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - path: The file; its directory must exist.
    ///   - mode: The permissions, set at the creation of the file.
    /// - Throws: `NetError.system` with path and errno; the old file is then unchanged.
    package static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o600) throws(NetError) {
        let temporary = path + ".new"
        unsafe unlink(temporary)
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else { throw .system(call: "open", code: errno, subject: path) }
        do throws(NetError) {
            defer { close(file) }
            try writeAll(bytes, to: file, path: path)
            guard fsync(file) == 0 else { throw .system(call: "fsync", code: errno, subject: path) }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        guard unsafe rename(temporary, path) == 0 else {
            throw .system(call: "rename", code: errno, subject: path)
        }
        try synchronizeDirectory(of: path)
    }

    /// Creates a directory and its missing parents; a new directory gets exactly this mode.
    ///
    /// - Parameters:
    ///   - path: The directory.
    ///   - mode: The permissions; new parents get them, too.
    /// - Throws: `NetError.system` with the path that could not be created.
    package static func makeDirectory(_ path: String, mode: UInt32 = 0o700) throws(NetError) {
        if unsafe mkdir(path, mode) == 0 || errno == EEXIST { return }
        let parent = directory(of: path)
        guard errno == ENOENT, parent != path else { throw .system(call: "mkdir", code: errno, subject: path) }
        try makeDirectory(parent, mode: mode)
        guard unsafe mkdir(path, mode) == 0 || errno == EEXIST else {
            throw .system(call: "mkdir", code: errno, subject: path)
        }
    }

    /// Creates a directory with a random name and mode 0700.
    ///
    /// - Parameter prefix: The path up to the random part.
    /// - Returns: The whole path.
    /// - Throws: `NetError.system` if the directory cannot be created.
    package static func makeTemporaryDirectory(prefix: String) throws(NetError) -> String {
        var template = Array("\(prefix)XXXXXX".utf8CString)
        let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return unsafe mkdtemp(start) != nil
        }
        guard isMade else { throw .system(call: "mkdtemp", code: errno, subject: prefix) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns whether a file or directory exists at this path.
    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Returns the size of a file in bytes; nil if there is no such file.
    package static func byteCount(_ path: String) -> Int64? {
        var information = stat()
        guard unsafe stat(path, &information) == 0 else { return nil }
        return Int64(information.st_size)
    }

    /// Returns whether two paths lead to the same file or directory.
    package static func isSame(_ path: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard unsafe stat(path, &first) == 0, unsafe stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Returns whether anyone but the owner has any permission for a file or directory.
    package static func isOpenToOthers(_ path: String) throws(NetError) -> Bool {
        var information = stat()
        guard unsafe stat(path, &information) == 0 else { throw .system(call: "stat", code: errno, subject: path) }
        return information.st_mode & 0o077 != 0
    }

    /// Removes one file; a missing file is not an error.
    package static func remove(_ path: String) { unsafe unlink(path) }

    /// Removes a directory with everything below it; never follows a symbolic link.
    package static func removeTree(_ path: String) {
        _ = unsafe push_remove_tree(path)
    }

    static func writeAll(_ bytes: [UInt8], to file: Int32, path: String) throws(NetError) {
        var offset = 0
        while offset < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(file, $0.baseAddress.map { unsafe $0 + offset }, $0.count - offset)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .system(call: "write", code: errno, subject: path) }
            offset += count
        }
    }

    static func synchronizeDirectory(of path: String) throws(NetError) {
        let parent = directory(of: path)
        let handle = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { throw .system(call: "open", code: errno, subject: parent) }
        defer { close(handle) }
        guard fsync(handle) == 0 else { throw .system(call: "fsync", code: errno, subject: parent) }
    }

    /// Returns the parent directory of a file or directory; trailing slashes in the path are ignored.
    package static func directory(of path: String) -> String {
        let slash = UInt8(ascii: "/")
        guard let last = path.utf8.lastIndex(where: { $0 != slash }) else { return "/" }
        guard let separator = path.utf8[...last].lastIndex(of: slash) else { return "." }
        return separator == path.startIndex ? "/" : String(path[..<separator])
    }
}
