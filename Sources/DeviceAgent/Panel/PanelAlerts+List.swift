// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushDBus
internal import PushNet

/// Opens the panel's list of notifications.
extension PanelAlerts: NotificationList {
    var canOpen: Bool { isAvailable }

    func open(activationToken: String?) {
        let token = activationToken.map { [("activation-token", BusValue.string($0))] } ?? []
        connection.send(
            Self.busName, Self.path, "org.freedesktop.Application", "ActivateAction",
            [.string("show-notifications"), .array("v", []), .dictionary(token)]
        ) { answer in
            if case .failure(let error) = answer { agentLog.warning("list_not_opened", ["error": error.message]) }
        }
    }
}
