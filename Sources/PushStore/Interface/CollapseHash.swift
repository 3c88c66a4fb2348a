// SPDX-License-Identifier: Apache-2.0

/// A 64-bit hash of a collapse ID, by which a queue is searched.
///
/// The record has the ID itself.
struct CollapseHash: Hashable, Sendable {
    /// The hash; 0 without a collapse ID.
    private let value: UInt64

    /// Hashes a collapse ID; nil stands for no collapse ID.
    init(_ collapseID: [UInt8]? = nil) {
        guard let collapseID else {
            value = 0
            return
        }
        var checksum = Checksum()
        checksum.add(collapseID.span)
        value = max(checksum.value, 1)
    }

    /// Decodes a column.
    init(stored: Int64?) { value = UInt64(bitPattern: stored ?? 0) }

    /// The column value; nil without a collapse ID.
    var stored: Int64? { value == 0 ? nil : Int64(bitPattern: value) }
}
