// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import CPushShims
internal import Glibc

/// Both ends of a pipe, closed in every program that is started unless it gets one for its own.
package struct Pipe: ~Copyable {
    /// Where bytes come out.
    package let reading: FileDescriptor
    /// Where bytes go in.
    package let writing: FileDescriptor

    /// Makes one with `pipe2(2)`.
    ///
    /// - Throws: `NetError.system` when descriptors ran out.
    package init() throws(NetError) {
        var ends: [Int32] = [-1, -1]
        _ = try syscall("pipe2") { unsafe push_pipe(&ends) }
        reading = FileDescriptor(adopting: ends[0])
        writing = FileDescriptor(adopting: ends[1])
    }

    /// The end for reading alone; the other is closed.
    package consuming func takeReading() -> FileDescriptor { reading }

    /// The end for writing alone; the other is closed.
    package consuming func takeWriting() -> FileDescriptor { writing }
}

extension FileDescriptor {
    /// Makes reading and writing answer at once (`O_NONBLOCK`).
    package func setNonblocking() throws(NetError) {
        let flags = try syscall("fcntl") { fcntl(rawValue, F_GETFL) } ?? 0
        _ = try syscall("fcntl") { fcntl(rawValue, F_SETFL, flags | O_NONBLOCK) }
    }

    /// A descriptor that becomes readable when a child of ours ends (`pidfd_open(2)`).
    ///
    /// - Parameter child: A process that nobody has collected yet.
    /// - Returns: The descriptor.
    /// - Throws: `NetError.system` when descriptors ran out.
    package static func end(ofChild child: Int32) throws(NetError) -> FileDescriptor {
        guard let descriptor = try syscall("pidfd_open", { pidfd_open(child, 0) }) else {
            throw systemFailure("pidfd_open", EAGAIN)
        }
        return FileDescriptor(adopting: descriptor)
    }
}
