// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A range of addresses, for example `10.0.0.0/8`, or a single one.
package struct AddressRange: Hashable, Sendable {
    private let first: SourceAddress
    /// The number of bits that all addresses of the range share, of 128.
    private let bitCount: Int

    /// Parses an address with an optional prefix length; returns nil for another text.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = SourceAddress(text: String(parts[0])) else { return nil }
        let width = address.isIPv4 ? 32 : 128
        var length = width
        if parts.count > 1 {
            guard let number = Int(parts[1]), (0...width).contains(number) else { return nil }
            length = number
        }
        first = address
        bitCount = 128 - width + length
    }

    /// Returns whether an address is in the range.
    package func contains(_ address: SourceAddress) -> Bool {
        address != .unknown && address.differsOnly(after: bitCount, from: first)
    }
}

extension SourceAddress {
    /// Parses an IPv4 or IPv6 address without a zone.
    package init?(text: String) {
        var v4 = in_addr()
        if unsafe inet_pton(AF_INET, text, &v4) == 1 {
            self.init(ipv4: UInt32(bigEndian: v4.s_addr))
            return
        }
        var v6 = in6_addr()
        guard unsafe inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        let (high, low) = unsafe withUnsafeBytes(of: &v6) { bytes in
            unsafe (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        self.init(ipv6High: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
    }
}
