// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import Glibc
internal import PushCore
internal import PushNet

/// The file of a picture, which an app's filter names: regular, and owned by this user.
struct PictureFile: ~Copyable {
    private let file: FileDescriptor

    /// Opens a file, and checks it.
    ///
    /// A pipe or a device is not waited for.
    ///
    /// - Parameter path: The absolute path.
    /// - Throws: The reason why the file is refused.
    init(_ path: String) throws(PictureRefusal) {
        let number = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { throw Self.refusal(errno) }
        let file = FileDescriptor(adopting: number)
        var facts = stat()
        guard unsafe fstat(number, &facts) == 0 else { throw .unreadable }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        guard facts.st_uid == getuid() else { throw .foreign }
        guard facts.st_size <= Limits.pictureByteCountMax else { throw .tooLong }
        self.file = file
    }

    /// Reads the content.
    ///
    /// - Returns: At most `Limits.pictureByteCountMax` bytes.
    /// - Throws: The reason why the file is refused.
    func content() throws(PictureRefusal) -> [UInt8] { try Self.content(of: file.rawValue) }

    /// Reads from a descriptor up to its end.
    ///
    /// - Parameter descriptor: A file, which may grow while it is read, or a pipe.
    /// - Returns: At most `Limits.pictureByteCountMax` bytes.
    /// - Throws: The reason why the content is refused.
    static func content(of descriptor: Int32) throws(PictureRefusal) -> [UInt8] {
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count = unsafe read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable }
            guard count > 0 else { return content }
            content += part[..<count]
            guard content.count <= Limits.pictureByteCountMax else { throw .tooLong }
        }
    }

    private static func refusal(_ code: Int32) -> PictureRefusal {
        switch code {
        case ELOOP: .symbolicLink
        case ENOENT, ENOTDIR: .missing
        // A socket cannot be opened.
        case ENXIO: .notRegular
        default: .unreadable
        }
    }
}
