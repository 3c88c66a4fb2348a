// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// `posthorn lint`: judges payloads before anybody sends them.
enum LintCommand {
    static let node = CommandNode(
        Command(
            "lint", "Judge payloads before they are sent.",
            discussion: """
                Looks for what providers get wrong: JSON that is none, values of the wrong kind, misspelt keys, texts \
                that are too long, too loud or say nothing. E is an error, W a warning, I an advice; an app whose \
                checks are strict has its errors refused. It ends with 1 when there is an error.

                With --interval the files are one app's notifications to one device, in their order, and repeats and \
                too frequent alerts are found too.
                """,
            arguments: [
                Argument(
                    "FILE", "A payload, JSON; - for standard input.", repeatable: true, values: .file)
            ],
            options: [
                Option(
                    "push-type", value: "TYPE", "apns-push-type; alert if left out.",
                    values: .choice(PushType.allCases.map(\.rawValue))),
                Option("app-name", value: "NAME", "The app's name, which stands above every alert."),
                Option("topic", short: "t", value: "TOPIC", "Take the name from the server on this machine."),
                Option("interval", value: "SECONDS", "The files are sent one after the other, so far apart."),
                Option("strict", "End with 1 when there is a warning, too."),
            ],
            examples: [
                Explanation("posthorn lint payload.json", "Judge one payload."),
                Explanation("posthorn lint --push-type background -", "Judge what a program prints."),
                Explanation("posthorn lint --interval 60 first.json second.json", "Sent a minute apart."),
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        let interval = try interval(invocation)
        let appName = try appName(invocation, in: surroundings)
        var files: [(path: String, payload: [UInt8])] = []
        for path in invocation.arguments {
            do throws(FileError) { files.append((path, try LocalFile.read(path))) } catch { throw .file(error) }
        }
        let pushType = invocation.value("push-type").flatMap { PushType($0.utf8.span) }
        let verdict = LintVerdict(
            files, pushType: pushType ?? .alert, appName: appName, intervalSeconds: interval)
        return verdict.report(isStrict: invocation.has("strict"))
    }

    private static func interval(_ invocation: Invocation) throws(CommandError) -> Int64? {
        do throws(UsageError) {
            return try invocation.integer("interval", in: 0...Limits.retentionSecondsMax)
        } catch {
            throw .usage(error)
        }
    }

    /// The app's name: as told, or as the server knows it.
    private static func appName(
        _ invocation: Invocation, in surroundings: Surroundings
    ) throws(CommandError) -> String? {
        guard let topic = invocation.value("topic") else { return invocation.value("app-name") }
        guard !invocation.has("app-name") else {
            throw .usage(invocation.error(.contradiction("--topic and --app-name both say the app's name")))
        }
        return try surroundings.admin(invocation).send(.get("apps", topic), for: AdminAPI.App.self).name
    }
}
