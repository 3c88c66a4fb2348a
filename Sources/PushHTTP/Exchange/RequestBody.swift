// SPDX-License-Identifier: Apache-2.0

/// The body of a request, as far as it is kept.
struct RequestBody {
    private(set) var bytes: [UInt8] = []
    /// How many bytes to keep.
    var byteCountMax = 0
    /// There were more; the rest is thrown away.
    var overflowed = false

    /// A buffer above this size is given back after its request.
    private static let keptCapacityMax = 8192

    init() {}

    /// Keeps a piece as far as there is room.
    ///
    /// - Parameter piece: The next bytes, which are copied.
    /// - Returns: Whether the body has just overflowed.
    mutating func append(_ piece: Span<UInt8>) -> Bool {
        guard !overflowed else { return false }
        let room = max(byteCountMax - bytes.count, 0)
        if piece.count <= room {
            bytes.append(piece)
            return false
        }
        bytes.append(piece.extracting(0..<room))
        overflowed = true
        return true
    }

    /// Bytes that the body's array takes up.
    var heldByteCount: Int { bytes.capacity }

    /// Gives up what came, as if it had been too long.
    mutating func overflow() { (bytes, overflowed) = ([], true) }

    /// Makes room for another body and keeps the memory worth keeping.
    mutating func removeAll() {
        (byteCountMax, overflowed) = (0, false)
        guard !bytes.isEmpty else { return }
        if bytes.capacity > Self.keptCapacityMax { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
    }

    /// Has never held a byte, nor room for one.
    var isWithoutMemory: Bool { bytes.capacity == 0 }

    /// Uses the memory of another body.
    mutating func adopt(_ other: consuming RequestBody) { bytes = other.bytes }

    /// Gives the memory away, emptied.
    mutating func surrender() -> RequestBody {
        var other = RequestBody()
        swap(&other.bytes, &bytes)
        other.removeAll()
        return other
    }
}
