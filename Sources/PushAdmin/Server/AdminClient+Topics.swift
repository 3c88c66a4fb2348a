// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension AdminClient {
    /// Sends a request in which a person named topics, and decodes the answer.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - type: What the answer holds.
    ///   - topics: As they were typed.
    /// - Returns: The answer.
    /// - Throws: As `send`; when the server knows no such topic, with the one that was meant.
    func send<Answer: Decodable>(
        _ request: AdminRequest, for type: Answer.Type, about topics: [String]
    ) throws(CommandError) -> Answer {
        do throws(CommandError) { return try send(request, for: type) } catch { throw advised(error, topics) }
    }

    /// Sends a request in which a person named topics, and which is answered without a body.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - topics: As they were typed.
    /// - Throws: As `send`; when the server knows no such topic, with the one that was meant.
    func send(_ request: AdminRequest, about topics: [String]) throws(CommandError) {
        do throws(CommandError) { try send(request) } catch { throw advised(error, topics) }
    }

    private func advised(_ error: CommandError, _ topics: [String]) -> CommandError {
        guard case .adminRefused(_, let failure) = error, failure.error == "UnknownTopic",
            let apps = try? send(.get("apps"), for: AdminAPI.Apps.self)
        else { return error }
        return error.advised(topics: topics, known: apps.apps.map(\.topic))
    }
}

extension CommandError {
    /// The same error with the topic that the person may have meant.
    ///
    /// - Parameters:
    ///   - topics: As they were typed.
    ///   - known: Those of the server.
    /// - Returns: Itself when none is near.
    package func advised(topics: [String], known: [String]) -> CommandError {
        for topic in topics where !known.contains(where: { $0.utf8.elementsEqual(topic.utf8) }) {
            guard let meant = Spelling.closest(to: topic, among: known) else { continue }
            return .advised(
                self, remedy: "No app has the topic \(topic). Did you mean \(meant)? 'posthorn app list' shows all.")
        }
        return self
    }
}
