// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Owns one of OpenSSL's objects and frees it; the kind says which.
@safe struct Handle<Kind: HandleKind>: ~Copyable {
    /// The object, lent for calls of the library.
    let pointer: OpaquePointer

    /// Adopts what a call made, and throws what the call left in the error queue when it made none.
    @safe init(_ purpose: String, _ make: () -> OpaquePointer?) throws(TLSError) {
        unsafe pointer = try ErrorQueue.check(purpose, make)
    }

    deinit { unsafe Kind.free(pointer) }
}

/// A kind of object with its free function.
protocol HandleKind {
    static func free(_ pointer: OpaquePointer)
}

/// `X509 *`.
enum CertificateKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe X509_free(pointer) }
}

/// `EVP_PKEY *`.
enum KeyKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe EVP_PKEY_free(pointer) }
}

/// `EVP_PKEY_CTX *`.
enum KeyContextKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe EVP_PKEY_CTX_free(pointer) }
}

/// `EVP_MD_CTX *`.
enum DigestContextKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe EVP_MD_CTX_free(pointer) }
}

/// `EVP_CIPHER *`.
enum CipherKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe EVP_CIPHER_free(pointer) }
}

/// `EVP_CIPHER_CTX *`; freeing it erases the key.
enum CipherContextKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe EVP_CIPHER_CTX_free(pointer) }
}

/// `ECDSA_SIG *`.
enum SignatureKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe ECDSA_SIG_free(pointer) }
}

/// `BIGNUM *`.
enum BigNumberKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe BN_free(pointer) }
}

/// `BIO *`; freeing a buffer in secure memory erases it.
enum BufferKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe BIO_free_all(pointer) }
}

/// `ASN1_OBJECT *`.
enum ObjectKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe ASN1_OBJECT_free(pointer) }
}

/// `X509_STORE *`.
enum StoreKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe X509_STORE_free(pointer) }
}

/// `PKCS12 *`.
enum ContainerKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe PKCS12_free(pointer) }
}

/// `STACK_OF(X509) *`, with references to certificates that others own.
enum ChainKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe OPENSSL_sk_free(pointer) }
}
