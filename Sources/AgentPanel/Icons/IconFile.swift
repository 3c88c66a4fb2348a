// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// The reason why a file is not shown, for the log.
struct IconRefusal: Error {
    var reason: String
}

/// An app's icon file: open, regular, and not larger than the limit.
struct IconFile: ~Copyable {
    private static let byteCountMax = 2 << 20

    private let file: FileDescriptor
    private let byteCount: Int
    /// A text that changes when the file changes: its size, inode and modification time.
    let stamp: String

    /// Opens the file without blocking and checks its type and size.
    ///
    /// - Parameter path: The absolute path.
    /// - Throws: The reason why the file is refused.
    init(_ path: String) throws(IconRefusal) {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { throw IconRefusal(reason: Self.text(of: errno)) }
        let file = FileDescriptor(adopting: number)
        var facts = stat()
        guard unsafe fstat(number, &facts) == 0 else { throw IconRefusal(reason: Self.text(of: errno)) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw IconRefusal(reason: "not a regular file") }
        guard facts.st_size <= Self.byteCountMax else { throw Self.tooLarge }
        self.file = file
        byteCount = Int(facts.st_size)
        stamp = "\(facts.st_size).\(facts.st_ino).\(facts.st_mtim.tv_sec).\(facts.st_mtim.tv_nsec)"
    }

    /// Reads the content.
    ///
    /// - Returns: At most as many bytes as the file had when it was opened.
    /// - Throws: The reason why it cannot be read.
    func contents() throws(IconRefusal) -> [UInt8] {
        var contents: [UInt8] = []
        while contents.count < byteCount {
            let wanted = byteCount - contents.count
            var count = 0
            let more = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
                count = unsafe read(file.rawValue, buffer.baseAddress, wanted)
                filled = max(count, 0)
            }
            guard count >= 0 else { throw IconRefusal(reason: Self.text(of: errno)) }
            guard count > 0 else { break }
            contents += more
        }
        return contents
    }

    private static var tooLarge: IconRefusal { IconRefusal(reason: "the file exceeds \(byteCountMax >> 20) MiB") }

    private static func text(of code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
