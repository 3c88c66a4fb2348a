// SPDX-License-Identifier: Apache-2.0

/// Bytes that go in at one end and out at the other: the body of an answer, or input that waits.
struct ByteQueue {
    private var bytes: [UInt8] = []
    private var firstIndex = 0
    /// Nothing is added to a queue that was made of bytes, which may have another owner.
    private let keepsMemory: Bool

    /// Above this many bytes an emptied queue gives its memory back, since a stream may then be idle for hours.
    private static let keptCapacityMax = 4096

    /// How many bytes are waiting.
    var count: Int { bytes.count - firstIndex }
    /// Nothing is waiting.
    var isEmpty: Bool { count == 0 }

    /// Bytes that the queue's array takes up.
    var heldByteCount: Int { bytes.capacity }

    /// Makes an empty queue.
    init() { keepsMemory = true }

    /// Makes a queue of these bytes, which are not copied.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        keepsMemory = false
    }

    /// Adds bytes at the end; amortised, each byte is moved once.
    mutating func append(_ added: Span<UInt8>) {
        if firstIndex > 0, firstIndex >= count {
            bytes.removeFirst(firstIndex)
            firstIndex = 0
        }
        bytes.append(added)
    }

    /// Takes bytes from the front.
    ///
    /// - Parameters:
    ///   - countMax: Take no more than this.
    ///   - body: Gets the bytes, which are gone when it returns.
    /// - Returns: How many were taken.
    mutating func take(atMost countMax: Int, _ body: (Span<UInt8>) -> Void) -> Int {
        let taken = Swift.min(Swift.max(countMax, 0), count)
        return take {
            body($0.extracting(0..<taken)); return taken
        }
    }

    /// Lends all bytes and takes as many from the front as the body says, at most all.
    mutating func take(_ body: (Span<UInt8>) -> Int) -> Int {
        let taken = body(bytes.span.extracting(firstIndex..<bytes.count))
        firstIndex = Swift.min(firstIndex + taken, bytes.count)
        if isEmpty { empty() }
        return taken
    }

    /// Gives the memory of an empty queue back.
    mutating func rest() {
        if isEmpty { bytes = [] }
    }

    private mutating func empty() {
        firstIndex = 0
        guard keepsMemory, bytes.capacity <= Self.keptCapacityMax else { return bytes = [] }
        bytes.removeAll(keepingCapacity: true)
    }
}
