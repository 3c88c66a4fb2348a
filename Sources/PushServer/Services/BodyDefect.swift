// SPDX-License-Identifier: Apache-2.0

/// Describes the wrong member of a request body.
enum BodyDefect {
    /// Returns one sentence about a decoding error; it begins with the member's name.
    static func text(_ error: any Error) -> String {
        let unknown = "A member is missing or has the wrong type. See docs/reference in the source of Posthorn."
        guard let error = error as? DecodingError else { return unknown }
        return switch error {
        case .keyNotFound(let key, let context): "\(name(context.codingPath + [key])) is missing."
        case .typeMismatch(let type, let context): "\(name(context.codingPath)) must be \(words(for: type))."
        case .valueNotFound(let type, let context): "\(name(context.codingPath)) must be \(words(for: type)), not null."
        case .dataCorrupted(let context):
            "\(name(context.codingPath)) is invalid. See docs/reference in the source of Posthorn."
        @unknown default: unknown
        }
    }

    /// Returns the path of a member, for example `acks[3].outcome`.
    private static func name(_ path: [any CodingKey]) -> String {
        guard !path.isEmpty else { return "The body" }
        return path.reduce(into: "") { name, key in
            if let index = key.intValue {
                name += "[\(index)]"
            } else {
                name += name.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }

    /// Returns the end of a sentence that begins with a member and "must be".
    private static func words(for type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any FixedWidthInteger.Type: "a whole number"
        case is [Any].Type: "a list"
        case is [String: Any].Type: "an object"
        default: "of another type (see docs/reference in the source of Posthorn)"
        }
    }
}
