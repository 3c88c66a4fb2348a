// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushTLS

/// The `apns-id` or `apns-request-id` of a response: the provider's own, byte for byte, or one of the server.
struct RequestID {
    /// The name of the header.
    let name: StaticString
    let text: InlineArray<36, UInt8>
    /// Whether the provider's ID is absent or a UUID; if false, `text` is an ID of the server.
    let isValid: Bool

    /// Takes the provider's ID if it is a UUID, and creates one otherwise.
    ///
    /// - Parameters:
    ///   - name: The name of the header.
    ///   - header: The range of its value in `bytes`; nil if it is absent.
    ///   - bytes: The request's fields.
    ///   - random: The source of a new ID.
    init(_ name: StaticString, _ header: Range<Int>?, in bytes: Span<UInt8>, _ random: RandomNumbers) {
        self.name = name
        guard let header else {
            (text, isValid) = (UniqueID.random(random).upperCaseText, true)
            return
        }
        let given = bytes.extracting(header)
        isValid = UniqueID(given) != nil
        text = isValid ? InlineArray { given[$0] } : UniqueID.random(random).upperCaseText
    }

    /// The ID as an array.
    var bytes: [UInt8] { Array(copying: text.span) }
}

extension UniqueID {
    /// Returns a random (version 4) ID.
    static func random(_ random: RandomNumbers) -> UniqueID { version4(high: random.next(), low: random.next()) }
}

extension Array where Element == UInt8 {
    /// Copies the bytes of a span.
    init(copying bytes: Span<UInt8>) {
        // `init(unsafeUninitializedCapacity:)` is not specialized here, and takes three times as long.
        self.init()
        append(bytes)
    }
}
