// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Glibc

/// The certificate of an authority, with what administrators and users see of it.
package struct AuthorityCertificate: Sendable, Equatable {
    /// The certificate in PEM, without text around it.
    package let pem: [UInt8]
    /// The SHA-256 of the certificate, 32 bytes.
    package let fingerprint: [UInt8]
    /// The subject in one line, for example `CN = Example Root`.
    package let subject: String
    /// Whether the certificate may sign others.
    package let isAuthority: Bool
    /// The beginning and the end of the validity, in UNIX seconds.
    package let validity: Range<Int64>

    /// Reads the first certificate of a PEM text, which need not be that of an authority.
    package init(_ text: [UInt8]) throws(TLSError) { try self.init(PEM.certificate(text)) }

    private init(_ certificate: borrowing Handle<CertificateKind>) throws(TLSError) {
        pem = try unsafe PEM.text("writing a certificate") { unsafe PEM_write_bio_X509($0, certificate.pointer) }
        fingerprint = try certificate.fingerprint()
        subject = try String(
            decoding: unsafe PEM.text("writing a subject") { buffer in
                unsafe X509_NAME_print_ex(buffer, X509_get_subject_name(certificate.pointer), 0, Self.nameFlags) < 0
                    ? 0 : 1
            }, as: UTF8.self)
        isAuthority = ErrorQueue.cleared { unsafe X509_check_ca(certificate.pointer) } == 1
        let start = try unsafe Self.seconds(X509_get0_notBefore(certificate.pointer))
        validity = try unsafe start..<max(start, Self.seconds(X509_get0_notAfter(certificate.pointer)))
    }

    /// Reads all certificates of a PEM text.
    ///
    /// - Parameter text: One or more certificates of authorities.
    /// - Returns: The certificates in their order, each once.
    /// - Throws: `TLSError.library` if the text has no certificate, a broken one, or one that may not sign others.
    package static func all(in text: [UInt8]) throws(TLSError) -> [AuthorityCertificate] {
        var all: [AuthorityCertificate] = []
        let chain = try CertificateChain(text)
        try chain.check()
        for index in 0..<chain.count {
            let pem = try unsafe PEM.text("writing a certificate") { unsafe PEM_write_bio_X509($0, chain[index]) }
            let certificate = try AuthorityCertificate(pem)
            guard certificate.isAuthority else {
                throw CertificateAuthority.failure(
                    "the certificate '\(certificate.subject)' may not sign others", during: purpose)
            }
            if !all.contains(where: { $0.fingerprint == certificate.fingerprint }) { all.append(certificate) }
        }
        return all
    }

    /// Returns whether a certificate that the server sends leads to an authority, whatever the date.
    ///
    /// - Parameters:
    ///   - text: The server's certificate in PEM, then those that lead to its authority.
    ///   - authority: The authority; nil for those that this operating system trusts.
    /// - Returns: Whether a client that trusts only this authority accepts the chain.
    /// - Throws: `TLSError` for a text without certificates.
    package static func chain(
        _ text: [UInt8], leadsTo authority: AuthorityCertificate?
    ) throws(TLSError) -> Bool {
        let store = try Handle<StoreKind>(purpose) { unsafe X509_STORE_new() }
        if let authority {
            let trusted = try PEM.certificate(authority.pem)
            try ErrorQueue.check(purpose) { unsafe X509_STORE_add_cert(store.pointer, trusted.pointer) }
        } else {
            try ErrorQueue.check(purpose) { unsafe X509_STORE_set_default_paths(store.pointer) }
        }
        // A client trusts an authority of its file as it is, and dates are the business of another check.
        try ErrorQueue.check(purpose) {
            unsafe X509_STORE_set_flags(store.pointer, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_NO_CHECK_TIME))
        }
        let sent = try CertificateChain(text)
        try sent.check()
        let context = try Handle<VerificationKind>(purpose) { unsafe X509_STORE_CTX_new() }
        try ErrorQueue.check(purpose) {
            unsafe X509_STORE_CTX_init(context.pointer, store.pointer, sent[0], sent.pointer)
        }
        defer { ERR_clear_error() }
        return ErrorQueue.cleared { unsafe X509_verify_cert(context.pointer) } == 1
    }

    private static let purpose = "reading certificates of authorities"
    /// The flags of `XN_FLAG_ONELINE`, which is a macro, with the characters of UTF-8 as they are.
    private static let nameFlags: UInt = (2 << 16) | (1 << 23) | 1 | 2 | 8 | 0x10 | 0x200 | 0x100

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) throws(TLSError) -> Int64 {
        var parts = unsafe tm()
        try ErrorQueue.check(purpose) { unsafe ASN1_TIME_to_tm(time, &parts) }
        return unsafe Int64(timegm(&parts))
    }
}

/// The certificates of a PEM text, at least one; owns a `STACK_OF(X509) *` with its certificates.
@safe private struct CertificateChain: ~Copyable {
    let pointer: OpaquePointer
    /// The error of a broken certificate behind those that could be read; nil for none.
    private let problem: TLSError?

    init(_ text: [UInt8]) throws(TLSError) {
        let buffer = try PEM.reading(text)
        let stack = unsafe try ErrorQueue.check("reading certificates") { unsafe OPENSSL_sk_new_null() }
        while let certificate = unsafe ErrorQueue.cleared({
            unsafe PEM_read_bio_X509(buffer.pointer, nil, refusePassphrase, nil)
        }) {
            _ = unsafe OPENSSL_sk_push(stack, UnsafeRawPointer(certificate))
        }
        unsafe pointer = stack
        problem =
            ErrorQueue.isNext(library: ERR_LIB_PEM, reason: PEM_R_NO_START_LINE)
            ? nil : ErrorQueue.failure(during: "reading certificates")
        ERR_clear_error()
    }

    deinit {
        while let certificate = unsafe OPENSSL_sk_pop(pointer) { unsafe X509_free(OpaquePointer(certificate)) }
        unsafe OPENSSL_sk_free(pointer)
    }

    /// Throws unless there is a certificate and all of the text could be read.
    func check() throws(TLSError) {
        if let problem { throw problem }
        guard count > 0 else { throw .library(during: "reading certificates", text: "there is no certificate") }
    }

    var count: Int32 { max(0, unsafe OPENSSL_sk_num(pointer)) }

    /// The `X509 *` at an index, which the chain owns.
    subscript(index: Int32) -> OpaquePointer? {
        unsafe OPENSSL_sk_value(pointer, index).map(OpaquePointer.init)
    }
}

/// A verification of a chain (`X509_STORE_CTX *`).
private enum VerificationKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe X509_STORE_CTX_free(pointer) }
}
