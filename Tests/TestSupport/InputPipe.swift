// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// The standard input of a process that a test started; owns both ends of a socket pair.
final class InputPipe: Sendable {
    // Ordered with nothing else: each end is closed by whoever swaps it for -1.
    private let reading: Atomic<Int32>
    private let writing: Atomic<Int32>

    /// Opens a pair that other children do not inherit.
    init() throws {
        // A process that ended must be an error of `write`, not the end of the tests.
        _ = signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        // Unlike `pipe`, this is close-on-exec from the start, and no other thread's child can inherit it in between.
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

    /// What the child reads.
    var readingEnd: Int32 { reading.load(ordering: .relaxed) }

    /// Lets go of the child's end, once the child has it.
    func closeReadingEnd() { Self.closeOnce(reading) }

    /// Ends the child's input.
    func closeWritingEnd() { Self.closeOnce(writing) }

    /// Writes all of it.
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
