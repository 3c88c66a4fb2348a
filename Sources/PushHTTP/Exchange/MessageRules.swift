// SPDX-License-Identifier: Apache-2.0

/// Checks whether a request over HTTP/2 follows the rules for messages; without I/O and without allocations.
///
///     pseudoFields ─▶ regularFields ─▶ body ─▶ trailers
///          └────────────────────────────▶┘            any ─▶ malformed
///
/// nghttp2 has such checks, but resets a stream for a `:path` with a space in it, and clients wait forever after such a
/// reset. So its checks are off. The checks here replace them and let such a path through to the code that can report
/// the problem.
///
/// - SeeAlso: RFC 9113, section 8; RFC 9110, sections 5.1, 5.5 and 10.1.4
struct MessageRules {
    private enum Phase {
        case pseudoFields
        case regularFields
        case body
        case trailers
        case malformed
    }

    /// The fields that may occur at most once, and a method that has rules of its own.
    private struct Findings: OptionSet {
        let rawValue: UInt8

        static let method = Findings(rawValue: 1 << 0)
        static let scheme = Findings(rawValue: 1 << 1)
        static let path = Findings(rawValue: 1 << 2)
        static let authority = Findings(rawValue: 1 << 3)
        static let host = Findings(rawValue: 1 << 4)
        static let isConnect = Findings(rawValue: 1 << 5)
    }

    private var phase = Phase.pseudoFields
    private var findings = Findings()
    /// The value of `content-length`.
    private var contentByteCount: Int?
    private var receivedByteCount = 0

    init() {}

    /// Checks a field of the head or of the trailers.
    ///
    /// - Parameters:
    ///   - name: The name as received.
    ///   - value: The value as received, with any spaces around it.
    /// - Returns: Whether the request is valid so far; an invalid request stays invalid.
    mutating func takeField(name: Span<UInt8>, value: Span<UInt8>) -> Bool {
        let isPseudo = name.count > 0 && name[0] == UInt8(ascii: ":")
        guard isPseudo ? takePseudoField(name, value) : takeRegularField(name, value) else { return fail() }
        return true
    }

    /// Checks the fields at the end of the head or of the trailers.
    ///
    /// - Parameter endsRequest: Whether the frame had END_STREAM.
    /// - Returns: Whether the request is valid so far.
    mutating func endFields(endsRequest: Bool) -> Bool {
        switch phase {
        case .pseudoFields, .regularFields:
            guard isComplete else { return fail() }
            phase = .body
        case .body, .trailers: guard endsRequest else { return fail() }
        case .malformed: return false
        }
        return endsRequest ? endRequest() : true
    }

    /// Checks the length of the body after another piece of it.
    ///
    /// - Parameter byteCount: The size of the piece without padding.
    /// - Returns: Whether the request is valid so far.
    mutating func takeData(byteCount: Int) -> Bool {
        guard phase == .body else { return fail() }
        receivedByteCount += byteCount
        guard let contentByteCount, receivedByteCount > contentByteCount else { return true }
        return fail()
    }

    /// Checks the request at END_STREAM, after the last piece of the body or the last trailer.
    ///
    /// - Returns: Whether the request is valid.
    mutating func endRequest() -> Bool {
        guard phase != .malformed else { return false }
        guard let contentByteCount, receivedByteCount != contentByteCount else { return true }
        return fail()
    }

    private mutating func fail() -> Bool {
        phase = .malformed
        return false
    }

    // MARK: Fields

    private mutating func takePseudoField(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
        guard phase == .pseudoFields else { return false }
        switch name.count {
        case 5 where name.equals(":path"): return value.isLenientPath && find(.path)
        case 7 where name.equals(":method"):
            if value.equals("CONNECT") { findings.insert(.isConnect) }
            return (Method(value) != .other || value.isToken) && find(.method)
        case 7 where name.equals(":scheme"): return value.isScheme && find(.scheme)
        case 10 where name.equals(":authority"): return value.count > 0 && value.isAuthority && find(.authority)
        default: return false
        }
    }

    private mutating func takeRegularField(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
        switch phase {
        case .pseudoFields: phase = .regularFields
        case .body: phase = .trailers
        case .regularFields, .trailers: break
        case .malformed: return false
        }
        guard name.isLowercaseToken, value.isFieldValue else { return false }
        switch name.count {
        case 2 where name.equals("te"): return value.equalsIgnoringCase("trailers")
        case 4 where name.equals("host"): return value.count > 0 && value.isAuthority && find(.host)
        case 14 where name.equals("content-length"): return takeContentLength(value)
        case 7, 10, 16, 17: return !name.isOfConnection
        default: return true
        }
    }

    private mutating func takeContentLength(_ value: Span<UInt8>) -> Bool {
        guard contentByteCount == nil, let byteCount = value.decimal else { return false }
        contentByteCount = byteCount
        return true
    }

    /// Notes a field that may occur once; returns false if it occurred before.
    private mutating func find(_ finding: Findings) -> Bool { findings.insert(finding).inserted }

    /// Whether a head has all required fields.
    ///
    /// RFC 9113 does not require an authority, and clients that are tested against the server may send none.
    private var isComplete: Bool {
        if findings.contains(.isConnect) {
            return findings.contains(.authority) && findings.isDisjoint(with: [.scheme, .path])
        }
        return findings.isSuperset(of: [.method, .scheme, .path])
    }
}

extension Span where Element == UInt8 {
    /// Whether these bytes are a token without capital letters, as required for a field's name.
    fileprivate var isLowercaseToken: Bool {
        count > 0 && (isLowercaseWords || allSatisfy { $0.isTokenCharacter && $0.asciiLowercased == $0 })
    }

    /// Whether these bytes may be passed on as a path: not empty, and without bytes that end a line or a C string.
    fileprivate var isLenientPath: Bool { count > 0 && isWithoutLineEnds }

    /// Whether these bytes are the scheme of a URI (RFC 3986, section 3.1).
    fileprivate var isScheme: Bool {
        if equals("https") { return true }
        guard count > 0, self[0].isLetter else { return false }
        return allSatisfy { byte in
            byte.isLetter || byte.isDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: ".")
        }
    }

    /// Whether these bytes name a field that is specific to an HTTP/1.1 connection (RFC 9113, section 8.2.2).
    fileprivate var isOfConnection: Bool {
        switch count {
        case 7: equals("upgrade")
        case 10: equals("connection") || equals("keep-alive")
        case 16: equals("proxy-connection")
        case 17: equals("transfer-encoding")
        default: false
        }
    }
}
