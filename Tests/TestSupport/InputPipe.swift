// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// The standard input of a process that a test started; owns both ends of a socket pair.
final class InputPipe: Sendable {
    // Ordered with nothing else: whichever call swaps an end for -1 closes it.
    private let reading: Atomic<Int32>
    private let writing: Atomic<Int32>

    /// Opens a pair that other children do not inherit.
    init() throws {
        // A write to an ended process must return an error instead of killing the test process.
        _ = signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        // Unlike `pipe`, this sets close-on-exec atomically, so another thread's child cannot inherit the ends.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw SystemFailure(call: "socketpair", code: errno)
        }
        reading = Atomic(ends[0])
        writing = Atomic(ends[1])
    }

    deinit {
        closeReadingEnd()
        closeWritingEnd()
    }

    /// The descriptor for the child's standard input.
    var readingEnd: Int32 { reading.load(ordering: .relaxed) }

    /// Closes the child's end after the child has inherited it.
    func closeReadingEnd() { Self.closeOnce(reading) }

    /// Closes the child's input.
    func closeWritingEnd() { Self.closeOnce(writing) }

    /// Writes the whole text.
    func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let descriptor = writing.load(ordering: .relaxed)
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw SystemFailure(call: "write", code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    private static func closeOnce(_ end: borrowing Atomic<Int32>) {
        let descriptor = end.exchange(-1, ordering: .relaxed)
        if descriptor >= 0 { close(descriptor) }
    }
}
