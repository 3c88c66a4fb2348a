// SPDX-License-Identifier: Apache-2.0

internal import CBenchmark

/// A field of a request.
typealias Field = (name: String, value: String)

/// HPACK blocks that are encoded in advance.
///
/// Repeated fields are indexed as nghttp2 would index them. So the first block of a connection, which fills the
/// server's table, differs from all later ones. Authorization is always a literal, and `:path` is inserted between head
/// and tail.
struct HeaderBlocks {
    /// The block of a connection's first request: the parts before and after `:path`.
    let first: (head: [UInt8], tail: [UInt8])
    /// The block of all later requests.
    let later: (head: [UInt8], tail: [UInt8])

    init(authority: String, fields: [Field]) {
        let head: [Field] = [(":method", "POST"), (":scheme", "https"), (":authority", authority)]
        let deflater = Deflater()
        first = (deflater.encode(head), deflater.encode(fields))
        later = (deflater.encode(head), deflater.encode(fields))
    }

    /// Returns the compressed block of each `:path` alone.
    static func paths(_ paths: [String]) -> [[UInt8]] {
        let deflater = Deflater()
        return paths.map { deflater.encode([(":path", $0)]) }
    }

    /// Returns a block that does not change the server's table, for requests that are not measured.
    static func literal(_ fields: [Field]) -> [UInt8] {
        var block: [UInt8] = []
        for field in fields {
            block.append(0x10)
            block += length(field.name.utf8.count) + Array(field.name.utf8)
            block += length(field.value.utf8.count) + Array(field.value.utf8)
        }
        return block
    }

    /// Returns the length of an uncompressed string with a 7-bit prefix (RFC 7541, section 5.1).
    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 127 else { return [UInt8(count)] }
        var bytes: [UInt8] = [127]
        var rest = count - 127
        while rest >= 128 {
            bytes.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}

/// An HPACK encoder; owns one `nghttp2_hd_deflater`.
final class Deflater {
    private let handle: OpaquePointer

    init() {
        var handle: OpaquePointer?
        guard nghttp2_hd_deflate_new(&handle, 4096) == 0, let handle else { fail("nghttp2_hd_deflate_new") }
        self.handle = handle
    }

    deinit { nghttp2_hd_deflate_del(handle) }

    func encode(_ fields: [Field]) -> [UInt8] {
        var block: [UInt8] = []
        for field in fields { block += encode(Array(field.name.utf8), Array(field.value.utf8)) }
        return block
    }

    private func encode(_ name: [UInt8], _ value: [UInt8]) -> [UInt8] {
        var (name, value) = (name, value)
        var block = [UInt8](repeating: 0, count: name.count + value.count + 64)
        let count = name.withUnsafeMutableBufferPointer { name in
            value.withUnsafeMutableBufferPointer { value in
                var pair = nghttp2_nv(
                    name: name.baseAddress, value: value.baseAddress, namelen: name.count, valuelen: value.count,
                    flags: 0)
                return nghttp2_hd_deflate_hd(handle, &block, block.count, &pair, 1)
            }
        }
        guard count >= 0 else { fail("nghttp2_hd_deflate_hd: \(count)") }
        return Array(block[..<count])
    }
}

/// An HPACK decoder, used only for the status; owns one `nghttp2_hd_inflater`.
final class Inflater {
    private let handle: OpaquePointer

    init() {
        var handle: OpaquePointer?
        guard nghttp2_hd_inflate_new(&handle) == 0, let handle else { fail("nghttp2_hd_inflate_new") }
        self.handle = handle
    }

    deinit { nghttp2_hd_inflate_del(handle) }

    /// Returns the status in a complete block; 0 if it has no status.
    func status(in block: UnsafeRawBufferPointer) -> Int {
        var status = 0
        var next = block.assumingMemoryBound(to: UInt8.self).baseAddress
        var remaining = block.count
        while true {
            var pair = nghttp2_nv()
            var flags: Int32 = 0
            let used = nghttp2_hd_inflate_hd2(handle, &pair, &flags, next, remaining, 1)
            guard used >= 0 else { fail("nghttp2_hd_inflate_hd2: \(used)") }
            next = next.map { $0 + used }
            remaining -= used
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0, pair.namelen == 7, pair.name[1] == 0x73 {
                status = UnsafeRawBufferPointer(start: pair.value, count: pair.valuelen).decimal(at: 0)
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
                nghttp2_hd_inflate_end_headers(handle)
                return status
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) == 0, used == 0 { return status }
        }
    }
}
