// SPDX-License-Identifier: Apache-2.0

/// Output that the socket did not accept yet, in order.
struct PendingOutput {
    private(set) var bytes: [UInt8] = []
    /// The position of the first byte that is still to be written.
    private(set) var offset = 0

    var count: Int { bytes.count - offset }
    var isEmpty: Bool { count == 0 }

    /// Keeps the rest of an output buffer; nothing may be pending.
    mutating func keep(_ rest: ArraySlice<UInt8>) { (bytes, offset) = (Array(rest), 0) }

    /// Notes that the socket accepted bytes; frees the memory once it has accepted all.
    mutating func wrote(_ byteCount: Int) {
        offset += byteCount
        if isEmpty { (bytes, offset) = ([], 0) }
    }
}
