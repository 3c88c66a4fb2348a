// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import CPushShims
internal import Glibc

/// Both ends of a pipe; started programs do not inherit them unless they are passed explicitly.
package struct Pipe: ~Copyable {
    /// The end for reading.
    package let reading: FileDescriptor
    /// The end for writing.
    package let writing: FileDescriptor

    /// Creates a pipe with `pipe2(2)`.
    ///
    /// - Throws: `NetError.system` if no descriptors are left.
    package init() throws(NetError) {
        var ends: [Int32] = [-1, -1]
        _ = try syscall("pipe2") { unsafe push_pipe(&ends) }
        reading = FileDescriptor(adopting: ends[0])
        writing = FileDescriptor(adopting: ends[1])
    }

    /// Returns the end for reading and closes the other.
    package consuming func takeReading() -> FileDescriptor { reading }

    /// Returns the end for writing and closes the other.
    package consuming func takeWriting() -> FileDescriptor { writing }
}

extension FileDescriptor {
    /// Makes reads and writes return immediately (`O_NONBLOCK`).
    package func setNonblocking() throws(NetError) {
        let flags = try syscall("fcntl") { fcntl(rawValue, F_GETFL) } ?? 0
        _ = try syscall("fcntl") { fcntl(rawValue, F_SETFL, flags | O_NONBLOCK) }
    }

    /// Opens a descriptor that becomes readable when a child process ends (`pidfd_open(2)`).
    ///
    /// - Parameter child: A child process that was not waited for yet.
    /// - Returns: The descriptor.
    /// - Throws: `NetError.system` if no descriptors are left.
    package static func end(ofChild child: Int32) throws(NetError) -> FileDescriptor {
        guard let descriptor = try syscall("pidfd_open", { pidfd_open(child, 0) }) else {
            throw systemFailure("pidfd_open", EAGAIN)
        }
        return FileDescriptor(adopting: descriptor)
    }
}
