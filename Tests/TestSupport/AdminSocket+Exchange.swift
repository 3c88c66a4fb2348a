// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension AdminSocket {
    /// Any answer of the admin API, refusals too.
    package struct Answer: Sendable {
        /// The HTTP status.
        package let status: Int
        /// The field `allow`; nil when there is none.
        package let allowed: String?
        /// JSON; empty for none.
        package let body: String

        /// A member of the body's object as text: a string itself, anything else as it is described.
        package subscript(name: String) -> String? {
            let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            return object?[name].map { "\($0)" }
        }

        /// Decodes the body.
        ///
        /// - Parameter type: What to make of it.
        /// - Returns: The value.
        /// - Throws: `DecodingError`.
        package func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
            try JSONDecoder().decode(type, from: Data(body.utf8))
        }
    }

    /// Sends a request and takes whatever comes.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - target: The path as it goes onto the wire.
    ///   - body: The bytes of the body; none when nil.
    /// - Returns: The answer.
    /// - Throws: `UnexpectedOutput` when there is none.
    package func exchange(_ method: String, _ target: String, _ body: String? = nil) async throws -> Answer {
        let mark = "\u{1F}"
        var arguments = ["-sS", "--max-time", "60", "--path-as-is", "--unix-socket", path, "-X", method]
        arguments += ["-w", "\(mark)%{http_code}\(mark)%header{allow}"]
        if let body { arguments += ["-H", "content-type: application/json", "--data-binary", body] }
        if method == "HEAD" { arguments += ["--head", "-o", "/dev/null"] }
        let result = try await RunningProcess.run(
            try RepositoryPaths.tool("curl"), arguments + ["http://posthorn\(target)"]
        ).succeeded()
        let parts = result.output.components(separatedBy: mark)
        guard parts.count == 3, let status = Int(parts[1]) else {
            throw UnexpectedOutput(result: result, problem: "it should end with status and fields")
        }
        return Answer(status: status, allowed: parts[2].isEmpty ? nil : parts[2], body: parts[0])
    }
}
