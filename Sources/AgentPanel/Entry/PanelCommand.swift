// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushCore
internal import PushNet

/// The command line of `posthorn-panel`.
package enum PanelCommand {
    /// Parses the command line and runs the panel.
    ///
    /// - Parameter arguments: The arguments, without the program's name.
    /// - Returns: The exit status.
    package static func run(_ arguments: [String]) -> Int32 {
        switch command.parse(arguments) {
        case .success(.run(let invocation)) where invocation.has("service") && invocation.has("settings"):
            StandardStream.error.write(
                "posthorn-panel: --service and --settings cannot be combined.\n  Use only one of them.\n")
            return 64
        case .success(.run(let invocation)):
            guard !invocation.has(IconReader.option) else {
                IconReader.run()
                return 0
            }
            if invocation.has(PictureWorker.decodeOption) { return PictureWorker.decode() }
            if invocation.has(PictureWorker.decodeFileOption) { return PictureWorker.decodeFile() }
            if invocation.has(PictureWorker.encodeOption) { return PictureWorker.encode() }
            return Panel.run(invocation.has("service") ? .service : invocation.has("settings") ? .settings : .window)
        case .success(.help(let text)): print(text, terminator: "")
        case .success(.version): print("posthorn-panel \(ProductVersion.text)")
        case .failure(let error):
            StandardStream.error.write("posthorn-panel: \(error.message)\n  \(error.remedy)\n")
            return 64
        }
        return 0
    }

    static let command = Command(
        "posthorn-panel", "The windows of the Posthorn agent: alerts, notifications, and the settings of each app.",
        discussion: "The panel stores no data. It shows the data of posthorn-agent and sends changes to it.",
        options: [
            Option("settings", "Open the settings."),
            Option("service", "Open no window until D-Bus requests one, for example for an alert."),
            Option(
                IconReader.option, "Decode icons for another panel process, which writes requests to standard input."),
            Option(PictureWorker.decodeOption, "Decode a picture for the agent, from standard input to pixels."),
            Option(PictureWorker.decodeFileOption, "The same for a file, whose path is read from standard input."),
            Option(PictureWorker.encodeOption, "Encode pixels for the agent, from standard input to a PNG file."),
        ],
        environment: [
            Explanation(MessageCatalog.folderVariable, MessageCatalog.folderHelp)
        ],
        exitCodes: [
            Explanation("0", "The window was closed."),
            Explanation("1", "There is no display or no session bus."),
            Explanation("64", "Usage error."),
        ],
        manual: Manual(section: 1, related: ["posthorn-agent(1)", "posthorn(1)"]))
}
