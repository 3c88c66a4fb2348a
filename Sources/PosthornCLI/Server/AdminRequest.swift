// SPDX-License-Identifier: Apache-2.0

/// A request to the admin API.
package struct AdminRequest: Equatable, Sendable {
    /// The HTTP method, for example `GET`.
    let method: String
    /// The path with its query, for example `/v1/apps/org.example.Mail`.
    let path: String
    /// The JSON body; empty for a request without a body.
    let body: [UInt8]
    /// The path segments after `/v1/`, without percent escapes.
    private(set) var segments: [String] = []

    /// Builds a GET request.
    static func get(_ segments: String...) -> AdminRequest {
        AdminRequest("GET", segments)
    }

    /// Builds a DELETE request.
    static func delete(_ segments: String...) -> AdminRequest {
        AdminRequest("DELETE", segments)
    }

    /// Builds a POST request that creates a resource.
    static func post(_ segment: String, _ body: (any Encodable)? = nil) -> AdminRequest {
        AdminRequest("POST", [segment], body: body)
    }

    /// Builds a POST request that creates a resource below another one.
    static func post(_ segments: [String], _ body: (any Encodable)? = nil) -> AdminRequest {
        AdminRequest("POST", segments, body: body)
    }

    /// Builds a POST request with a body in JSON.
    static func post(_ segments: [String], json: [UInt8]) -> AdminRequest { AdminRequest("POST", segments, json: json) }

    /// Builds a PATCH request.
    static func patch(_ segments: String..., body: any Encodable) -> AdminRequest {
        AdminRequest("PATCH", segments, body: body)
    }

    /// Builds a PUT request.
    static func put(_ segments: String..., body: any Encodable) -> AdminRequest {
        AdminRequest("PUT", segments, body: body)
    }

    /// Returns the request with query parameters appended.
    func with(_ parameters: [(name: String, value: String)]) -> AdminRequest {
        let texts = parameters.map { "\($0.name)=\(URLText.segment($0.value))" }
        return AdminRequest(self, path: "\(path)?\(texts.joined(separator: "&"))")
    }

    /// Returns the request restricted to one environment; nil means both.
    func of(environment: String?) -> AdminRequest {
        guard let environment else { return self }
        return AdminRequest(self, path: "\(path)?environment=\(URLText.segment(environment))")
    }

    private init(_ method: String, _ segments: [String], body: (any Encodable)? = nil) {
        self.method = method
        self.segments = segments
        self.body = body.map(JSONText.encodeKnown) ?? []
        path = "/v1/" + segments.map(URLText.segment).joined(separator: "/")
    }

    private init(_ method: String, _ segments: [String], json: [UInt8]) {
        self.method = method
        self.segments = segments
        body = json
        path = "/v1/" + segments.map(URLText.segment).joined(separator: "/")
    }

    private init(_ request: AdminRequest, path: String) {
        method = request.method
        segments = request.segments
        body = request.body
        self.path = path
    }
}

/// Percent-encoding for parts of a URL.
enum URLText {
    /// Escapes one path segment: every byte except RFC 3986's unreserved characters.
    static func segment(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var escaped: [UInt8] = []
        // Path normalization would remove "." and "..", so their dots are escaped.
        let isDots = text == "." || text == ".."
        for byte in text.utf8 {
            if isUnreserved(byte) && !isDots {
                escaped.append(byte)
            } else {
                escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default:
            false
        }
    }
}
