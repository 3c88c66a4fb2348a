// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushCore

/// A JSON file with options of `posthorn send`, for example `{"topic": "…", "payload": {"aps": {}}}`.
struct RequestFile: Equatable, Sendable {
    /// The empty request file, for a command line without `--file`.
    static let none = RequestFile(values: [], payload: nil)

    /// The member `payload`, with the exact bytes of the file.
    let payload: [UInt8]?
    private let values: [Value]

    private struct Value: Equatable, Sendable {
        let name: String
        let text: String
    }

    private init(values: [Value], payload: [UInt8]?) {
        self.values = values
        self.payload = payload
    }

    /// Reads a request file.
    ///
    /// - Parameter path: The path of the file; `-` for standard input.
    /// - Throws: An error when the file cannot be read, is not a JSON object, or has a member that is not an option.
    init(path: String) throws(CommandError) {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try LocalFile.read(path) } catch { throw .file(error) }
        try self.init(bytes, path: path)
    }

    /// Parses the content of a request file.
    ///
    /// - Parameters:
    ///   - bytes: The JSON text.
    ///   - path: The file's name for error messages.
    /// - Throws: An error when the text is not a JSON object, or has a member that is not an option.
    init(_ bytes: [UInt8], path: String) throws(CommandError) {
        let members: [JSONValue.Member]
        do throws(JSONError) {
            try JSONValidator.validateObject(bytes.span)
            members = try JSONValue(parsing: bytes.span).members ?? []
            payload = try JSONValue.rawRange(of: "payload", in: bytes.span).map { Array(bytes[$0]) }
        } catch {
            throw .badFile(
                path: path, problem: "not a JSON object, at byte \(error.offset): \(error.problem.sentence)",
                remedy: "See 'posthorn send --help' for the format.")
        }
        values = try Self.values(of: members, path: path)
    }

    /// Returns the text of a member, or the digits of a number; nil if the member is absent.
    subscript(name: String) -> String? { values.last { $0.name.utf8.elementsEqual(name.utf8) }?.text }

    private static func values(of members: [JSONValue.Member], path: String) throws(CommandError) -> [Value] {
        var values: [Value] = []
        for member in members {
            if member.key == "payload" {
                // In the file, `payload` is the payload itself, not a file name. Its bytes are copied verbatim.
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
            return .badFile(
                path: path, problem: "'payload' is not an object", remedy: "Use the payload itself as its value.")
        }
        guard SendOptions.table.find(name) == nil else {
            return .badFile(
                path: path, problem: "'\(name)' is neither a string nor a whole number", remedy: "Put it in quotes.")
        }
        let closest = SendOptions.table.closest(to: name).map { "Did you mean '\($0)'? " } ?? ""
        return .badFile(
            path: path, problem: "unknown option '\(name)'",
            remedy: "\(closest)See 'posthorn send --help' for the options.")
    }
}
