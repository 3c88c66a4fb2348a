// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// A request that differs from a valid one, named after the case of docs/reference/conformance.md that it repeats.
struct EndpointCase: Sendable {
    let id: String
    var method = "POST"
    /// The path; nil for the path of a notification to `token`.
    var path: String?
    /// The device token in the path; nil for the valid one.
    var token: (@Sendable (ProviderObjects) -> String)?
    /// The value of `authorization`; nil for the valid one.
    var authorization: (@Sendable (ProviderObjects) throws -> String)?
    /// The fields that the valid request has and this one lacks.
    var without: [String] = []
    /// The fields that replace those of the valid request.
    var fields: [String: String] = [:]
    /// The fields that come in addition.
    var extra: [(String, String)] = []
    var body = EndpointCase.alert
    /// Whether the request goes to the port for channel management.
    var isForChannels = false

    static let alert = Array(#"{"aps":{"alert":"Hello"}}"#.utf8)

    /// Returns the header fields of the request.
    func header(_ objects: ProviderObjects) throws -> [(String, String)] {
        let path = path?.replacing("{token}", with: objects.token) ?? "/3/device/\(token?(objects) ?? objects.token)"
        var result = [(":method", method), (":scheme", "https"), (":path", path), (":authority", "localhost")]
        var ordinary = [
            "authorization": try authorization?(objects) ?? objects.main.authorization(),
            "apns-topic": ProviderObjects.topic, "apns-push-type": "alert",
        ]
        ordinary.merge(fields) { $1 }
        result += ordinary.filter { !without.contains($0.key) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return result + extra
    }
}

/// The answers that docs/reference/conformance.md requires.
enum ConformanceAnswers {
    /// The status and the reason of each case that requires nothing else, by the ID of the case.
    static let all: [String: (status: Int, reason: String?)] = {
        var all: [String: (status: Int, reason: String?)] = [:]
        for line in readText("\(RepositoryPaths.root)/docs/reference/conformance.md").split(separator: "\n") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count >= 3, let answer = cells[2].wholeMatch(of: /(\d{3})(?: `(\w+)`)?/) else { continue }
            all[cells[0]] = (Int(answer.1) ?? 0, answer.2.map(String.init))
        }
        return all
    }()
}
