// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A look at a client's chain that costs little memory, before `X509_verify_cert`.
///
/// Anyone may send certificates, and `X509_verify_cert` decodes their extensions before it checks a signature: 16 KiB of
/// subject alternative names become 800 KiB, which OpenSSL keeps as long as the connection. So the signatures are checked
/// first, from the trusted authorities down. Only the keys of certificates that a trusted one has signed are used.
@safe struct ClientChain {
    private let leaf: BorrowedCertificate?
    /// The certificates that the client sent, its own among them.
    private let sent: [BorrowedCertificate]
    /// The trusted authorities, which do not change after the TLS context was made.
    private let trusted: [BorrowedCertificate]

    /// Reads a chain that is about to be verified.
    ///
    /// - Parameter context: The `X509_STORE_CTX *`, which must outlive this value.
    init(_ context: OpaquePointer?) {
        leaf = unsafe X509_STORE_CTX_get0_cert(context).map(BorrowedCertificate.init)
        let stack = unsafe X509_STORE_CTX_get0_untrusted(context)
        sent = unsafe (0..<max(0, OPENSSL_sk_num(stack))).compactMap { index in
            unsafe OPENSSL_sk_value(stack, index).map { unsafe BorrowedCertificate(OpaquePointer($0)) }
        }
        let objects = unsafe X509_STORE_get0_objects(X509_STORE_CTX_get0_store(context))
        trusted = unsafe (0..<max(0, OPENSSL_sk_num(objects))).compactMap { index in
            unsafe X509_OBJECT_get0_X509(OpaquePointer(OPENSSL_sk_value(objects, index))).map(BorrowedCertificate.init)
        }
    }

    /// Whether each certificate has few extensions and short names, which OpenSSL has decoded already.
    var isSmall: Bool { sent.allSatisfy(\.isSmall) }

    /// Whether signatures lead from a trusted authority to the client's certificate.
    var isVouchedFor: Bool {
        guard let leaf else { return false }
        var (issuers, others) = (trusted, sent)
        while !issuers.isEmpty {
            if issuers.contains(where: { $0.hasSigned(leaf) }) { return true }
            let signed = others.filter { other in issuers.contains { $0.hasSigned(other) } }
            others.removeAll { signed.contains($0) }
            issuers = signed
        }
        return false
    }

    /// OpenSSL's error for a chain that no trusted authority has signed; decodes no extension either.
    var defect: Int32 {
        guard let leaf else { return X509_V_ERR_UNSPECIFIED }
        if leaf.isIssued(by: leaf) { return X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT }
        // With a key identifier, OpenSSL would not take a trusted authority of the same name for the issuer.
        let claimsTrusted = !leaf.hasKeyIdentifier && trusted.contains { leaf.isIssued(by: $0) }
        if claimsTrusted { return X509_V_ERR_CERT_SIGNATURE_FAILURE }
        let hasRoot = sent.contains { $0.isIssued(by: $0) }
        return hasRoot ? X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN : X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
    }
}

/// A certificate that OpenSSL owns during a verification (`X509 *`).
@safe private struct BorrowedCertificate: Equatable {
    /// The largest number of extensions of a certificate, and of parts of a name.
    private static let partCountMax: Int32 = 32

    /// The size of an empty DER sequence in bytes.
    private static let emptySequenceByteCount: Int32 = 2

    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

    static func == (one: Self, other: Self) -> Bool { unsafe one.pointer == other.pointer }

    var isSmall: Bool {
        let names = unsafe [X509_get_subject_name(pointer), X509_get_issuer_name(pointer)]
        return unsafe X509_get_ext_count(pointer) <= Self.partCountMax
            && names.allSatisfy { unsafe X509_NAME_entry_count($0) <= Self.partCountMax }
    }

    /// Whether the certificate says which key has signed it; an empty extension says nothing.
    var hasKeyIdentifier: Bool {
        let place = unsafe X509_get_ext_by_NID(pointer, NID_authority_key_identifier, -1)
        guard place >= 0, let data = unsafe X509_EXTENSION_get_data(X509_get_ext(pointer, place)) else { return false }
        return unsafe ASN1_STRING_length(data) > Self.emptySequenceByteCount
    }

    /// Returns whether the certificate names this authority as its issuer.
    func isIssued(by authority: Self) -> Bool {
        let (issuer, subject) = unsafe (X509_get_issuer_name(pointer), X509_get_subject_name(authority.pointer))
        return unsafe X509_NAME_cmp(issuer, subject) == 0
    }

    /// Returns whether this authority has signed a certificate; compares names before the costly signature.
    func hasSigned(_ certificate: Self) -> Bool {
        guard certificate.isIssued(by: self), let key = unsafe X509_get0_pubkey(pointer) else { return false }
        return unsafe X509_verify(certificate.pointer, key) == 1
    }
}
