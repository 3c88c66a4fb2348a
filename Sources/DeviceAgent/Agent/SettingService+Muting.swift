// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet

extension SettingService: AppMuter {
    func canMute(_ appID: AppID) -> Bool {
        (try? setting(Setting.muted.rawValue, appID: appID, event: ""))?.isLocked == false
    }

    func muteForOneHour(_ appID: AppID) {
        let end = Timestamp.now.advanced(bySeconds: 3600)
        do {
            try set(Setting.muted.rawValue, appID: appID, event: "", to: DoNotDisturb.until(end).text)
        } catch {
            agentLog.warning("mute_failed", ["app": appID.text, "error": error.message])
        }
    }
}
