// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

extension AppCommands {
    static let webhookOptions: OptionTable = [
        Option("webhook", value: "URL", "The https URL of the back-end to which delivery events are sent."),
        Option(
            "webhook-secret-file", value: "FILE",
            "Read the signing secret from the first line of FILE. Default: generate a secret and print it once.",
            values: .file),
        Option("no-webhook", "Remove the webhook."),
    ]

    /// Returns whether the command line changes the webhook.
    static func changesWebhook(_ invocation: Invocation) throws(CommandError) -> Bool {
        guard invocation.has("webhook") || !invocation.has("webhook-secret-file") else {
            throw .usage(invocation.error(.contradiction("--webhook-secret-file requires --webhook")))
        }
        guard !(invocation.has("webhook") && invocation.has("no-webhook")) else {
            throw .usage(invocation.error(.contradiction("--webhook and --no-webhook cannot be combined")))
        }
        return invocation.has("webhook") || invocation.has("no-webhook")
    }

    /// Sets or removes an app's webhook and returns the updated app; a generated secret is included once.
    static func changeWebhook(_ invocation: Invocation, _ client: AdminClient) throws(CommandError) -> AdminAPI.App {
        let topic = TopicName(invocation.arguments[0])
        var secret: String?
        if let url = invocation.value("webhook") {
            let webhook = TraceAPI.NewWebhook(url: url, secret: try givenSecret(invocation))
            let request = AdminRequest.put("apps", topic.text, "webhook", body: webhook)
            secret = try client.send(request, for: TraceAPI.Webhook.self, about: [topic]).secret
        } else {
            try client.send(.delete("apps", topic.text, "webhook"), about: [topic])
        }
        var app = try client.send(.get("apps", topic.text), for: AdminAPI.App.self)
        app.webhook?.secret = secret
        return app
    }

    private static func givenSecret(_ invocation: Invocation) throws(CommandError) -> String? {
        guard let path = invocation.value("webhook-secret-file") else { return nil }
        let bytes: [UInt8]
        do throws(FileError) { bytes = try LocalFile.read(path) } catch { throw .file(error) }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let range = Limits.webhookSecretByteCountMin...Limits.webhookSecretByteCountMax
        guard let text = String(validating: line, as: UTF8.self), range.contains(line.count) else {
            throw .badFile(
                path: path, problem: "the first line is not a valid secret",
                remedy:
                    "Use \(range.lowerBound) to \(range.upperBound) bytes of text, for example from: openssl rand -hex 32"
            )
        }
        return text
    }

    /// Returns the output lines about an app's webhook.
    static func fields(of webhook: TraceAPI.Webhook) -> [(name: String, value: String)] {
        var fields = [(name: "Webhook", value: webhook.url)]
        if let since = webhook.failingSince {
            fields.append(("Failing", "since \(LocalTime.text(since)): \(webhook.problem ?? "")"))
        }
        if let secret = webhook.secret {
            fields.append(("Secret", secret))
            fields.append(("", "Save it now; it is not shown again."))
        }
        return fields
    }
}
