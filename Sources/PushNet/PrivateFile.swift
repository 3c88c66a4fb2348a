// SPDX-License-Identifier: Apache-2.0

internal import CPushShims
internal import Glibc

/// Files and directories that nobody else may read, with their mode from the first instant.
package enum PrivateFile {
    /// Reads a whole regular file of at most `byteCountMax` bytes.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - byteCountMax: A longer file is an error (`EFBIG`).
    /// - Returns: The content.
    /// - Throws: `NetError.system` with path and errno.
    package static func read(_ path: String, byteCountMax: Int = 1 << 20) throws(NetError) -> [UInt8] {
        // Without O_NONBLOCK, opening a pipe waits for somebody who writes to it.
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

    /// Writes a file so that a crash at any moment leaves the old one or the new one, both whole.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - path: The file; its directory must exist.
    ///   - mode: The permissions, from the first instant.
    /// - Throws: `NetError.system` with path and errno; then nothing was changed.
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

    /// Makes a directory, and those above it, and gives it exactly this mode if it is new.
    ///
    /// - Parameters:
    ///   - path: The directory.
    ///   - mode: Its permissions; directories made above it get them too.
    /// - Throws: `NetError.system` with the path that could not be made.
    package static func makeDirectory(_ path: String, mode: UInt32 = 0o700) throws(NetError) {
        if unsafe mkdir(path, mode) == 0 || errno == EEXIST { return }
        let parent = directory(of: path)
        guard errno == ENOENT, parent != path else { throw .system(call: "mkdir", code: errno, subject: path) }
        try makeDirectory(parent, mode: mode)
        guard unsafe mkdir(path, mode) == 0 || errno == EEXIST else {
            throw .system(call: "mkdir", code: errno, subject: path)
        }
    }

    /// Makes a directory with a random name, mode 0700.
    ///
    /// - Parameter prefix: The path up to the random part.
    /// - Returns: The whole path.
    /// - Throws: `NetError.system`.
    package static func makeTemporaryDirectory(prefix: String) throws(NetError) -> String {
        var template = Array("\(prefix)XXXXXX".utf8CString)
        let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return unsafe mkdtemp(start) != nil
        }
        guard isMade else { throw .system(call: "mkdtemp", code: errno, subject: prefix) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether something is there under this path.
    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Whether anybody but the owner may do anything with a file or directory.
    package static func isOpenToOthers(_ path: String) throws(NetError) -> Bool {
        var information = stat()
        guard unsafe stat(path, &information) == 0 else { throw .system(call: "stat", code: errno, subject: path) }
        return information.st_mode & 0o077 != 0
    }

    /// Removes one file; a missing one is fine.
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

    /// The directory that a file or directory lies in; slashes at the end of its name mean nothing.
    package static func directory(of path: String) -> String {
        let slash = UInt8(ascii: "/")
        guard let last = path.utf8.lastIndex(where: { $0 != slash }) else { return "/" }
        guard let separator = path.utf8[...last].lastIndex(of: slash) else { return "." }
        return separator == path.startIndex ? "/" : String(path[..<separator])
    }
}
