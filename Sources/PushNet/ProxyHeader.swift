// SPDX-License-Identifier: Apache-2.0

/// The header of the PROXY protocol, version 1 or 2, with which a proxy sends the address of its client.
///
/// - SeeAlso: HAProxy's documentation, "The PROXY protocol", section 2
package enum ProxyHeader {
    /// The number of bytes with which the reading begins; no connection of TLS is shorter.
    package static let prefixByteCount = 16
    /// The largest header of version 2 that is accepted, in bytes: the addresses, and some hundred bytes of extensions.
    package static let byteCountMax = 1024
    /// The largest header of version 1, in bytes.
    private static let lineByteCountMax = 107

    /// How much of the header has arrived.
    package enum Progress: Equatable {
        /// At least this number of bytes is needed.
        case needs(byteCount: Int)
        /// The header has this number of bytes.
        ///
        /// The source is nil if the connection is the proxy's own (a health check), or the address is not one of IPv4
        /// or IPv6.
        case complete(byteCount: Int, source: SourceAddress?)
    }

    /// The bytes are no header of this protocol, or the header is too large.
    package struct Defect: Error {}

    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    private static let line = Array("PROXY ".utf8)

    /// Reads a header from the first bytes of a connection.
    ///
    /// - Parameter bytes: The bytes that have arrived, at most as many as were needed.
    /// - Returns: The header, or the number of bytes that it needs, at most `byteCountMax`.
    /// - Throws: `Defect` if the connection does not begin with a header.
    package static func parse(_ bytes: Span<UInt8>) throws(Defect) -> Progress {
        guard bytes.count >= prefixByteCount else { return .needs(byteCount: prefixByteCount) }
        return begins(bytes, with: line) ? try parseLine(bytes) : try parseBinary(bytes)
    }

    private static func begins(_ bytes: Span<UInt8>, with sought: [UInt8]) -> Bool {
        bytes.count >= sought.count && sought.indices.allSatisfy { bytes[$0] == sought[$0] }
    }

    // MARK: Version 1

    /// Reads `PROXY TCP4 192.0.2.1 192.0.2.2 4711 443` and a line break.
    private static func parseLine(_ bytes: Span<UInt8>) throws(Defect) -> Progress {
        let text = (0..<min(bytes.count, lineByteCountMax)).map { bytes[$0] }
        guard let end = text.indices.dropFirst().first(where: { text[$0] == 0x0A && text[$0 - 1] == 0x0D }) else {
            guard bytes.count < lineByteCountMax else { throw Defect() }
            return .needs(byteCount: bytes.count + 1)
        }
        let words = text[..<(end - 1)].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.count > 1 else { throw Defect() }
        if words[1] == "UNKNOWN" { return .complete(byteCount: end + 1, source: nil) }
        // With TCP6, an IPv4 address is mapped (::ffff:192.0.2.1).
        guard words.count == 6, let source = SourceAddress(text: words[2]),
            words[1] == (words[2].contains(":") ? "TCP6" : "TCP4")
        else { throw Defect() }
        return .complete(byteCount: end + 1, source: source)
    }

    // MARK: Version 2

    private static func parseBinary(_ header: Span<UInt8>) throws(Defect) -> Progress {
        guard begins(header, with: signature), header[12] >> 4 == 2 else { throw Defect() }
        let byteCount = prefixByteCount + Int(header[14]) << 8 + Int(header[15])
        guard byteCount <= byteCountMax else { throw Defect() }
        guard header.count >= byteCount else { return .needs(byteCount: byteCount) }
        return .complete(byteCount: byteCount, source: try source(header, byteCount))
    }

    private static func source(_ header: Span<UInt8>, _ byteCount: Int) throws(Defect) -> SourceAddress? {
        switch header[12] & 0x0F {
        case 0: return nil
        case 1: break
        default: throw Defect()
        }
        func number(at place: Int) -> UInt64 { (place..<(place + 8)).reduce(0) { $0 << 8 | UInt64(header[$1]) } }
        switch header[13] >> 4 {
        case 1:
            guard byteCount >= prefixByteCount + 12 else { throw Defect() }
            return SourceAddress(ipv4: (16..<20).reduce(0) { $0 << 8 | UInt32(header[$1]) })
        case 2:
            guard byteCount >= prefixByteCount + 36 else { throw Defect() }
            return SourceAddress(ipv6High: number(at: 16), low: number(at: 24))
        default: return nil
        }
    }
}
