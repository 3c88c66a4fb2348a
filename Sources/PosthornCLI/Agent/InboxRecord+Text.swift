// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushAPI
internal import PushCore

extension InboxRecord {
    /// The title and body in one line; the other parts if there is no text.
    var summary: String {
        let texts = [title, body].filter { !$0.isEmpty }
        return texts.isEmpty ? parts : texts.joined(separator: ": ")
    }

    /// The parts of a notification without text, for example `badge 3`.
    var parts: String {
        effects.map { effect in
            let part = effect.prefix { $0 != ":" }
            return part == "badge" ? badge.map { "badge \($0)" } ?? "badge" : String(part)
        }.joined(separator: ", ")
    }

    private var badge: Int64? {
        let value = try? JSONValue(parsing: Array(payload.utf8).span)
        return value?["aps"]?["badge"]?.integer
    }

    /// The app's name, after a remark if the app gave itself this name.
    var shownAppTitle: String {
        isVerified || appID.isEmpty ? appTitle : "unverified: \(appTitle)"
    }

    /// The delivery state and the reason for it.
    var outcome: String {
        guard reason.isEmpty, state == "shown" else { return reason.isEmpty ? state : "\(state): \(reason)" }
        // The notification was shown without an alert, so the text names the parts that the user noticed.
        guard let missing = effects.first(where: { $0.hasPrefix("alert:") }) else { return state }
        let parts = effects.filter { !$0.contains(":") }.joined(separator: " and ")
        return "\(state): \(parts) only, \(missing.dropFirst("alert:".count))"
    }

    /// The delivery state, the reason, and the meaning of the reason's word.
    var explainedOutcome: String {
        let detail = TraceDetail(deviceReason: reason)
        return detail == .otherReason ? outcome : detail.meaning.map { "\(outcome) (\($0))" } ?? outcome
    }
}
