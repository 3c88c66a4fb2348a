// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Reads INI files through inih.
///
/// A line is a `[section]`, a `name = value` (`name: value` too), a comment or blank. `#` and `;` begin a comment at the
/// beginning of a line, and `;` also behind a blank. A line is whole: an indented one does not continue the one above.
package enum INIFile {
    /// The largest file that is read, in bytes.
    package static let byteCountMax = 1024 * 1024

    /// Reads the entries of a file, in the order of the file; a name may come more than once (lists).
    ///
    /// - Parameter path: The file.
    /// - Returns: All entries, or none: a file with an error is refused as a whole.
    /// - Throws: `INIError`, which names the first line that is wrong.
    package static func read(path: String) throws(INIError) -> [INIEntry] {
        try INIParser.parse(try bytes(path: path), path: path)
    }

    /// Reads a whole file.
    private static func bytes(path: String) throws(INIError) -> [UInt8] {
        // Without O_NONBLOCK, opening a pipe waits for somebody who writes to it.
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
