// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushTLS

extension RowKey {
    /// Creates the key of a notification: minus 63 bits of SHA-256 over topic and collapse ID, or its number.
    init(of notification: Notification, id: Int64) {
        guard let collapseID = notification.collapseID else {
            self.init(rawValue: id)
            return
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 + collapseID.count)
        for shift in stride(from: 0, to: 32, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: notification.address.topic.rawValue >> UInt32(shift)))
        }
        bytes.append(contentsOf: collapseID)
        var hash: UInt64 = 0
        for byte in SHA256.hash(bytes.span).prefix(8) { hash = hash << 8 | UInt64(byte) }
        // From -2^63 + 1 to -1.
        self.init(rawValue: -Int64(max(hash >> 1, 1)))
    }
}
