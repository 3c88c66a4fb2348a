// SPDX-License-Identifier: Apache-2.0

/// The contents of a provider token before its signature is verified; do not trust them until then.
///
/// A provider token is a JSON Web Token in compact form: header, claims and signature, each in base64, separated by
/// dots. Members that this type does not name are ignored, because real clients send them. A member that it names must
/// occur once. Existing clients write `iat` in three ways and use both base64 alphabets.
///
/// - SeeAlso: RFC 7515, section 7.1; RFC 8725
package struct ProviderToken: Sendable, Equatable {
    /// The signature algorithm; every other algorithm is refused.
    package enum Algorithm: String, Sendable {
        case es256 = "ES256"
        /// SHA-512 with a P-256 key, which some clients use; Apple does not document it but accepts it.
        case es512 = "ES512"
    }

    /// The `kid`: ten characters of `A` to `Z` and `0` to `9`.
    package var keyID: String
    /// The `iss`: ten characters of `A` to `Z` and `0` to `9`.
    package var teamID: String
    /// The `iat`, from 0 to 10^12, so that no difference from the current time overflows.
    package var issuedAt: Timestamp
    package var algorithm: Algorithm
    /// The decoded signature: R and S, or their DER form.
    package var signature: [UInt8]
    /// The number of leading bytes of the compact token that are signed.
    package var signedByteCount: Int

    /// Finds the compact token in a value of the `authorization` field; the scheme is case-insensitive.
    ///
    /// The range extends to the end of the value, so trailing whitespace becomes part of the token.
    ///
    /// - Parameter value: The field's value.
    /// - Returns: The range after `bearer` and whitespace; nil for another scheme and for an empty token.
    /// - SeeAlso: RFC 9110, section 11.1
    package static func compactToken(inAuthorization value: Span<UInt8>) -> Range<Int>? {
        let scheme = "bearer"
        let schemeByteCount = scheme.utf8.count
        guard value.count > schemeByteCount, isBlank(value[schemeByteCount]),
            value.extracting(first: schemeByteCount).isEqualIgnoringCase(to: scheme)
        else { return nil }
        var start = schemeByteCount
        while start < value.count, isBlank(value[start]) { start += 1 }
        return start < value.count ? start..<value.count : nil
    }

    /// Parses a compact token; returns nil if it is malformed or lacks a member that APNs requires.
    ///
    /// - Parameter compact: The header, claims and signature, separated by dots.
    package init?(compact: Span<UInt8>) {
        guard compact.count <= Limits.providerTokenByteCountMax, let (first, second) = Self.dots(in: compact),
            let headerText = Base64.decode(compact.extracting(0..<first)),
            let claimsText = Base64.decode(compact.extracting(first + 1..<second)),
            let signature = Base64.decode(compact.extracting(second + 1..<compact.count)), !signature.isEmpty,
            let header = Header(headerText), let claims = Claims(claimsText)
        else { return nil }
        keyID = header.keyID
        teamID = claims.teamID
        issuedAt = claims.issuedAt
        algorithm = header.algorithm
        self.signature = signature
        signedByteCount = second
    }

    /// Returns the offsets of the dots if there are exactly two.
    private static func dots(in compact: Span<UInt8>) -> (first: Int, second: Int)? {
        var places: [Int] = []
        for offset in compact.indices where compact[offset] == UInt8(ascii: ".") {
            guard places.count < 2 else { return nil }
            places.append(offset)
        }
        return places.count == 2 ? (places[0], places[1]) : nil
    }

    /// Returns whether a byte may separate scheme and token.
    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}

extension ProviderToken {
    /// The header of a provider token.
    struct Header {
        var keyID: String
        var algorithm: Algorithm

        init?(_ text: [UInt8]) {
            guard let object = try? JSONValue(parsing: text.span), object.count(of: "crit") == 0,
                object.count(of: "alg") == 1, let name = object["alg"]?.string,
                let algorithm = Algorithm(rawValue: name),
                object.count(of: "kid") == 1, let keyID = object["kid"]?.string, isIdentifier(keyID)
            else { return nil }
            self.keyID = keyID
            self.algorithm = algorithm
        }
    }

    /// The claims of a provider token.
    struct Claims {
        private static let secondsMax: Int64 = 1_000_000_000_000

        var teamID: String
        var issuedAt: Timestamp

        init?(_ text: [UInt8]) {
            guard let object = try? JSONValue(parsing: text.span),
                object.count(of: "iss") == 1, let teamID = object["iss"]?.string, isIdentifier(teamID),
                object.count(of: "iat") == 1, let iat = object["iat"],
                let seconds = Self.seconds(iat), (0...Self.secondsMax).contains(seconds)
            else { return nil }
            self.teamID = teamID
            self.issuedAt = Timestamp(unixSeconds: seconds)
        }

        /// Parses a time that is an integer, a float or a string of digits; drops the fraction of a second.
        private static func seconds(_ value: JSONValue) -> Int64? {
            switch value {
            case .integer(let seconds): seconds
            case .number: value.double.flatMap { (0...Double(secondsMax)).contains($0) ? Int64($0) : nil }
            case .string(let digits): Decimal.parse(digits.utf8.span)
            case .null, .bool, .array, .object: nil
            }
        }
    }

    /// Returns whether a text is ten characters of `A` to `Z` and `0` to `9`.
    static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                Decimal.isDigit(byte) || UInt8(ascii: "A") <= byte && byte <= UInt8(ascii: "Z")
            }
    }
}

extension JSONValue {
    /// Returns the number of an object's members with this name; 0 for any other value.
    fileprivate func count(of key: String) -> Int {
        members?.count { $0.key.utf8.elementsEqual(key.utf8) } ?? 0
    }
}
