// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Conversions from and to PEM texts through OpenSSL's memory buffers.
enum PEM {
    /// Parses a certificate with `PEM_read_bio_X509`.
    static func certificate(_ text: [UInt8]) throws(TLSError) -> Handle<CertificateKind> {
        let buffer = try reading(text)
        return try Handle("reading a certificate") {
            unsafe PEM_read_bio_X509(buffer.pointer, nil, refusePassphrase, nil)
        }
    }

    /// Parses an unencrypted private key with `PEM_read_bio_PrivateKey`.
    static func privateKey(_ text: [UInt8]) throws(TLSError) -> Handle<KeyKind> {
        let buffer = try reading(text)
        return try Handle("reading a private key") {
            unsafe PEM_read_bio_PrivateKey(buffer.pointer, nil, refusePassphrase, nil)
        }
    }

    /// Returns the text that a `PEM_write_bio_…` function writes.
    static func text(_ purpose: String, _ write: (OpaquePointer) -> Int32) throws(TLSError) -> [UInt8] {
        // Private keys pass through this buffer, and secure memory is erased when it is freed.
        let buffer = try Handle<BufferKind>(purpose) { unsafe BIO_new(BIO_s_secmem()) }
        try ErrorQueue.check(purpose) { unsafe write(buffer.pointer) }
        var start: UnsafeMutableRawPointer?
        // BIO_get_mem_data is a macro for this call.
        let count = unsafe BIO_ctrl(buffer.pointer, BIO_CTRL_INFO, 0, &start)
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: max(0, Int(count))))
    }

    /// Returns a buffer with a copy of the text.
    static func reading(_ text: [UInt8]) throws(TLSError) -> Handle<BufferKind> {
        let buffer = try Handle<BufferKind>("reading a PEM text") { unsafe BIO_new(BIO_s_secmem()) }
        var written = 0
        try ErrorQueue.check("reading a PEM text") {
            unsafe text.isEmpty ? 1 : BIO_write_ex(buffer.pointer, text, text.count, &written)
        }
        return buffer
    }
}

/// Refuses to supply a passphrase; OpenSSL's own callback would ask at the terminal and so block a server.
func refusePassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?, _ byteCount: Int32, _ isWriting: Int32, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    -1
}
