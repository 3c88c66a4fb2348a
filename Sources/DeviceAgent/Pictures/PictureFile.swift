// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCore
internal import PushNet

/// Reads a picture from a file that an app's filter names.
enum PictureFile {
    /// Reads a file.
    ///
    /// The file must belong to this user, and must be no symbolic link. A pipe or a device is not waited for.
    ///
    /// - Parameter path: The absolute path.
    /// - Returns: At most `Limits.pictureByteCountMax` bytes.
    /// - Throws: The reason why there is no picture.
    static func read(_ path: String) throws(PictureFailure) -> [UInt8] {
        let number = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else {
            throw errno == ELOOP ? PictureFailure("the file is a symbolic link") : unreadable(errno)
        }
        let file = FileDescriptor(adopting: number)
        var facts = stat()
        guard unsafe fstat(number, &facts) == 0 else { throw unreadable(errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw PictureFailure("it is not a regular file") }
        guard facts.st_uid == getuid() else { throw PictureFailure("the file belongs to another user") }
        guard facts.st_size <= Limits.pictureByteCountMax else { throw tooLarge }
        var content: [UInt8] = []
        content.reserveCapacity(Int(facts.st_size) + 1)
        var part = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count = unsafe part.withUnsafeMutableBytes {
                unsafe Glibc.read(file.rawValue, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(errno) }
            guard count > 0 else { return content }
            content += part[..<count]
            // The file may grow while it is read.
            guard content.count <= Limits.pictureByteCountMax else { throw tooLarge }
        }
    }

    private static var tooLarge: PictureFailure {
        PictureFailure("the file is longer than \(Limits.pictureByteCountMax) bytes")
    }

    private static func unreadable(_ code: Int32) -> PictureFailure {
        PictureFailure("the file cannot be read: \(SystemError.text(code))")
    }
}
