// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The command `posthorn lint`: checks payloads before they are sent.
enum LintCommand {
    static let node = CommandNode(
        Command(
            "lint", "Check payloads before sending.",
            discussion: """
                Reports invalid JSON, wrong types, misspelled keys, and texts that are too long or empty or use too many \
                capitals. E marks an error, W a warning and I advice. The server refuses payloads with errors if the \
                app's checks are strict. The exit code is 1 if there are errors.

                With --interval, the files are notifications of one app to one device, in this order. Repeated and too \
                frequent alerts are then reported, too.
                """,
            arguments: [
                Argument(
                    "FILE", "A payload in JSON; - for standard input.", repeatable: true, values: .file)
            ],
            options: [
                Option(
                    "push-type", value: "TYPE", "The push type (apns-push-type). Default: alert.",
                    values: .choice(PushType.allCases.map(\.rawValue))),
                Option("app-name", value: "NAME", "The app's display name, which alerts show above the title."),
                Option(
                    "topic", short: "t", value: "TOPIC", "Get the app's display name from the server on this machine."),
                Option("interval", value: "SECONDS", "The time between two payloads, in seconds."),
                Option("strict", "Treat warnings as errors."),
            ],
            examples: [
                Explanation("posthorn lint payload.json", "Check one payload."),
                Explanation("posthorn lint --push-type background -", "Check the output of a program."),
                Explanation(
                    "posthorn lint --interval 60 first.json second.json",
                    "Check two payloads that are sent a minute apart."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let interval = try interval(invocation)
        let appName = try appName(invocation, in: context)
        var files: [(path: String, payload: [UInt8])] = []
        for path in invocation.arguments {
            do throws(FileError) { files.append((path, try LocalFile.read(path))) } catch { throw .file(error) }
        }
        let pushType = invocation.value("push-type").flatMap { PushType($0.utf8.span) }
        let lintReport = LintReport(
            files, pushType: pushType ?? .alert, appName: appName, intervalSeconds: interval)
        return lintReport.report(isStrict: invocation.has("strict"))
    }

    private static func interval(_ invocation: Invocation) throws(CommandError) -> Int64? {
        do throws(UsageError) {
            return try invocation.integer("interval", in: 0...Limits.retentionSecondsMax)
        } catch {
            throw .usage(error)
        }
    }

    /// Returns the app's name from the command line, or from the server for `--topic`.
    private static func appName(
        _ invocation: Invocation, in context: CommandContext
    ) throws(CommandError) -> String? {
        guard let topic = invocation.value("topic") else { return invocation.value("app-name") }
        guard !invocation.has("app-name") else {
            throw .usage(invocation.error(.contradiction("--topic and --app-name cannot be combined")))
        }
        return try context.admin(invocation).send(
            .get("apps", topic), for: AdminAPI.App.self, about: [TopicName(topic)]
        ).name
    }
}
