// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The webhook of an app: options of `posthorn app set`.
extension AppCommands {
    static let webhookOptions: OptionTable = [
        Option("webhook", value: "URL", "Where the back-end hears what became of notifications; https."),
        Option(
            "webhook-secret-file", value: "FILE",
            "The first line is the secret of the signatures; made and shown once if left out.", values: .file),
        Option("no-webhook", "Tell the back-end nothing more."),
    ]

    /// Whether the webhook is to change.
    static func changesWebhook(_ invocation: Invocation) throws(CommandError) -> Bool {
        guard invocation.has("webhook") || !invocation.has("webhook-secret-file") else {
            throw .usage(invocation.error(.contradiction("--webhook-secret-file goes with --webhook")))
        }
        guard !(invocation.has("webhook") && invocation.has("no-webhook")) else {
            throw .usage(invocation.error(.contradiction("--webhook and --no-webhook exclude each other")))
        }
        return invocation.has("webhook") || invocation.has("no-webhook")
    }

    /// Sets or removes an app's webhook; returns the app as it is then, with a secret that was made.
    static func changeWebhook(_ invocation: Invocation, _ client: AdminClient) throws(CommandError) -> AdminAPI.App {
        let topic = invocation.arguments[0]
        var secret: String?
        if let url = invocation.value("webhook") {
            let webhook = AdminAPI.NewWebhook(url: url, secret: try givenSecret(invocation))
            let request = AdminRequest.put("apps", topic, "webhook", body: webhook)
            secret = try client.send(request, for: AdminAPI.Webhook.self, about: [topic]).secret
        } else {
            try client.send(.delete("apps", topic, "webhook"), about: [topic])
        }
        var app = try client.send(.get("apps", topic), for: AdminAPI.App.self)
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
                path: path, problem: "its first line is no secret",
                remedy: "Write \(range.lowerBound) to \(range.upperBound) bytes of text, as openssl rand -hex 32 makes."
            )
        }
        return text
    }

    /// The lines about an app's webhook.
    static func fields(of webhook: AdminAPI.Webhook) -> [(name: String, value: String)] {
        var fields = [(name: "Webhook", value: webhook.url)]
        if let since = webhook.failingSince {
            fields.append(("Failing", "since \(LocalTime.text(unixSeconds: since)): \(webhook.problem ?? "")"))
        }
        if let secret = webhook.secret {
            fields.append(("Secret", secret))
            fields.append(("", "Give it to the back-end now: it is not shown again."))
        }
        return fields
    }
}
