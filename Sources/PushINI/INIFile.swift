// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A reader for INI files, based on inih.
///
/// A line is a `[section]`, a `name = value` (also `name: value`), a comment, or blank. `#` and `;` start a comment at
/// the beginning of a line, and `;` also after a space. Each line is complete: an indented line does not continue the
/// previous one.
package enum INIFile {
    /// The largest file that is read, in bytes.
    package static let byteCountMax = 1024 * 1024
    /// The longest line with an entry, in bytes with its line feed.
    package static let lineByteCountMax = 16 * 1024

    /// Reads the entries of a file in their order; a name may occur more than once (lists).
    ///
    /// - Parameter path: The file.
    /// - Returns: All entries; a file with an error is rejected as a whole.
    /// - Throws: `INIError` for the first invalid line.
    package static func read(path: String) throws(INIError) -> [INIEntry] {
        try INIParser.parse(try bytes(path: path), path: path)
    }

    /// Reads a whole file.
    private static func bytes(path: String) throws(INIError) -> [UInt8] {
        // Without O_NONBLOCK, opening a pipe would wait for a writer.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .cannotRead(path: path, code: errno) }
        defer { close(descriptor) }
        var information = stat()
        guard unsafe fstat(descriptor, &information) == 0 else { throw .cannotRead(path: path, code: errno) }
        switch information.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .cannotRead(path: path, code: EISDIR)
        default: throw .cannotRead(path: path, code: EINVAL)
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .cannotRead(path: path, code: errno) }
            guard count > 0 else { return bytes }
            guard bytes.count + count <= byteCountMax else { throw .cannotRead(path: path, code: EFBIG) }
            bytes.append(contentsOf: chunk[..<count])
        }
    }
}
