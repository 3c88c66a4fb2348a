// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Files of the person who runs the command.
package enum LocalFile {
    /// No file that this program reads is larger.
    static let byteCountMax = 1024 * 1024

    /// Reads a whole file or pipe; `-` is standard input.
    ///
    /// - Parameter path: The file.
    /// - Returns: Its bytes.
    /// - Throws: When it cannot be read, or is larger than a mebibyte.
    package static func read(_ path: String) throws(FileError) -> [UInt8] {
        if path == "-" { return try read(descriptor: STDIN_FILENO, path: "standard input") }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(.read, path: path, code: errno) }
        defer { close(descriptor) }
        return try read(descriptor: descriptor, path: path)
    }

    /// Reads a whole regular file: a pipe would be waited for, and be empty the next time.
    ///
    /// - Parameter path: The file.
    /// - Returns: Its bytes.
    /// - Throws: When it cannot be read, is no regular file, or is larger than a mebibyte.
    package static func readRegular(_ path: String) throws(FileError) -> [UInt8] {
        let descriptor = try openRegular(path)
        defer { close(descriptor) }
        return try read(descriptor: descriptor, path: path)
    }

    private static func openRegular(_ path: String) throws(FileError) -> Int32 {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileError(.read, path: path, code: errno) }
        var status = stat()
        let code = unsafe fstat(descriptor, &status) == 0 ? 0 : errno
        let kind = status.st_mode & S_IFMT
        guard code == 0, kind == S_IFREG else {
            close(descriptor)
            throw FileError(
                .read, path: path, code: code != 0 ? code : kind == S_IFDIR ? EISDIR : FileError.notRegular)
        }
        return descriptor
    }

    /// Says early that another process could not read a file.
    ///
    /// - Parameter path: The file.
    /// - Throws: When it cannot be opened, or is no regular file.
    static func checkRegular(_ path: String) throws(FileError) {
        let descriptor = try openRegular(path)
        close(descriptor)
    }

    /// Says early that a file is no authority: TLS would only say that it cannot be used.
    ///
    /// - Parameter path: The file.
    /// - Throws: When it cannot be read, or holds no certificate in PEM.
    package static func checkCertificate(_ path: String) throws(CommandError) {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try read(path) } catch { throw .file(error) }
        guard String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
            throw .badFile(
                path: path, problem: "no certificate in PEM",
                remedy: "Name the server's authority: the file authority.pem of its data directory.")
        }
    }

    /// Makes a file that only its owner can read, and never touches one that is there.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - bytes: What it holds.
    /// - Throws: When it exists or cannot be written; then it is not left half written.
    package static func create(_ path: String, holding bytes: [UInt8]) throws(FileError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileError(.create, path: path, code: errno) }
        defer { close(descriptor) }
        do throws(FileError) {
            try write(bytes, descriptor: descriptor, path: path)
            guard fsync(descriptor) == 0 else { throw FileError(.write, path: path, code: errno) }
        } catch {
            unsafe unlink(path)
            throw error
        }
    }

    /// Takes back a file that was just made.
    static func remove(_ path: String) { _ = unsafe unlink(path) }

    /// Says early what would stand in the way of a new file.
    ///
    /// - Parameter path: The file, or a directory that it shall be made in.
    /// - Throws: When the file exists, or its directory does not or cannot be written.
    package static func checkCreation(_ path: String) throws(FileError) {
        let isDirectory = isDirectory(path)
        guard isDirectory || !exists(path) else { throw FileError(.create, path: path, code: EEXIST) }
        let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "."
        guard unsafe access(isDirectory ? path : parent, W_OK | X_OK) == 0 else {
            throw FileError(.create, path: path, code: errno)
        }
    }

    /// Writes all bytes to an open file.
    static func write(_ bytes: [UInt8], descriptor: Int32, path: String) throws(FileError) {
        var position = 0
        while position < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: position), buffer.count - position)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileError(.write, path: path, code: errno) }
            position += count
        }
    }

    /// Whether something has this name.
    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Whether this is a directory.
    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The path from the root, for another process that has another working directory.
    package static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let directory = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(directory) }
        return unsafe "\(String(cString: directory))/\(path)"
    }

    private static func read(descriptor: Int32, path: String) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError(.read, path: path, code: errno) }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= byteCountMax else { throw FileError(.read, path: path, code: EFBIG) }
        }
    }
}
