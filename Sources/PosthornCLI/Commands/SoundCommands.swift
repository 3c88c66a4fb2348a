// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
internal import PushDBus

/// The command `posthorn sound`: manages the sounds that notifications can name.
enum SoundCommands {
    static let group = CommandNode(
        group: "sound", "List, play, install and remove notification sounds.",
        environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer,
        children: [list, play, install, remove], defaultChild: "list")

    private static let app = Argument("APP", "The app ID: the name of its desktop file without '.desktop'.")
    private static let name = Argument("SOUND", "The sound's name.")

    private static let list = CommandNode(
        Command(
            "list", "List the built-in sounds and those of an app.",
            arguments: [Argument("APP", "The app ID. Default: built-in sounds only.", optional: true)])
    ) { (invocation, context) throws(CommandError) in
        let call = AgentCall(.listSounds, .string(invocation.arguments.first ?? ""))
        let sounds = try AgentAnswer.list(try context.agent().call(call), of: call.method, as: SoundRecord.self)
        return report(of: sounds)
    }

    private static let play = CommandNode(
        Command(
            "play", "Play a sound as a notification would.",
            arguments: [name, Argument("APP", "The app that owns the sound.", optional: true)])
    ) { (invocation, context) throws(CommandError) in
        let words = invocation.arguments
        try context.agent().call(
            AgentCall(.playSound, .string(words.count > 1 ? words[1] : ""), .string(words[0])))
        return Report("Playing \(oneLine(words[0])).", json: Done())
    }

    private static let install = CommandNode(
        Command(
            "install", "Install a sound for an app.",
            discussion: """
                The file must be Ogg Vorbis or WAV, at most 30 seconds long (1 or 2 are better) and not clipped. A sound \
                that is built in or belongs to another app is refused, so that users can tell apps apart. \
                Notifications select the sound by its name in aps.sound.
                """,
            arguments: [app, Argument("FILE", "The sound file.")],
            options: [
                Option("name", short: "n", value: "NAME", "The name of the sound. Default: the name of the file.")
            ],
            examples: [Explanation("posthorn sound install org.example.Mail ping.oga", "Install the sound 'ping'.")]
        )
    ) { (invocation, context) throws(CommandError) in
        // The file is checked here, because a missing file is not an error about sounds.
        do throws(FileError) {
            try LocalFile.checkRegular(invocation.arguments[1])
        } catch {
            throw .file(error)
        }
        let call = AgentCall(
            .installSound, .string(invocation.arguments[0]), .string(LocalFile.absolute(invocation.arguments[1])),
            .string(invocation.value("name") ?? ""))
        let name = try AgentAnswer.string(try context.agent().call(call), of: call.method)
        return Report("Installed sound \(oneLine(name)).", json: InstalledSound(name: name))
    }

    private static let remove = CommandNode(
        Command("remove", "Remove one of an app's sounds.", arguments: [app, name])
    ) { (invocation, context) throws(CommandError) in
        let words = invocation.arguments
        try context.agent().call(AgentCall(.removeSound, .string(words[0]), .string(words[1])))
        return Report("Removed \(oneLine(words[1])).", json: Done())
    }

    /// Formats the output of `sound list`.
    static func report(of sounds: [SoundRecord]) -> Report {
        let json = Sounds(sounds: sounds)
        guard !sounds.isEmpty else {
            return Report(
                "No sounds. 'make install' installs the built-in ones. In a source tree: "
                    + "cp -r deploy/sounds/posthorn ~/.local/share/sounds/", json: json)
        }
        return Report(
            Table([.text("SOUND"), .text("ORIGIN")], rows: sounds.map { [$0.name, $0.origin] }).text, json: json)
    }
}

/// The JSON of `sound list`.
private struct Sounds: Encodable, Sendable {
    let sounds: [SoundRecord]
}

/// The JSON of `sound install`.
private struct InstalledSound: Encodable, Sendable {
    let name: String
}
