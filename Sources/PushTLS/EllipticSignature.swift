// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Conversions between the two forms of an ECDSA signature: raw R‖S for JSON Web Signatures, and ASN.1 DER for OpenSSL.
enum EllipticSignature {
    /// The size of one P-256 number in bytes.
    static let numberByteCount = 32

    /// Converts two big-endian numbers of equal length to DER; returns nil if OpenSSL rejects them.
    static func der(fromRaw raw: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let half = raw.count / 2
        guard let signature = try? Handle<SignatureKind>("making a signature", { unsafe ECDSA_SIG_new() }),
            let r = unsafe BN_bin2bn(raw.baseAddress, Int32(half), nil)
        else { return nil }
        guard let s = unsafe BN_bin2bn(raw.baseAddress.map { unsafe $0 + half }, Int32(half), nil) else {
            unsafe BN_free(r)
            return nil
        }
        // ECDSA_SIG_set0 takes ownership of the numbers; it fails only for nil.
        guard unsafe ECDSA_SIG_set0(signature.pointer, r, s) == 1 else {
            preconditionFailure("ECDSA_SIG_set0 refused two numbers")
        }
        return unsafe encoded { unsafe i2d_ECDSA_SIG(signature.pointer, $0) }
    }

    /// Converts DER to the 64 raw bytes.
    static func raw(fromDER der: [UInt8]) throws(TLSError) -> [UInt8] {
        let signature = try Handle<SignatureKind>("reading a signature") {
            unsafe der.withUnsafeBufferPointer { der in
                var next = der.baseAddress
                return unsafe d2i_ECDSA_SIG(nil, &next, der.count)
            }
        }
        var raw = [UInt8](repeating: 0, count: 2 * numberByteCount)
        let isPadded = unsafe raw.withUnsafeMutableBufferPointer { raw in
            let count = Int32(numberByteCount)
            return unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature.pointer), raw.baseAddress, count) == count
                && BN_bn2binpad(
                    ECDSA_SIG_get0_s(signature.pointer), raw.baseAddress.map { unsafe $0 + numberByteCount }, count)
                    == count
        }
        guard isPadded else { throw ErrorQueue.failure(during: "reading a signature") }
        return raw
    }

    /// Returns the output of an `i2d_…` function, which is called first for the length and then for the bytes.
    static func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8]? {
        let byteCount = ErrorQueue.cleared { encode(nil) }
        guard byteCount > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(byteCount))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            var next = bytes.baseAddress
            return unsafe encode(&next)
        }
        return written == byteCount ? bytes : nil
    }
}
