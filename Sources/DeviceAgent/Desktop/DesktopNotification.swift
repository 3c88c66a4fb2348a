// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushDBus
internal import PushNet

/// An alert as the arguments of `org.freedesktop.Notifications.Notify`, made for one server.
struct DesktopNotification {
    /// What to show.
    var alert: Alert
    /// Who shows it.
    var server: NotificationServer
    /// The app's own file for the alert's sound; nil when it has none.
    var soundFile: String?
    /// The app's icon as a file, for a server that needs one; nil where the name does.
    var iconFile: String?

    /// Whether the server plays the sound; otherwise the agent does.
    ///
    /// A name without a file of the app is the agent's: only the agent can fall back when the theme lacks it.
    var playsSound: Bool {
        guard server.playsSounds, let sound = alert.sound else { return false }
        return sound == .standard || soundFile != nil
    }

    /// The arguments of `Notify`, signature `susssasa{sv}i`.
    ///
    /// - Parameter replacedID: The server's number of the alert that this one replaces; 0 for none.
    /// - Returns: The arguments, in order.
    func arguments(replacing replacedID: UInt32) -> [BusValue] {
        let isTagEnough = alert.collapseID != nil && server.quirks.contains(.diesOfNumberAndTag)
        return [
            .string(appName), .uint32(isTagEnough ? 0 : replacedID), .string(icon), .string(summary), .string(body),
            .strings(actions), .dictionary(hints), .int32(timeout),
        ]
    }

    /// A banner goes when the server thinks it right; an alert never goes by itself: the person has not seen it then.
    ///
    /// The hint `transient` is for neither: it would keep a banner that nobody saw out of the list that GNOME, Plasma and
    /// Xfce keep. GNOME knows no timeout: there an alert goes to that list, and stays in it.
    private var timeout: Int32 { alert.style == .alert ? 0 : -1 }

    // MARK: Texts

    /// The top line: the registered app's name, never text from a payload.
    var summary: String {
        guard !server.hasBody else { return appName }
        return ([appName] + lines.map { $0.replacingLineFeeds() }).joined(separator: " · ")
    }

    /// Title, subtitle and body, a line each; as markup only where the server reads markup.
    var body: String {
        guard server.hasBody else { return "" }
        guard server.hasMarkup else { return lines.joined(separator: "\n") }
        var lines = lines.map { DisplayText.markup($0) }
        if title != nil, let first = lines.first { lines[0] = "<b>\(first)</b>" }
        return lines.joined(separator: "\n")
    }

    private var appName: String {
        DisplayText.plain(alert.appName, scalarCountMax: DisplayText.titleScalarCountMax).replacingLineFeeds()
    }

    private var title: String? { headline(alert.title) }

    private var lines: [String] {
        [
            title, headline(alert.subtitle),
            cleaned(alert.body, DesktopNotification.bodyScalarCountMax)?.prefix(
                lineCount: DesktopNotification.bodyLineCountMax),
            server.keepsList || alert.earlierCount == 0 ? nil : earlierLine,
        ].compactMap(\.self)
    }

    private var earlierLine: String {
        let count = alert.earlierCount
        return MessageCatalogue.text("and %d more", "and %d more", count: count).replacing("%d", with: "\(count)")
    }

    private func headline(_ text: String?) -> String? {
        cleaned(text, DisplayText.titleScalarCountMax)?.replacingLineFeeds()
    }

    private func cleaned(_ text: String?, _ scalarCountMax: Int) -> String? {
        guard let text = text.map({ DisplayText.plain($0, scalarCountMax: scalarCountMax) }), !text.isEmpty else {
            return nil
        }
        return text
    }

    // The inbox has all of a body. Some servers' windows grow with it until their buttons lie below the screen.
    private static let bodyScalarCountMax = 500
    private static let bodyLineCountMax = 10

    // MARK: Buttons

    /// Keys and labels in turn: Close left and View or the app's buttons right, or a single OK; a click on the text is
    /// View, too.
    var actions: [String] {
        guard server.hasActions else { return [] }
        guard let label = alert.viewLabel else { return ["ok", tr("OK")] }
        // The agent's own word for it; what an app calls it is the app's to translate.
        let view = label == "View" ? tr("View") : buttonLabel(label) ?? tr("View")
        let buttons = alert.actions.flatMap { [key(of: $0), buttonLabel($0.title) ?? $0.id] }
        let (clicking, close) = (["default", view], ["close", tr("Close")])
        guard server.quirks.contains(.showsDefaultAsButton) else {
            return clicking + close + (buttons.isEmpty ? ["view", view] : buttons)
        }
        // A button of its own, behind Close, where no other opens the app.
        return close + (buttons.isEmpty ? ["view", view] : clicking + buttons)
    }

    /// Not the app's own id alone: servers give keys such as `settings` a meaning.
    static func key(of action: AppManifest.Action) -> String { "action-\(action.id)" }

    /// The button with a field to type in, of which an alert has one.
    static let replyKey = "inline-reply"

    private func key(of action: AppManifest.Action) -> String {
        let hasField = server.hasReplies && action == alert.replyAction
        return hasField ? DesktopNotification.replyKey : DesktopNotification.key(of: action)
    }

    private func buttonLabel(_ text: String) -> String? {
        cleaned(text, DesktopNotification.labelScalarCountMax)?.replacingLineFeeds()
    }

    /// The longest label of a button; a longer one would push Close off the alert.
    private static let labelScalarCountMax = 40

    // MARK: Hints

    private var hints: [(String, BusValue)] {
        // A byte: dunst does not see any other integer.
        [("desktop-entry", .string(alert.appID)), ("urgency", .byte(min(alert.urgency, 2)))]
            + collapseHints + soundHints + replyHints
    }

    /// KDE's text in the empty field.
    private var replyHints: [(String, BusValue)] {
        guard server.hasReplies, let title = alert.replyAction.flatMap({ buttonLabel($0.title) }) else { return [] }
        return [("x-kde-reply-placeholder-text", .string(title))]
    }

    /// Servers that know these replace by the tag also what an earlier agent showed.
    private var collapseHints: [(String, BusValue)] {
        guard let collapseID = alert.collapseID else { return [] }
        // As digits, because a collapse id may hold any character, and an app id no slash.
        let tag = BusValue.string("posthorn/\(alert.appID)/\(Hex.string(Array(collapseID.utf8)))")
        return [("x-canonical-private-synchronous", tag), ("x-dunst-stack-tag", tag)]
    }

    private var soundHints: [(String, BusValue)] {
        guard playsSound else { return [("suppress-sound", .bool(true))] }
        if let soundFile { return [("sound-file", .string(soundFile))] }
        return [("sound-name", .string(DesktopNotification.standardSoundName))]
    }

    /// The sound theme's name for the person's alert sound.
    static let standardSoundName = "message-new-instant"

    /// A name of the icon theme, or a file as a URL.
    private var icon: String {
        guard let icon = iconFile ?? alert.icon else { return "" }
        guard icon.utf8.first == UInt8(ascii: "/") else { return icon }
        return "file://" + DesktopNotification.percentEncoded(icon)
    }

    private static func percentEncoded(_ path: String) -> String {
        let unreserved = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
        return path.utf8.map { byte in
            if unreserved.contains(byte) { return String(Unicode.Scalar(byte)) }
            return (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}

extension String {
    /// Its first lines, with an ellipsis in the place of those after them.
    fileprivate func prefix(lineCount: Int) -> String {
        let lines = unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > lineCount else { return self }
        return lines.prefix(lineCount).map { String($0) }.joined(separator: "\n") + "…"
    }

    /// One line of it.
    fileprivate func replacingLineFeeds() -> String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0 == "\n" ? " " : $0 }))
    }
}
