// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PushAPI
internal import PushCore

extension AdminClient {
    /// Sends a request that carries topics from the command line, and decodes the answer.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - type: The type of the answer.
    ///   - topics: The topics, as the user typed them.
    /// - Returns: The answer.
    /// - Throws: The errors of `send`; for an unknown topic, the error suggests the closest known one.
    func send<Answer: Decodable>(
        _ request: AdminRequest, for type: Answer.Type, about topics: [TopicName]
    ) throws(CommandError) -> Answer {
        do throws(CommandError) { return try send(request, for: type) } catch { throw advised(error, topics) }
    }

    /// Sends a request that carries topics from the command line and whose answer has no body.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - topics: The topics, as the user typed them.
    /// - Throws: The errors of `send`; for an unknown topic, the error suggests the closest known one.
    func send(_ request: AdminRequest, about topics: [TopicName]) throws(CommandError) {
        do throws(CommandError) { try send(request) } catch { throw advised(error, topics) }
    }

    private func advised(_ error: CommandError, _ topics: [TopicName]) -> CommandError {
        guard error.refusal?.error == "UnknownTopic", let apps = try? send(.get("apps"), for: AdminAPI.Apps.self)
        else { return error }
        return error.advised(topics: topics, known: apps.apps.map(\.topic))
    }
}

extension CommandError {
    /// Returns this error with the name of the first unknown topic, and with a suggestion if it resembles a known one.
    ///
    /// - Parameters:
    ///   - topics: The topics, as the user typed them.
    ///   - known: The topics of the server's apps.
    /// - Returns: The error with the topic; the unchanged error when all topics are known.
    func advised(topics: [TopicName], known: [TopicName]) -> CommandError {
        for topic in topics where !known.contains(topic) {
            guard let meant = Spelling.closest(to: topic.text, among: known.map(\.text)) else {
                return .reworded(self, problem: Self.unknownTopic(topic))
            }
            return .reworded(self, problem: "no app with topic '\(topic)'. Did you mean '\(meant)'?")
        }
        return self
    }

    private static func unknownTopic(_ topic: TopicName) -> String {
        "no app with topic '\(topic)'; see 'posthorn app list'"
    }

    /// The server's refusal of an admin request; nil for other errors.
    var refusal: DeviceAPI.Failure? {
        switch self {
        case .adminRefused(_, let failure): failure
        case .reworded(let error, _), .advised(let error, _): error.refusal
        default: nil
        }
    }

    /// Returns this error with the name of the object that the request is about, if the server does not know it or
    /// already has it.
    package func naming(_ request: AdminRequest) -> CommandError {
        guard case .adminRefused(_, let failure) = self else { return self }
        // The server's sentences about backups contain the path.
        if request.segments == ["backups"], failure.detail.hasSuffix(".") {
            let sentence = failure.detail.dropLast()
            return .reworded(self, problem: sentence.prefix(1).lowercased() + sentence.dropFirst())
        }
        // The sentence about an invalid value says enough without the name of the error.
        if failure.detail.hasPrefix("Invalid "), failure.detail.hasSuffix(".") {
            return .reworded(self, problem: "i" + failure.detail.dropFirst().dropLast())
        }
        guard let problem = Self.problem(failure.error, request) else { return self }
        return .reworded(self, problem: problem)
    }

    private static func problem(_ word: String, _ request: AdminRequest) -> String? {
        let segments = request.segments
        func segment(_ index: Int, of collection: String) -> String? {
            segments.first == collection && segments.indices.contains(index) ? segments[index] : nil
        }
        switch word {
        case "UnknownTopic":
            let topic = segment(1, of: "apps") ?? segment(2, of: "quotas") ?? segment(2, of: "policies")
            return topic.map { unknownTopic(TopicName($0)) }
        case "AlreadyExists" where segments == ["apps"]:
            let app = try? JSONDecoder().decode(AdminAPI.NewApp.self, from: Data(request.body))
            return app.map { "app '\($0.topic)' already exists" }
        case "UnknownDevice":
            let device = segment(1, of: "devices") ?? segment(1, of: "policies")
            return device.map { "no device with ID '\($0)'; see 'posthorn device list'" }
        case "UnknownKey":
            let key = segment(1, of: "keys") ?? segment(2, of: "quotas")
            return key.map { "no key with ID '\($0)'; see 'posthorn key list'" }
        case "UnknownToken":
            return segment(1, of: "send-tokens").map { "no token with ID '\($0)'; see 'posthorn token list'" }
        case "UnknownTeam": return segment(2, of: "quotas").map { "no team '\($0)'; see 'posthorn team list'" }
        case "UnknownCode":
            return segment(1, of: "enrolment-codes").map { "no unused code with ID '\($0)'; see 'posthorn code list'" }
        case "UnknownChannel":
            guard segments.count > 3 else { return nil }
            return "app '\(segments[1])' has no channel '\(segments[3])'; see 'posthorn channel list \(segments[1])'"
        default: return nil
        }
    }
}
