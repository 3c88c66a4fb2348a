// SPDX-License-Identifier: Apache-2.0

/// The kept part of a request's body.
struct RequestBody {
    private(set) var bytes: [UInt8] = []
    /// The largest number of bytes to keep.
    var byteCountMax = 0
    /// Whether the body was longer than `byteCountMax`; the rest is discarded.
    var overflowed = false

    /// The capacity in bytes above which a buffer is released after its request.
    private static let keptCapacityMax = 8192

    init() {}

    /// Appends a piece up to `byteCountMax`.
    ///
    /// - Parameter piece: The next bytes, which are copied.
    /// - Returns: Whether the body has just overflowed.
    mutating func append(_ piece: Span<UInt8>) -> Bool {
        guard !overflowed else { return false }
        let space = max(byteCountMax - bytes.count, 0)
        if piece.count <= space {
            bytes.append(piece)
            return false
        }
        bytes.append(piece.extracting(0..<space))
        overflowed = true
        return true
    }

    /// The number of bytes that the body's array occupies.
    var heldByteCount: Int { bytes.capacity }

    /// Discards the body and marks it as too long.
    mutating func overflow() { (bytes, overflowed) = ([], true) }

    /// Resets the body for another request and keeps memory up to `keptCapacityMax`.
    mutating func removeAll() {
        (byteCountMax, overflowed) = (0, false)
        guard !bytes.isEmpty else { return }
        if bytes.capacity > Self.keptCapacityMax { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
    }

    /// Whether the body has no buffer.
    var isWithoutMemory: Bool { bytes.capacity == 0 }

    /// Takes over the memory of another body.
    mutating func adopt(_ other: consuming RequestBody) { bytes = other.bytes }

    /// Moves the memory out, emptied.
    mutating func surrender() -> RequestBody {
        var other = RequestBody()
        swap(&other.bytes, &bytes)
        other.removeAll()
        return other
    }
}
