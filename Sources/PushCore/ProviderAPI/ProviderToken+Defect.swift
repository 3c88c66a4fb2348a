// SPDX-License-Identifier: Apache-2.0

extension ProviderToken {
    /// Describes why a compact token is not a valid provider token, for the developer of the sender.
    ///
    /// Only refusals call this function, because it parses everything a second time.
    ///
    /// - Parameter compact: The token that `init(compact:)` refused.
    /// - Returns: One sentence in ASCII, without any part of the token.
    package static func defect(in compact: Span<UInt8>) -> String {
        guard compact.count <= Limits.providerTokenByteCountMax else {
            return "The provider token has \(compact.count) bytes: "
                + "at most \(Limits.providerTokenByteCountMax) are allowed."
        }
        if compact.count > 0, compact[compact.count - 1] == 0x20 || compact[compact.count - 1] == 0x09 {
            return "The authorization header ends with a space or a tab: remove it."
        }
        var parts: [[UInt8]] = [[]]
        for offset in compact.indices {
            guard compact[offset] == UInt8(ascii: ".") else {
                parts[parts.count - 1].append(compact[offset])
                continue
            }
            parts.append([])
        }
        guard parts.count == 3 else {
            return "The provider token is not a JWT, which has three parts separated by dots."
        }
        if let defect = defect(ofHeader: parts[0]) ?? defect(ofClaims: parts[1]) { return defect }
        return "The provider token's signature is not base64: sign the first two parts with ES256."
    }

    private static func defect(ofHeader part: [UInt8]) -> String? {
        guard let text = Base64.decode(part.span), let header = try? JSONValue(parsing: text.span),
            header.members != nil
        else { return "The provider token's header is not a JSON object in base64." }
        guard let algorithm = header["alg"]?.string, Algorithm(rawValue: algorithm) != nil else {
            return "The provider token's alg is not ES256: sign with the .p8 file that 'posthorn key create' wrote."
        }
        guard let keyID = header["kid"]?.string, isIdentifier(keyID) else {
            return "The provider token's kid is missing, or not ten characters of A-Z and 0-9: see 'posthorn key list'."
        }
        return Header(text) == nil
            ? "The provider token's header contains crit, or contains alg or kid twice: remove that member." : nil
    }

    private static func defect(ofClaims part: [UInt8]) -> String? {
        guard let text = Base64.decode(part.span), let claims = try? JSONValue(parsing: text.span),
            claims.members != nil
        else { return "The provider token's claims are not a JSON object in base64." }
        guard let teamID = claims["iss"]?.string, isIdentifier(teamID) else {
            return "The provider token's iss is missing, or not a team ID of ten characters: see 'posthorn key list'."
        }
        guard claims["iat"] != nil else {
            return "The provider token's iat is missing: set it to the time of signing in UNIX seconds."
        }
        return Claims(text) == nil
            ? "The provider token's iat is not a number of UNIX seconds, or it contains iss or iat twice." : nil
    }
}
