// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushTLS

/// The `apns-id` or `apns-request-id` of an answer: the provider's own, byte for byte, or one of ours.
struct RequestID {
    /// The header's name.
    let name: StaticString
    /// 36 bytes.
    let text: [UInt8]
    /// False when the provider's was no UUID; then `text` is ours.
    let isGood: Bool

    init(_ name: StaticString, _ header: Range<Int>?, in table: borrowing FieldTable) {
        self.name = name
        guard let header else {
            text = Self.upperCase(.random())
            isGood = true
            return
        }
        let given = table.bytes.span.extracting(header)
        isGood = UniqueID(given) != nil
        text = isGood ? Array(copying: given) : Self.upperCase(.random())
    }

    /// Apple's own ids are in upper case.
    private static func upperCase(_ id: UniqueID) -> [UInt8] { Array(id.text.uppercased().utf8) }
}

extension UniqueID {
    /// A random (version 4) one.
    static func random() -> UniqueID { version4(high: SecureRandom.uint64(), low: SecureRandom.uint64()) }
}

extension Array where Element == UInt8 {
    /// Copies lent bytes.
    init(copying bytes: Span<UInt8>) {
        unsafe self.init(unsafeUninitializedCapacity: bytes.count) { buffer, count in
            for index in bytes.indices { unsafe buffer.initializeElement(at: index, to: bytes[index]) }
            count = bytes.count
        }
    }
}
