// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension AdminSocket {
    /// An answer of the admin API, including refusals.
    package struct Answer: Sendable {
        package let status: Int
        /// The `allow` field; nil if it is missing.
        package let allowed: String?
        /// The JSON body; empty for none.
        package let body: String

        /// Returns a member of the body's JSON object as text: a string as it is, other values by their description.
        package subscript(name: String) -> String? {
            let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            return object?[name].map { "\($0)" }
        }

        /// Decodes the body.
        ///
        /// - Parameter type: The type to decode.
        /// - Returns: The value.
        /// - Throws: `DecodingError`.
        package func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
            try JSONDecoder().decode(type, from: Data(body.utf8))
        }
    }

    /// Sends a request and returns any answer.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - target: The path, which is sent unchanged.
    ///   - body: The body; nil for none.
    /// - Returns: The answer.
    /// - Throws: `UnexpectedOutput` when there is no answer.
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
