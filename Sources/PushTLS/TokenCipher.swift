// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The cipher for device tokens: AES-256-SIV over 16 bytes.
///
/// Not Sendable: use one per loop. A token is the 16 bytes of the tag (the synthetic initialization vector) followed by
/// the 16 bytes of the encrypted text, in the order of RFC 5297.
///
/// For a plaintext of one block without associated data, AES-SIV takes two block encryptions; everything else depends
/// only on the key:
///
/// ```
///   tag  = AES(K1, plaintext ⊕ CMAC(K1, 0) ⊕ dbl(AES(K1, 0)))      CMAC of one whole block; S2V with one string
///   text = AES(K2, tag with bits 31 and 63 from the right cleared) ⊕ plaintext          counter mode of one block
/// ```
///
/// OpenSSL's own AES-SIV sets up its CMAC and looks up parameters by name at each use, which costs ten times as much.
///
/// - SeeAlso: RFC 5297, section 2.6; RFC 4493, section 2.4
package final class TokenCipher {
    /// The keys, newest first: the first seals, all open.
    private let keys: [TokenKey]

    /// Creates a cipher with 64-byte keys, newest first: the first seals, all open.
    ///
    /// - Parameter keys: At least one key.
    /// - Throws: `TLSError.library` if there is no key, if a key is not 64 bytes long, or if OpenSSL lacks AES-256.
    package init(keys: [[UInt8]]) throws(TLSError) {
        guard !keys.isEmpty else {
            throw .library(during: "initializing the token cipher", text: "there is no key")
        }
        let cipher = try Handle<CipherKind>("finding AES-256") { unsafe EVP_CIPHER_fetch(nil, "AES-256-ECB", nil) }
        var made: [TokenKey] = []
        for key in keys { made.append(try TokenKey(cipher, key)) }
        self.keys = made
    }

    /// Encrypts 16 bytes to a 32-byte token, deterministically.
    package func seal(_ plaintext: InlineArray<16, UInt8>) -> InlineArray<32, UInt8> {
        let text = Block(plaintext.span, from: 0)
        let (tag, sealed) = keys[0].seal(text)
        var token = InlineArray<32, UInt8>(repeating: 0)
        for index in 0..<16 {
            token[index] = tag.byte(index)
            token[16 + index] = sealed.byte(index)
        }
        return token
    }

    /// Decrypts a 32-byte token; returns nil if no key opens it.
    package func open(_ token: InlineArray<32, UInt8>) -> InlineArray<16, UInt8>? {
        let (tag, sealed) = (Block(token.span, from: 0), Block(token.span, from: 16))
        for index in keys.indices {
            guard let text = keys[index].open(tag, sealed) else { continue }
            return InlineArray { text.byte($0) }
        }
        return nil
    }
}

/// A block of 16 bytes as two numbers in network order.
private struct Block {
    var high: UInt64
    var low: UInt64

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    init(_ bytes: Span<UInt8>, from start: Int) {
        // The loads check the bounds; bytes of any value are valid numbers.
        high = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self).bigEndian
        low = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: start + 8, as: UInt64.self).bigEndian
    }

    func byte(_ index: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> UInt64(56 - 8 * (index % 8)))
    }

    static func ^ (left: Block, right: Block) -> Block {
        Block(high: left.high ^ right.high, low: left.low ^ right.low)
    }

    /// The number doubled in GF(2¹²⁸), without a branch that depends on it (RFC 5297, section 2.3).
    var doubled: Block {
        Block(high: high << 1 | low >> 63, low: low << 1 ^ (0 &- (high >> 63)) & 0x87)
    }

    /// The block as the first counter of the text (RFC 5297, section 2.5).
    var asCounter: Block { Block(high: high, low: low & 0x7FFF_FFFF_7FFF_FFFF) }
}

/// One key of device tokens: two AES contexts, and the value that CMAC mixes into a single block.
private final class TokenKey {
    private static let byteCount = 64

    private let authentication: BlockCipher
    private let encryption: BlockCipher
    private let mask: Block

    init(_ cipher: borrowing Handle<CipherKind>, _ key: [UInt8]) throws(TLSError) {
        guard key.count == Self.byteCount else {
            throw .library(
                during: "initializing the token cipher",
                text: "a key has \(key.count) bytes instead of \(Self.byteCount)")
        }
        authentication = try BlockCipher(cipher, Array(key[..<32]))
        encryption = try BlockCipher(cipher, Array(key[32...]))
        let subkey = authentication.encrypt(Block(high: 0, low: 0)).doubled
        mask = authentication.encrypt(subkey) ^ subkey
    }

    func seal(_ text: Block) -> (tag: Block, sealed: Block) {
        let tag = authentication.encrypt(text ^ mask)
        return (tag, encryption.encrypt(tag.asCounter) ^ text)
    }

    /// Decrypts a token; returns nil if the tag does not match, compared in constant time.
    func open(_ tag: Block, _ sealed: Block) -> Block? {
        let text = encryption.encrypt(tag.asCounter) ^ sealed
        let difference = authentication.encrypt(text ^ mask) ^ tag
        return difference.high | difference.low == 0 ? text : nil
    }
}

/// A cipher for single blocks; owns one `EVP_CIPHER_CTX *`.
@safe private final class BlockCipher {
    private static let byteCount: Int32 = 16

    private let context: Handle<CipherContextKind>

    init(_ cipher: borrowing Handle<CipherKind>, _ key: [UInt8]) throws(TLSError) {
        let purpose = "initializing the token cipher"
        context = try Handle(purpose) { unsafe EVP_CIPHER_CTX_new() }
        try ErrorQueue.check(purpose) {
            unsafe EVP_EncryptInit_ex(context.pointer, cipher.pointer, nil, key, nil)
        }
        // With padding, the context would hold back the last block.
        try ErrorQueue.check(purpose) { unsafe EVP_CIPHER_CTX_set_padding(context.pointer, 0) }
    }

    /// Encrypts a block; stops the process on failure, which can only be a bug here, so that no wrong token is ever
    /// issued.
    func encrypt(_ block: Block) -> Block {
        var (high, low) = (block.high.bigEndian, block.low.bigEndian)
        var bytes = InlineArray<2, UInt64> { $0 == 0 ? high : low }
        var byteCount: Int32 = 0
        let code = unsafe withUnsafeMutableBytes(of: &bytes) { buffer in
            let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe EVP_EncryptUpdate(context.pointer, start, &byteCount, start, Self.byteCount)
        }
        guard code == 1, byteCount == Self.byteCount else {
            preconditionFailure("AES-256 failed: \(ErrorQueue.failure(during: "encrypting a block"))")
        }
        (high, low) = (UInt64(bigEndian: bytes[0]), UInt64(bigEndian: bytes[1]))
        return Block(high: high, low: low)
    }
}
