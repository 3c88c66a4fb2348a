// SPDX-License-Identifier: Apache-2.0

/// The part of a request before its body, parsed strictly and line by line.
///
/// Everything that two programs could interpret differently is rejected: such ambiguities make request smuggling
/// possible.
///
/// - SeeAlso: RFC 9112, sections 3, 5 and 6; RFC 9110, section 5.5
struct HTTP1Head {
    /// The way in which the end of the body is found.
    enum Framing: Equatable {
        /// A body of this many bytes; zero without a `content-length`.
        case length(Int)
        /// A body that ends with the chunk of size zero.
        case chunked
    }

    private(set) var method = Method.other
    /// The position of the path in `fields.bytes`.
    private(set) var path: Range<Int> = 0..<0
    var fields = FieldTable()
    /// Whether the request line says HTTP/1.0.
    private(set) var isVersion10 = false
    /// Whether the connection stays open: neither HTTP/1.0 nor `connection: close`.
    private(set) var keepsAlive = true
    /// Whether the peer waits for `100 Continue` before it sends the body.
    private(set) var expectsContinue = false

    private var byteCount = 0
    private var contentLength: Int?
    private var isChunked = false
    private var hostCount = 0

    init() {}

    /// Resets the head for another request and keeps the memory.
    mutating func removeAll() {
        var fields = FieldTable()
        swap(&fields, &self.fields)
        fields.removeAll()
        self = HTTP1Head()
        self.fields = fields
    }

    /// The framing of the body, valid after `finish`.
    var framing: Framing { isChunked ? .chunked : .length(contentLength ?? 0) }

    /// Parses `method SP target SP version`.
    mutating func takeRequestLine(_ line: Span<UInt8>) throws(HTTP1Failure) {
        guard let methodEnd = line.firstIndex(of: UInt8(ascii: " "), from: 0),
            let targetEnd = line.firstIndex(of: UInt8(ascii: " "), from: methodEnd + 1)
        else { throw .malformed("request line") }
        let methodName = line.extracting(0..<methodEnd)
        guard methodName.isToken else { throw .malformed("method") }
        try takeVersion(line.extracting((targetEnd + 1)..<line.count))
        method = Method(methodName)
        let target = line.extracting((methodEnd + 1)..<targetEnd)
        try takeTarget(target, isOptions: methodName.equals("OPTIONS"))
        byteCount = line.count
    }

    /// Parses one field and applies those that control the message.
    mutating func takeField(_ line: Span<UInt8>, limits: HTTPSessionLimits) throws(HTTP1Failure) {
        let colon = try append(line, limits: limits)
        let value = line.trimmingBlanks((colon + 1)..<line.count)
        try note(line.extracting(0..<colon), line.extracting(value))
    }

    /// Parses one field after the body, which is only checked.
    mutating func takeTrailer(_ line: Span<UInt8>, limits: HTTPSessionLimits) throws(HTTP1Failure) {
        _ = try append(line, limits: limits)
    }

    /// Checks all fields together.
    mutating func finish() throws(HTTP1Failure) {
        guard hostCount == 1 || (isVersion10 && hostCount == 0) else { throw .malformed("host") }
        guard !isChunked || (contentLength == nil && !isVersion10) else { throw .malformed("transfer-encoding") }
        if isVersion10 { expectsContinue = false }
    }

    private mutating func takeVersion(_ version: Span<UInt8>) throws(HTTP1Failure) {
        guard version.count == 8, version.starts(with: "HTTP/"), version[5].isDigit, version[6] == UInt8(ascii: "."),
            version[7].isDigit
        else { throw .malformed("version") }
        guard version[5] == UInt8(ascii: "1") else { throw .versionUnsupported }
        isVersion10 = version[7] == UInt8(ascii: "0")
        keepsAlive = !isVersion10
    }

    /// Keeps the path of an origin-form, absolute-form or asterisk-form target.
    private mutating func takeTarget(_ target: Span<UInt8>, isOptions: Bool) throws(HTTP1Failure) {
        guard target.count > 0, target.isVisibleASCII, target.firstIndex(of: UInt8(ascii: "#"), from: 0) == nil else {
            throw .malformed("target")
        }
        if target[0] == UInt8(ascii: "/") || (isOptions && target.equals("*")) {
            path = fields.appendBytes(target)
            return
        }
        guard let authority = target.startOfAuthority else { throw .malformed("target") }
        var pathStart = authority
        while pathStart < target.count, target[pathStart] != UInt8(ascii: "/"), target[pathStart] != UInt8(ascii: "?") {
            pathStart += 1
        }
        guard pathStart > authority else { throw .malformed("target") }
        let start = fields.bytes.count
        if pathStart == target.count || target[pathStart] == UInt8(ascii: "?") { _ = fields.appendBytes([0x2F].span) }
        path = start..<fields.appendBytes(target.extracting(pathStart..<target.count)).upperBound
    }

    /// Checks one field and keeps it; returns the position of its colon.
    private mutating func append(_ line: Span<UInt8>, limits: HTTPSessionLimits) throws(HTTP1Failure) -> Int {
        // A line that begins with a space would continue the previous line (obs-fold); a name with a space is not a
        // token either.
        guard let colon = line.firstIndex(of: UInt8(ascii: ":"), from: 0) else { throw .malformed("field line") }
        let name = line.extracting(0..<colon)
        guard name.isToken else { throw .malformed("field name") }
        let value = line.extracting(line.trimmingBlanks((colon + 1)..<line.count))
        guard value.isFieldValue else { throw .malformed("field value") }
        byteCount += name.count + value.count + 32
        guard byteCount <= limits.headerListByteCountMax, fields.fields.count < limits.headerFieldCountMax else {
            throw .headTooLarge
        }
        fields.append(lowercasing: name, value: value)
        return colon
    }

    /// Records a field that controls the rest of the message.
    private mutating func note(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(HTTP1Failure) {
        if name.equalsIgnoringCase("host") {
            guard value.isAuthority else { throw .malformed("host") }
            hostCount += 1
        } else if name.equalsIgnoringCase("content-length") {
            guard contentLength == nil, let length = value.decimal else { throw .malformed("content-length") }
            contentLength = length
        } else if name.equalsIgnoringCase("transfer-encoding") {
            guard !isChunked, value.equalsIgnoringCase("chunked") else { throw .malformed("transfer-encoding") }
            isChunked = true
        } else if name.equalsIgnoringCase("connection") {
            if value.listContains("close") { keepsAlive = false }
        } else if name.equalsIgnoringCase("expect") {
            guard value.equalsIgnoringCase("100-continue") else { throw .expectationUnknown }
            expectsContinue = true
        }
    }
}
