// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushTLS

/// Signs provider tokens as every APNs library does: a JSON web token with ES256.
///
/// - SeeAlso: Apple, "Establishing a token-based connection to APNs".
struct ProviderTokenSigner: Sendable {
    private let key: PrivateKey
    private let keyID: String
    private let teamID: String

    init(key: PrivateKey, keyID: String, teamID: String) {
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
    }

    /// Reads a `.p8` file.
    ///
    /// - Parameter path: The path of the file.
    /// - Returns: The private key.
    /// - Throws: An error when the file cannot be read, is not a regular file, or holds no P-256 private key.
    static func readKey(_ path: String) throws(CommandError) -> PrivateKey {
        let pem: [UInt8]
        do throws(FileError) { pem = try LocalFile.readRegular(path) } catch { throw .file(error) }
        do throws(TLSError) {
            return try PrivateKey(pem: pem)
        } catch {
            throw .badFile(
                path: path, problem: "not a P-256 private key in PKCS#8 PEM",
                remedy: "Specify the .p8 file that 'posthorn key create' wrote.")
        }
    }

    /// Extracts the key ID from a file name as Apple and `posthorn key create` write it: `AuthKey_ABC1234567.p8`.
    static func keyID(fromFileName path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        let id = name.dropFirst("AuthKey_".count).dropLast(".p8".count)
        return isKeyID(id) ? String(id) : nil
    }

    /// Returns whether a key ID consists of ten characters A-Z and 0-9.
    ///
    /// Only such an ID may be part of a file name.
    static func isKeyID(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }

    /// Signs a provider token, which is valid for one hour.
    ///
    /// - Parameter issuedAt: The current time.
    /// - Returns: The header, claims and signature, joined by dots.
    /// - Throws: An error when OpenSSL cannot sign.
    func sign(issuedAt: Timestamp) throws(TLSError) -> String {
        var token = Base64.encodeURL(JSONText.encodeKnown(Header(alg: "ES256", kid: keyID)).span)
        token.append(UInt8(ascii: "."))
        token += Base64.encodeURL(JSONText.encodeKnown(Claims(iss: teamID, iat: issuedAt.unixSeconds)).span)
        let signature = try key.sign(token.span)
        token.append(UInt8(ascii: "."))
        token += Base64.encodeURL(signature.span)
        return String(decoding: token, as: UTF8.self)
    }

    private struct Header: Encodable {
        let alg: String
        let kid: String
    }

    private struct Claims: Encodable {
        let iss: String
        let iat: Int64
    }
}
