// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushCore
internal import PushDBus

extension AgentService {
    /// Answers the methods about sounds; returns nil for other methods.
    func answerAboutSounds(_ method: AgentMethod, _ arguments: Arguments) throws(AgentRefusal) -> [BusValue]? {
        switch method {
        case .listSounds:
            let sounds = try agent.sounds.all(appID: try arguments.appIDOrAll(0)).map { sound in
                var record = SoundRecord()
                (record.name, record.origin) = (sound.name, sound.origin)
                return record
            }
            return [SoundRecord.array(sounds)]
        case .installSound:
            return [
                .text(
                    try agent.sounds.install(
                        path: try arguments.text(1), appID: try arguments.appID(0), name: try arguments.text(2)))
            ]
        case .removeSound:
            try agent.sounds.remove(try arguments.text(1), appID: try arguments.appID(0))
            return []
        case .playSound:
            try agent.sounds.play(try arguments.text(1), appID: try arguments.appIDOrAll(0))
            return []
        default: return nil
        }
    }
}
