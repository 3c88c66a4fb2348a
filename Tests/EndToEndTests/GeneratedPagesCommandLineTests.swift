// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// Checks that docs/reference/cli.md matches the programs' output.
///
/// `make pages` rewrites it.
struct GeneratedPagesCommandLineTests {
    @Test func `the page of commands is up to date`() async throws {
        let path = "\(RepositoryPaths.root)/docs/reference/cli.md"
        let page = try await render()
        if ProcessInfo.processInfo.environment["POSTHORN_UPDATE_PAGES"] == "1" {
            try Data(page.utf8).write(to: URL(fileURLWithPath: path))
        }
        #expect(readText(path) == page, "docs/reference/cli.md is stale: run `make pages`")
    }

    private func render() async throws -> String {
        var sections = [introduction]
        for program in ["posthorn", "posthornd", "posthorn-agent", "posthorn-panel"] {
            let help = try await help(program, [])
            sections.append("## \(program)\n\n```\n\(help)\n```")
            for command in commands(in: help) { sections += try await describe(program, [command]) }
        }
        return (sections + [json]).joined(separator: "\n\n") + "\n"
    }

    /// Returns a command's section, and those of the commands below it.
    private func describe(_ program: String, _ path: [String]) async throws -> [String] {
        let text = try await help(program, path)
        var sections = ["### \(program) \(path.joined(separator: " "))\n\n```\n\(withoutCommonParts(text))\n```"]
        for command in commands(in: text) { sections += try await describe(program, path + [command]) }
        return sections
    }

    private func help(_ program: String, _ path: [String]) async throws -> String {
        // The home directory is fixed, because a default in the help may contain it.
        let result = try await RunningProcess.run(
            RepositoryPaths.program(program), path + ["--help"], environment: ["COLUMNS": "80", "HOME": "/nonexistent"])
        return try result.succeeded().output.trimmingCharacters(in: .newlines)
    }

    private func commands(in help: String) -> [String] {
        let titles = ["Commands:", "Server:", "Device (", "Tools:"]
        return paragraphs(of: help).filter { paragraph in titles.contains { paragraph.hasPrefix($0) } }
            .flatMap { $0.split(separator: "\n").dropFirst() }
            .compactMap { $0.prefixMatch(of: /[ ]{2}([a-z][a-z-]*)/).map { String($0.1) } }
    }

    /// Removes the parts that each command's help repeats, which the page has once, with the program.
    private func withoutCommonParts(_ help: String) -> String {
        let common = ["Options of every command:", "Environment:", "Exit codes:", "Run 'posthorn "]
        return paragraphs(of: help).filter { paragraph in !common.contains { paragraph.hasPrefix($0) } }
            .joined(separator: "\n\n")
    }

    private func paragraphs(of text: String) -> [String] {
        text.replacing(/\n{2,}/, with: "\u{1}").split(separator: "\u{1}").map(String.init)
    }

    private let introduction = """
        # Command line

        <!-- Generated from the output of the programs by `make pages`. -->

        This page contains the output of `--help` of all programs. `posthorn` is for administrators and users; `posthornd`
        and `posthorn-agent` are usually started by systemd, and `posthorn-panel` is a window. Every command of `posthorn`
        accepts `--json` and reports its result by the exit code. `posthorn completion bash` (or zsh, fish) prints a
        completion script; it completes the main name of a command, not its aliases.
        """

    private let json = #"""
        ## JSON

        With `--json` a command prints one object on one line. Commands for the server print the answers of the
        [admin API](admin-api.md), in which times are UNIX seconds. These are the answers of the agent, here with line ends.
        Each member is always present; an unknown text is empty, an unknown number is 0. Later versions may add members.

        `posthorn agent status --json`: times are UNIX seconds; `presenter` is `desktop`, `panel`, `desktop, panel`, `terminal`,
        `hooks: ` and their names, or `none`; `notice` is a message for the user, for example about a channel that the server
        removed; `next_try` is the time of the next retry; `problem` is [a word](dbus.md#getstatus) that says why the agent is not
        connected.

        ```json
        {"connected": true, "connected_since": 1795300713, "device_id": "7e5b91bc25b0cf09", "enrolled": true,
         "last_connected": 1795300715, "last_error": "", "next_try": 0, "notice": "", "presenter": "terminal",
         "problem": "", "process_id": 32685, "removed": false, "server_url": "https://127.0.0.1:2197", "version": "0.1.0"}
        ```

        `posthorn settings list --json`: `settings` are the global ones, with [their names and values](settings.md); `locked`
        marks those that the administrator has locked. `badge` is the badge number of the app. `pending_channels` are the
        `channels` that the server does not know yet. `event_types` has the `id` and `name` of each event type of the app.
        `icon` is the name or the path of an icon; it may be empty. `advice` is for the author of the app. `verified` is false
        for a name that the app gave itself. `offers` is `time-sensitive` if Do Not Disturb held back such a notification and
        the user has not decided about the setting. `quiet_exceptions` lists the settings that let the app pass Do Not Disturb,
        and `locked` those of the app that the administrator locked. `muted_until` is in UNIX seconds, or 0 if the app is not
        muted. `posthorn settings show APP --json` prints one element of `apps` as `app`, with the `settings` of the app and
        of its event types.

        ```json
        {"apps": [{"advice": [], "alert_style": "banner", "allows_alert": true, "allows_badge": true, "allows_sound": true,
                   "app_id": "org.example.Mail", "badge": 1, "can_have_pictures": false,
                   "channels": ["/+++AAAAAAAAAAAAAAAAAQ=="],
                   "device_token": "fc028152fb4b1b29c30662d1b82e192d1f332c4682a2259024f26cad166aaf09",
                   "environment": "production", "event_types": [], "icon": "mail-unread", "locked": [],
                   "muted_until": 0, "name": "Example Mail", "offers": [], "pending_channels": [], "quiet_exceptions": ["critical"],
                   "topic": "org.example.Mail", "verified": true}],
         "settings": [{"event": "", "locked": false, "name": "master", "origin": "standard", "value": "on"},
                      {"event": "", "locked": false, "name": "do-not-disturb", "origin": "standard", "value": "off"}]}
        ```

        `posthorn inbox list --json`: newest first; `received_at` is UNIX **milliseconds**, `payload` is the provider's text,
        unchanged except for NUL and Unicode's noncharacters, which D-Bus cannot transport. `state` is `waiting`, `shown`,
        `viewed`, `closed` or `suppressed`. `reason` is the reason why it was
        [suppressed](device-protocol.md#acknowledge-post-v1acks), or an error. `effects` lists the parts with their outcome,
        for example `badge` or `sound:silent`. `read` says whether the user has seen it; `channel` is the channel ID of a
        broadcast, and `thread_id` is the thread of the alert. `verified` and `offer` are as in the list of
        apps; `offer` is on the first notification that was held back. `url` is the address that View opens, `picture` is the
        path of a PNG file, and `ignored` lists ignored members of the payload with the reasons. `remind_at` is in UNIX seconds,
        or 0 without a reminder. `posthorn inbox search --json` prints the same. `posthorn inbox remind --json` prints `entry` and
        `remind_at`, and `posthorn settings mute --json` prints `app` and `until` (UNIX seconds, 0 if it is not muted).
        `posthorn inbox show ENTRY --json` prints one element of `entries`.

        ```json
        {"entries": [{"app_id": "org.example.Mail", "app_name": "Example Mail", "body": "At noon?",
                      "channel": "", "effects": ["badge", "alert"], "entry": 1, "ignored": [],
                      "id": "c96a0202-32d0-4b2f-8c8c-202cf5f2c6d8",
                      "payload": "{\"aps\":{\"alert\":{\"body\":\"At noon?\",\"title\":\"Lunch\"},\"badge\":1}}",
                      "offer": "", "picture": "", "read": false, "reason": "", "received_at": 1795300714058,
                      "remind_at": 0, "state": "shown", "thread_id": "", "title": "Lunch", "url": "", "verified": true}]}
        ```

        `posthorn send --json` prints `status` and, if the server sent them, `apns_id`, `apns_unique_id`, `apns_request_id`
        (broadcasts only), `reason`, `advice`, `detail` (the cause in this case) and `warnings` (findings of the payload
        checks). With status 410 it prints `timestamp` in UNIX milliseconds.

        `posthorn lint --json` prints the number of `errors`, `warnings` and `advice`, and `files`, each with `file` and
        `findings`: `check` (one of the [payload checks](payload-checks.md)), `severity` (`E`, `W` or `I`), `path` and `text`.
        The exit code is the same as without `--json`; see [check a payload](../how-to/check-a-payload.md).

        `posthorn team list --json` prints `teams`, each with `team_id`, `app_count`, `key_count` (valid keys) and `default`.

        A command without a result prints `{"done":true}`.

        A command that fails prints the error, in addition to the text on standard error. `error` is `refused`, `usage`,
        `unreachable`, `not_found`, `not_permitted` or `try_later`, one word for each exit code from 1 to 6. `detail` is for
        users and may change. `posthorn send` prints the server's refusal as described above.

        ```json
        {"detail": "unknown command 'nonsense'. Run 'posthorn app --help' for usage.", "error": "usage"}
        ```
        """#
}
