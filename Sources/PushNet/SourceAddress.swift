// SPDX-License-Identifier: Apache-2.0

internal import CPushShims
internal import Glibc

/// The address that a peer connects from, without its port.
package struct SourceAddress: Hashable, Sendable {
    /// The upper half of the 16 bytes; IPv4 is mapped (`::ffff:a.b.c.d`), and a UNIX socket is all zeros.
    private let high: UInt64
    private let low: UInt64

    /// The address of a peer on a UNIX socket, or of a peer that has already disconnected.
    package static let unknown = SourceAddress(high: 0, low: 0)

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates an IPv4 address from four bytes in host order: `0x7F00_0001` is 127.0.0.1.
    package init(ipv4 address: UInt32) { self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(address)) }

    /// Creates an IPv6 address from its two halves in host order.
    package init(ipv6High high: UInt64, low: UInt64) { self.init(high: high, low: low) }

    /// Whether this is an IPv4 address.
    var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// Returns whether the first bits of another address are the same.
    ///
    /// - Parameters:
    ///   - bitCount: The number of bits, from 0 to 128.
    ///   - other: The other address.
    /// - Returns: Whether they are.
    func differsOnly(after bitCount: Int, from other: SourceAddress) -> Bool {
        // A shift by 64 or more gives zero.
        let upper = (high ^ other.high) >> UInt64(max(0, 64 - bitCount))
        let lower = (low ^ other.low) >> UInt64(min(64, max(0, 128 - bitCount)))
        return (bitCount == 0 || upper == 0) && (bitCount <= 64 || lower == 0)
    }

    /// The key for rate limits: an IPv4 address (/32), or the /64 network of an IPv6 address, in which one peer can
    /// choose any address.
    package var network: SourceAddress { isIPv4 || self == .unknown ? self : SourceAddress(high: high, low: 0) }

    /// Reads the address of a connected socket's peer (`getpeername(2)`); `unknown` without a peer.
    package init(peerOf socket: Int32) {
        var storage = sockaddr_storage()
        var byteCount = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe getpeername(socket, generic, &byteCount)
            }
        }
        self = code == 0 ? SourceAddress(storage) : .unknown
    }

    private init(_ storage: sockaddr_storage) {
        var storage = storage
        switch Int32(storage.ss_family) {
        case AF_INET:
            let address = unsafe withUnsafeBytes(of: &storage) { bytes in
                unsafe bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
            }
            self.init(ipv4: UInt32(bigEndian: address))
        case AF_INET6:
            // In sockaddr_in6, family, port and flow information are 8 bytes.
            let (high, low) = unsafe withUnsafeBytes(of: &storage) { bytes in
                unsafe (
                    bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                    bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
                )
            }
            self.init(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
        default: self = .unknown
        }
    }
}

extension SourceAddress: CustomStringConvertible {
    /// The text for logs: `192.0.2.1`, eight groups of hexadecimal digits, or `local`.
    package var description: String {
        guard self != .unknown else { return "local" }
        guard !isIPv4 else {
            return [24, 16, 8, 0].map { String(low >> UInt64($0) & 0xFF) }.joined(separator: ".")
        }
        return [high, low].map { half in
            [48, 32, 16, 0].map { String(half >> UInt64($0) & 0xFFFF, radix: 16) }.joined(separator: ":")
        }.joined(separator: ":")
    }
}
