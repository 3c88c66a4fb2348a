// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushCore
internal import PushDBus

extension AgentService {
    /// Answers the methods about alerts that wait in the panel; returns nil for other methods.
    func answerAboutAlerts(
        _ method: AgentMethod, _ caller: String, _ arguments: Arguments
    ) throws(AgentRefusal) -> [BusValue]? {
        switch method {
        case .listAlerts:
            return [AlertRecord.array(try agent.alerts.waiting(for: caller).map(\.record))]
        case .answerAlert:
            let token = AlertOutcome.activationToken(try arguments.text(4))
            try agent.alerts.answer(try arguments.entryID(0), try Self.outcome(arguments, token))
            return []
        default: return nil
        }
    }

    private static func outcome(_ arguments: Arguments, _ token: String?) throws(AgentRefusal) -> AlertOutcome {
        let answer = try arguments.text(1)
        switch answer {
        case "view": return .view(activationToken: token)
        case "close": return .dismissed
        case "action":
            let text = try arguments.text(3)
            return .action(id: try arguments.text(2), text: text.isEmpty ? nil : text, activationToken: token)
        default: throw AgentRefusal(.badValue, "Invalid answer '\(answer)': use view, close or action.")
        }
    }
}

extension AlertService.WaitingAlert {
    fileprivate var record: AlertRecord {
        var record = AlertRecord()
        record.entry = alert.entry.rawValue
        record.appID = alert.appID.text
        record.appName = alert.appName
        record.isVerified = alert.isVerified
        record.icon = alert.icon ?? ""
        record.title = alert.title ?? ""
        record.subtitle = alert.subtitle ?? ""
        record.body = alert.body ?? ""
        record.viewLabel = alert.viewLabel ?? ""
        record.url = alert.link?.text ?? ""
        record.picture = alert.picture ?? ""
        record.actions = alert.actions.map(\.record)
        record.receivedAt = receivedAt
        record.earlierCount = UInt32(clamping: alert.earlierCount)
        return record
    }
}

extension AppManifest.Action {
    fileprivate var record: AlertActionRecord {
        var record = AlertActionRecord()
        (record.id, record.title, record.takesText) = (id, title, takesText)
        return record
    }
}
