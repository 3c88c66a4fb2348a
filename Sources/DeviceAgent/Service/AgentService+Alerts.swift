// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushDBus

extension AgentService {
    /// Answers the methods about alerts that wait in the panel; returns nil for other methods.
    func answerAboutAlerts(_ call: IncomingCall, _ arguments: Arguments) throws(AgentRefusal) -> [BusValue]? {
        switch call.member {
        case "ListAlerts":
            let alerts = try agent.waitingAlerts(for: call.sender)
            return [.array("a{sv}", alerts.map { .dictionary($0.dictionary) })]
        case "AnswerAlert":
            let token = AlertOutcome.activationToken(try arguments.text(4))
            try agent.answerAlert(try arguments.int64(0), try Self.outcome(arguments, token))
            return []
        default: return nil
        }
    }

    /// Opens an app and replies when that succeeded or failed; returns false for other methods.
    func openApp(_ call: IncomingCall, _ reply: BusReply) throws(AgentRefusal) -> Bool {
        let arguments = Arguments(call)
        let finish: (Result<Void, AgentRefusal>) -> Void = {
            reply.answer($0.map { [] }.mapError(BusError.init))
        }
        switch call.member {
        case "OpenEntry":
            let token = AlertOutcome.activationToken(try arguments.text(1))
            agent.openEntry(try arguments.int64(0), activationToken: token, completion: finish)
        case "OpenApp":
            let token = AlertOutcome.activationToken(try arguments.text(1))
            agent.openApp(try arguments.text(0), activationToken: token, completion: finish)
        default: return false
        }
        return true
    }

    private static func outcome(_ arguments: Arguments, _ token: String?) throws(AgentRefusal) -> AlertOutcome {
        let answer = try arguments.text(1)
        switch answer {
        case "view": return .view(activationToken: token)
        case "close": return .dismissed
        case "action":
            let text = try arguments.text(3)
            return .action(id: try arguments.text(2), text: text.isEmpty ? nil : text, activationToken: token)
        default: throw AgentRefusal(.badValue, "An answer is view, close or action, and not '\(answer)'.")
        }
    }
}

extension Agent.WaitingAlert {
    /// The dictionary that ListAlerts returns.
    fileprivate var dictionary: [(String, BusValue)] {
        [
            ("entry", .variant(.int64(alert.entry))), ("app_id", .variant(.text(alert.appID))),
            ("app_name", .variant(.text(alert.appName))), ("icon", .variant(.text(alert.icon ?? ""))),
            ("title", .variant(.text(alert.title ?? ""))), ("subtitle", .variant(.text(alert.subtitle ?? ""))),
            ("body", .variant(.text(alert.body ?? ""))), ("view_label", .variant(.text(alert.viewLabel ?? ""))),
            ("actions", .variant(.array("a{sv}", alert.actions.map { .dictionary($0.dictionary) }))),
            ("received_at", .variant(.int64(receivedUnixMilliseconds))),
            ("earlier", .variant(.uint32(UInt32(clamping: alert.earlierCount)))),
        ]
    }
}

extension AppManifest.Action {
    fileprivate var dictionary: [(String, BusValue)] {
        [
            ("id", .variant(.text(id))), ("title", .variant(.text(title))),
            ("takes_text", .variant(.bool(takesText))),
        ]
    }
}
