// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCore

/// Reads and writes files on behalf of the user who runs the command.
enum LocalFile {
    /// The line above a certificate in PEM.
    static let certificateHead = "-----BEGIN CERTIFICATE-----"

    /// Reads a whole file or pipe.
    ///
    /// - Parameter path: The path of the file; `-` means standard input.
    /// - Returns: The bytes of the file.
    /// - Throws: An error when the file cannot be read or is larger than 1 MiB.
    static func read(_ path: String) throws(FileError) -> [UInt8] {
        if path == "-" {
            if isatty(STDIN_FILENO) == 1 { Console.note(["Reading from the terminal. End the input with Ctrl-D."]) }
            return try read(descriptor: STDIN_FILENO, path: name(of: path))
        }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(.read, path: path, code: errno) }
        defer { close(descriptor) }
        return try read(descriptor: descriptor, path: path)
    }

    /// Returns the name of a file in messages.
    static func name(of path: String) -> String { path == "-" ? "standard input" : path }

    /// Reads a payload; refuses empty standard input, which usually means that the program before the pipe failed.
    ///
    /// - Parameter path: The path of the file; `-` means standard input.
    /// - Returns: The bytes of the file.
    /// - Throws: An error when the file cannot be read, or standard input is empty.
    static func readPayload(_ path: String) throws(CommandError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try read(path) } catch { throw .file(error) }
        guard !bytes.isEmpty || path != "-" else {
            throw .badFile(
                path: name(of: path), problem: "empty, so there is no payload to send",
                remedy: "Write the payload to standard input, or specify its file with --payload FILE.")
        }
        return bytes
    }

    /// Reads a whole regular file.
    ///
    /// A pipe is refused: opening it would block, and a second read would return nothing.
    ///
    /// - Parameter path: The path of the file.
    /// - Returns: The bytes of the file.
    /// - Throws: An error when the file cannot be read, is not a regular file, or is larger than 1 MiB.
    static func readRegular(_ path: String) throws(FileError) -> [UInt8] {
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

    /// Checks that a file is a readable regular file, before another process is asked to read it.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: An error when the file cannot be opened or is not a regular file.
    static func checkRegular(_ path: String) throws(FileError) {
        let descriptor = try openRegular(path)
        close(descriptor)
    }

    /// Checks that a file contains a PEM certificate, because the TLS library's error would be less precise.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: An error when the file cannot be read or holds no PEM certificate.
    static func checkCertificate(_ path: String) throws(CommandError) {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try readRegular(path) } catch { throw .file(error) }
        guard String(decoding: bytes, as: UTF8.self).contains(certificateHead) else {
            throw .badFile(
                path: path, problem: "not a PEM certificate",
                remedy: "Specify the server's CA certificate: authority.pem in its data directory.")
        }
    }

    /// Creates a file that only its owner can read; never replaces an existing file.
    ///
    /// - Parameters:
    ///   - path: The path of the new file.
    ///   - bytes: The content.
    /// - Throws: An error when the file exists or cannot be written; a partly written file is removed.
    static func create(_ path: String, holding bytes: [UInt8]) throws(FileError) {
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

    /// Removes a file that this process just created.
    static func remove(_ path: String) { _ = unsafe unlink(path) }

    /// Checks whether a new file can be created.
    ///
    /// - Parameter path: The path of the file, or of the directory in which it will be created.
    /// - Throws: An error when the file exists, or its directory is missing or not writable.
    static func checkCreation(_ path: String) throws(FileError) {
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

    /// Returns whether a file exists at this path.
    static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Returns whether the path is a directory.
    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns the absolute path, for a process with a different working directory.
    static func absolute(_ path: String) -> String {
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
            guard bytes.count <= Limits.commandFileByteCountMax else { throw FileError(.read, path: path, code: EFBIG) }
        }
    }
}
