// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// An owned OpenSSL object, freed at the end of its life; `Kind` selects the type.
@safe struct Handle<Kind: HandleKind>: ~Copyable {
    /// The object, for calls of the library while the handle lives.
    let pointer: OpaquePointer

    /// Takes ownership of the object that a call creates; throws the call's error from the error queue if it returns
    /// nil.
    @safe init(_ purpose: String, _ make: () -> OpaquePointer?) throws(TLSError) {
        unsafe pointer = try ErrorQueue.check(purpose, make)
    }

    deinit { unsafe Kind.free(pointer) }
}

/// A kind of object with its free function.
protocol HandleKind {
    static func free(_ pointer: OpaquePointer)
}

/// An X.509 certificate (`X509 *`).
enum CertificateKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe X509_free(pointer) }
}

/// A public or private key (`EVP_PKEY *`).
enum KeyKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe EVP_PKEY_free(pointer) }
}

/// A context for operations with a key (`EVP_PKEY_CTX *`).
enum KeyContextKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe EVP_PKEY_CTX_free(pointer) }
}

/// A context for digests and signatures (`EVP_MD_CTX *`).
enum DigestContextKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe EVP_MD_CTX_free(pointer) }
}

/// A cipher algorithm (`EVP_CIPHER *`).
enum CipherKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe EVP_CIPHER_free(pointer) }
}

/// A context for encryption (`EVP_CIPHER_CTX *`); freeing it erases the key.
enum CipherContextKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe EVP_CIPHER_CTX_free(pointer) }
}

/// An ECDSA signature (`ECDSA_SIG *`).
enum SignatureKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe ECDSA_SIG_free(pointer) }
}

/// A large integer (`BIGNUM *`).
enum BigNumberKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe BN_free(pointer) }
}

/// An I/O buffer (`BIO *`); freeing a buffer in secure memory erases it.
enum BufferKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe BIO_free_all(pointer) }
}

/// An object identifier (`ASN1_OBJECT *`).
enum ObjectKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe ASN1_OBJECT_free(pointer) }
}

/// A store of trusted certificates (`X509_STORE *`).
enum StoreKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe X509_STORE_free(pointer) }
}

/// A PKCS#12 container (`PKCS12 *`).
enum ContainerKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe PKCS12_free(pointer) }
}

/// A stack of certificates (`STACK_OF(X509) *`), which does not own them.
enum ChainKind: HandleKind {
    static func free(_ pointer: OpaquePointer) { unsafe OPENSSL_sk_free(pointer) }
}
