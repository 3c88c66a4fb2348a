// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// A JSON file that stands for options of `posthorn send`, for example `{"topic": "…", "payload": {"aps": {}}}`.
package struct RequestFile: Equatable, Sendable {
    /// No file.
    package static let none = RequestFile(values: [], payload: nil)

    /// The member `payload`, byte for byte as the file has it.
    package let payload: [UInt8]?
    private let values: [Value]

    private struct Value: Equatable, Sendable {
        let name: String
        let text: String
    }

    private init(values: [Value], payload: [UInt8]?) {
        self.values = values
        self.payload = payload
    }

    /// Reads a file.
    ///
    /// - Parameter path: The file; `-` for standard input.
    /// - Throws: When it cannot be read, is no JSON object, or has a member that is no option.
    package init(path: String) throws(CommandError) {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try LocalFile.read(path) } catch { throw .file(error) }
        try self.init(bytes, path: path)
    }

    /// Reads the content of a file.
    ///
    /// - Parameters:
    ///   - bytes: JSON.
    ///   - path: The file's name, for messages.
    /// - Throws: When it is no JSON object, or has a member that is no option.
    package init(_ bytes: [UInt8], path: String) throws(CommandError) {
        let members: [JSONValue.Member]
        do throws(JSONError) {
            try JSONValidator.validateObject(bytes.span)
            members = try JSONValue(parsing: bytes.span).members ?? []
            payload = try JSONValue.rawRange(of: "payload", in: bytes.span).map { Array(bytes[$0]) }
        } catch {
            throw .badFile(
                path: path, problem: "no JSON object, at byte \(error.offset): \(error.problem.sentence)",
                remedy: "'posthorn send --help' shows the names that it may hold.")
        }
        values = try Self.values(of: members, path: path)
    }

    /// The text of a member, a number's digits included; nil when there is none.
    package subscript(name: String) -> String? { values.last { $0.name.utf8.elementsEqual(name.utf8) }?.text }

    private static func values(of members: [JSONValue.Member], path: String) throws(CommandError) -> [Value] {
        var values: [Value] = []
        for member in members {
            if member.key == "payload" {
                // Not the option's file name: the payload itself, whose bytes are cut out of the text.
                guard member.value.members != nil else { throw badMember(member.key, path: path) }
            } else if SendOptions.table.find(member.key) != nil, let text = text(of: member.value) {
                values.append(Value(name: member.key, text: text))
            } else {
                throw badMember(member.key, path: path)
            }
        }
        return values
    }

    private static func text(of value: JSONValue) -> String? {
        value.string ?? value.integer.map { "\($0)" }
    }

    private static func badMember(_ name: String, path: String) -> CommandError {
        if name == "payload" {
            return .badFile(path: path, problem: "'payload' is no object", remedy: "Write the payload itself there.")
        }
        guard SendOptions.table.find(name) == nil else {
            return .badFile(
                path: path, problem: "'\(name)' is neither a text nor a whole number", remedy: "Put it in quotes.")
        }
        let closest = SendOptions.table.closest(to: name).map { "Did you mean '\($0)'? " } ?? ""
        return .badFile(
            path: path, problem: "'\(name)' is no option of send",
            remedy: "\(closest)'posthorn send --help' shows the names that it may hold.")
    }
}
