// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushTLS

/// The `apns-id` or `apns-request-id` of an answer: the provider's own, byte for byte, or one of ours.
struct RequestID {
    /// The header's name.
    let name: StaticString
    let text: InlineArray<36, UInt8>
    /// False when the provider's was no UUID; then `text` is ours.
    let isGood: Bool

    /// - Parameters:
    ///   - name: The header's name.
    ///   - header: Where its value stands in `bytes`; nil when it is absent.
    ///   - bytes: The request's fields.
    ///   - random: For an id of ours.
    init(_ name: StaticString, _ header: Range<Int>?, in bytes: Span<UInt8>, _ random: RandomNumbers) {
        self.name = name
        guard let header else {
            (text, isGood) = (UniqueID.random(random).upperCaseText, true)
            return
        }
        let given = bytes.extracting(header)
        isGood = UniqueID(given) != nil
        text = isGood ? InlineArray { given[$0] } : UniqueID.random(random).upperCaseText
    }

    /// For whoever keeps it.
    var bytes: [UInt8] { Array(copying: text.span) }
}

extension UniqueID {
    /// A random (version 4) one.
    static func random(_ random: RandomNumbers) -> UniqueID { version4(high: random.next(), low: random.next()) }
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
