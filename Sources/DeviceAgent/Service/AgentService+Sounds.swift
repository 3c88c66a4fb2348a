// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

extension AgentService {
    /// Answers the methods about sounds; returns nil for other methods.
    func answerAboutSounds(_ member: String, _ arguments: Arguments) throws(AgentRefusal) -> [BusValue]? {
        switch member {
        case "ListSounds":
            let sounds = try agent.sounds(appID: try arguments.text(0))
            return [
                .array(
                    "a{sv}",
                    sounds.map { sound in
                        .dictionary([("name", .variant(.text(sound.name))), ("origin", .variant(.text(sound.origin)))])
                    })
            ]
        case "InstallSound":
            return [
                .text(
                    try agent.installSound(
                        path: try arguments.text(1), appID: try arguments.text(0), name: try arguments.text(2)))
            ]
        case "RemoveSound":
            try agent.removeSound(try arguments.text(1), appID: try arguments.text(0))
            return []
        case "PlaySound":
            try agent.playSound(try arguments.text(1), appID: try arguments.text(0))
            return []
        default: return nil
        }
    }
}
