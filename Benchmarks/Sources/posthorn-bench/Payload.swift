// SPDX-License-Identifier: Apache-2.0

/// The payload for every server: 250 bytes of JSON that contain the run, the number and the time of sending.
///
/// They are part of the alert's text, so that no two alerts are equal; posthornd would warn about equal alerts.
struct Payload {
    private static let marker: StaticString = "At table "
    private static let head = #"{"aps":{"alert":{"title":"Lunch Together","body":"At table "#
    private static let middle = #""},"badge":3,"sound":"default"},"order":{"id":420133,"table":4,"paid":false,"note":""#
    private static let tail = #""}}"#

    /// The bytes, into which `stamp` writes the three numbers.
    private(set) var bytes: [UInt8]
    private let start: Int

    init(byteCount: Int = 250) {
        start = Self.head.utf8.count
        let text = Self.head + "000000 000000000000 000000000000000000." + Self.middle
        let padding = byteCount - text.utf8.count - Self.tail.utf8.count
        let note = String(repeating: "no sugar ", count: byteCount / 9 + 1).prefix(padding)
        bytes = Array((text + note + Self.tail).utf8)
    }

    mutating func stamp(run: Int, number: Int) {
        bytes.putDecimal(run, at: start, digits: 6)
        bytes.putDecimal(number, at: start + 7, digits: 12)
        bytes.putDecimal(monotonicNanoseconds(), at: start + 20, digits: 18)
    }

    /// The numbers in a payload.
    struct Stamp {
        let run: Int
        let number: Int
        let sentNanoseconds: Int
    }

    /// Returns the stamp in a message that contains a payload; nil if it has no stamp.
    static func stamp(in message: UnsafeRawBufferPointer) -> Stamp? {
        guard let found = message.offset(of: marker) else { return nil }
        let start = found + marker.utf8CodeUnitCount
        guard start + 38 <= message.count else { return nil }
        func digits(_ from: Int, _ count: Int) -> Int {
            UnsafeRawBufferPointer(rebasing: message[start + from..<start + from + count]).decimal(at: 0)
        }
        return Stamp(run: digits(0, 6), number: digits(7, 12), sentNanoseconds: digits(20, 18))
    }
}
