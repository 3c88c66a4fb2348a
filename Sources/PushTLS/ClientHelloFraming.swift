// SPDX-License-Identifier: Apache-2.0

/// Finds the end of a ClientHello in bytes that OpenSSL has not read yet.
///
/// OpenSSL allocates as much memory as the first bytes of a ClientHello announce, up to 131 KB. So an incomplete
/// ClientHello stays in the kernel until the rest has arrived.
///
/// ```
/// type 22 | version (2) | length (2) | type 1 | length (3) | body …     more records if the body is longer
/// ╰────────── record header ─────────╯╰── message header ──╯
/// ```
///
/// - SeeAlso: RFC 8446, sections 4 and 5.1
package struct ClientHelloFraming {
    /// The result of an examination.
    package enum Verdict: Equatable, Sendable {
        /// OpenSSL may read this many bytes: up to the end of a complete ClientHello, or of a record without one, which
        /// need not have arrived.
        case complete(byteCount: Int)
        /// The ClientHello is incomplete: examine it again when this many bytes have arrived in total.
        case needs(byteCount: Int)
        /// The connection must be closed for this reason.
        case refused(String)
    }

    private static let recordHeaderByteCount = 5
    private static let messageHeaderByteCount = 4
    /// The maximum number of records.
    ///
    /// OpenSSL's clients send records of at least 512 bytes, so 32 records hold 16 KiB.
    private static let recordCountMax = 32
    /// The types of records that may precede or contain a ClientHello.
    private static let (changeCipherSpec, alert, handshake): (UInt8, UInt8, UInt8) = (20, 21, 22)
    /// The type of the message.
    private static let clientHello: UInt8 = 1

    private let byteCountMax: Int
    private let isFirst: Bool
    /// The first bytes of the message, which may span records.
    private var header: [UInt8] = []
    /// The number of message bytes that the record headers so far announce.
    private var bodyByteCount = 0

    /// Examines the first bytes of a connection, or the bytes that follow the server's first answer in TLS 1.3.
    ///
    /// After a HelloRetryRequest, a client sends a second ClientHello. Records of change_cipher_spec and alerts may
    /// precede it.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, which start at the beginning of a record.
    ///   - isFirst: Whether these are the first bytes of the connection.
    ///   - byteCountMax: The maximum size of the ClientHello in bytes, including all headers.
    /// - Returns: What to do with the bytes.
    package static func examine(_ bytes: Span<UInt8>, isFirst: Bool, byteCountMax: Int) -> Verdict {
        var framing = ClientHelloFraming(isFirst: isFirst, byteCountMax: byteCountMax)
        return framing.examine(bytes)
    }

    private init(isFirst: Bool, byteCountMax: Int) {
        self.isFirst = isFirst
        self.byteCountMax = byteCountMax
    }

    private mutating func examine(_ bytes: Span<UInt8>) -> Verdict {
        var start = 0
        for _ in 0..<Self.recordCountMax {
            guard bytes.count > start else {
                return header.isEmpty && start > 0 ? .complete(byteCount: start) : needs(start + 1)
            }
            let type = bytes[start]
            guard type == Self.handshake || !isFirst else { return .refused("the peer did not start a TLS handshake") }
            let bodyStart = start + Self.recordHeaderByteCount
            guard bytes.count >= bodyStart else { return needs(bodyStart) }
            let byteCount = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
            let end = bodyStart + byteCount
            let isSkipped = type == Self.changeCipherSpec || type == Self.alert
            guard type == Self.handshake || isSkipped else { return .complete(byteCount: end) }
            if !isSkipped {
                guard byteCount > 0 else { return .refused("the ClientHello has an empty record") }
                take(bytes, bodyStart..<min(end, bytes.count), ofRecordWith: byteCount)
                if let verdict = checkMessage(end, bytes.count) { return verdict }
            }
            guard bytes.count >= end else { return needs(end) }
            start = end
        }
        return .refused("the ClientHello has more than \(Self.recordCountMax) records")
    }

    private mutating func take(_ bytes: Span<UInt8>, _ range: Range<Int>, ofRecordWith byteCount: Int) {
        bodyByteCount += byteCount
        for index in range {
            guard header.count < Self.messageHeaderByteCount else { return }
            header.append(bytes[index])
        }
    }

    /// Returns the verdict; nil if it needs the next record.
    private func checkMessage(_ end: Int, _ byteCount: Int) -> Verdict? {
        guard let type = header.first else { return nil }
        guard type == Self.clientHello else { return .complete(byteCount: end) }
        guard header.count == Self.messageHeaderByteCount else { return nil }
        let announced = Int(header[1]) << 16 | Int(header[2]) << 8 | Int(header[3])
        let messageByteCount = Self.messageHeaderByteCount + announced
        guard messageByteCount <= byteCountMax else { return tooLarge }
        guard messageByteCount <= bodyByteCount else { return nil }
        return byteCount >= end ? .complete(byteCount: end) : needs(end)
    }

    private func needs(_ byteCount: Int) -> Verdict {
        byteCount <= byteCountMax ? .needs(byteCount: byteCount) : tooLarge
    }

    private var tooLarge: Verdict { .refused("the ClientHello has more than \(byteCountMax) bytes") }
}
