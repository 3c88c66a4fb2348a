// SPDX-License-Identifier: Apache-2.0

/// One request of the admin API.
package struct AdminRequest: Equatable, Sendable {
    /// For example `GET`.
    package let method: String
    /// For example `/v1/apps/org.example.Mail`.
    package let path: String
    /// JSON; empty for none.
    package let body: [UInt8]

    /// Asks for something.
    package static func get(_ segments: String...) -> AdminRequest {
        AdminRequest(method: "GET", path: path(segments), body: [])
    }

    /// Removes something.
    package static func delete(_ segments: String...) -> AdminRequest {
        AdminRequest(method: "DELETE", path: path(segments), body: [])
    }

    /// Makes something.
    package static func post(_ segment: String, _ body: (any Encodable)? = nil) -> AdminRequest {
        AdminRequest(method: "POST", path: path([segment]), body: body.map(JSONText.encodeKnown) ?? [])
    }

    /// Makes something that belongs to something else.
    package static func post(_ segments: [String], _ body: any Encodable) -> AdminRequest {
        AdminRequest(method: "POST", path: path(segments), body: JSONText.encodeKnown(body))
    }

    /// Changes something.
    package static func patch(_ segments: String..., body: any Encodable) -> AdminRequest {
        AdminRequest(method: "PATCH", path: path(segments), body: JSONText.encodeKnown(body))
    }

    /// Sets something.
    package static func put(_ segments: String..., body: any Encodable) -> AdminRequest {
        AdminRequest(method: "PUT", path: path(segments), body: JSONText.encodeKnown(body))
    }

    /// The same with parameters.
    package func with(_ parameters: [(name: String, value: String)]) -> AdminRequest {
        let texts = parameters.map { "\($0.name)=\(URLText.segment($0.value))" }
        return AdminRequest(method: method, path: "\(path)?\(texts.joined(separator: "&"))", body: body)
    }

    /// The same for what is of one environment; of both when nil.
    package func of(environment: String?) -> AdminRequest {
        guard let environment else { return self }
        return AdminRequest(method: method, path: "\(path)?environment=\(URLText.segment(environment))", body: body)
    }

    private static func path(_ segments: [String]) -> String {
        "/v1/" + segments.map(URLText.segment).joined(separator: "/")
    }
}

/// Texts as parts of a URL.
enum URLText {
    /// One segment of a path: everything but RFC 3986's unreserved characters is escaped.
    static func segment(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var escaped: [UInt8] = []
        // "." and ".." would be taken out of the path.
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
