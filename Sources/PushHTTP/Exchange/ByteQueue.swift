// SPDX-License-Identifier: Apache-2.0

/// A first-in, first-out queue of bytes: the body of an answer, or waiting input.
struct ByteQueue {
    private var bytes: [UInt8] = []
    private var firstIndex = 0
    /// False for a queue made of existing bytes, which may have another owner; nothing is added to such a queue.
    private let keepsMemory: Bool

    /// The capacity in bytes above which an emptied queue releases its memory, since a stream may then be idle for
    /// hours.
    private static let keptCapacityMax = 4096

    /// The number of waiting bytes.
    var count: Int { bytes.count - firstIndex }
    var isEmpty: Bool { count == 0 }

    /// The number of bytes that the queue's array occupies.
    var heldByteCount: Int { bytes.capacity }

    /// Creates an empty queue.
    init() { keepsMemory = true }

    /// Creates a queue of these bytes without copying them.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        keepsMemory = false
    }

    /// Adds bytes at the end; amortized, each byte is moved once.
    mutating func append(_ added: Span<UInt8>) {
        if firstIndex > 0, firstIndex >= count {
            bytes.removeFirst(firstIndex)
            firstIndex = 0
        }
        bytes.append(added)
    }

    /// Removes bytes from the front.
    ///
    /// - Parameters:
    ///   - countMax: The largest number of bytes to remove.
    ///   - body: Receives the bytes, which are valid until it returns.
    /// - Returns: The number of removed bytes.
    mutating func take(atMost countMax: Int, _ body: (Span<UInt8>) -> Void) -> Int {
        let taken = Swift.min(Swift.max(countMax, 0), count)
        return take {
            body($0.extracting(0..<taken)); return taken
        }
    }

    /// Passes all bytes to the body and removes as many from the front as it returns, at most all.
    mutating func take(_ body: (Span<UInt8>) -> Int) -> Int {
        let taken = body(bytes.span.extracting(firstIndex..<bytes.count))
        firstIndex = Swift.min(firstIndex + taken, bytes.count)
        if isEmpty { empty() }
        return taken
    }

    /// Releases the memory of an empty queue.
    mutating func rest() {
        if isEmpty { bytes = [] }
    }

    private mutating func empty() {
        firstIndex = 0
        guard keepsMemory, bytes.capacity <= Self.keptCapacityMax else { return bytes = [] }
        bytes.removeAll(keepingCapacity: true)
    }
}
