// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import LinuxDesktop
internal import PushAPI
internal import PushCore
internal import PushDBus
internal import PushNet

/// An alert as the arguments of `org.freedesktop.Notifications.Notify`, made for one notification server.
struct DesktopNotification {
    var alert: Alert
    /// The notification server that shows the alert.
    var notificationServer: NotificationServer
    /// The app's own file for the alert's sound; nil if it has none.
    var soundFile: String?
    /// The app's icon as a file, for a notification server that cannot look up the name; otherwise nil.
    var iconFile: String?

    /// Whether the notification server plays the sound; otherwise the agent does.
    ///
    /// The agent plays a named sound without a file, because only the agent has a fallback when the sound theme lacks
    /// it.
    var playsSound: Bool {
        guard notificationServer.playsSounds, let sound = alert.sound else { return false }
        return sound == .standard || soundFile != nil
    }

    /// Returns the arguments of `Notify`, signature `susssasa{sv}i`.
    ///
    /// - Parameter replacedID: The notification server's ID of the alert that this one replaces; 0 for none.
    /// - Returns: The arguments, in order.
    func arguments(replacing replacedID: UInt32) -> [BusValue] {
        let isTagEnough = alert.collapseID != nil && notificationServer.quirks.contains(.crashesOnIDAndTag)
        return [
            .string(appName), .uint32(isTagEnough ? 0 : replacedID), .string(icon), .string(summary), .string(body),
            .strings(actions), .dictionary(hints), .int32(timeout),
        ]
    }

    /// The expiration timeout: the notification server's default for a banner, none for an alert, which stays until it
    /// is answered.
    ///
    /// Neither sets the hint `transient`: it would keep a banner that the user missed out of the list of GNOME, Plasma
    /// and Xfce. GNOME ignores the timeout: there an alert moves to that list and stays in it.
    private var timeout: Int32 { alert.style == .alert ? 0 : -1 }

    // MARK: Texts

    /// The top line: the registered app's name, never text from a payload.
    var summary: String {
        guard !notificationServer.hasBody else { return appName }
        return ([appName] + lines.map { $0.replacingLineFeeds() }).joined(separator: " · ")
    }

    /// Title, subtitle and body, one line each; markup is used only where the notification server supports it.
    var body: String {
        guard notificationServer.hasBody else { return "" }
        guard notificationServer.hasMarkup else { return lines.joined(separator: "\n") }
        var lines = lines.map { DisplayText.markup($0) }
        if title != nil, let first = lines.first { lines[0] = "<b>\(first)</b>" }
        return lines.joined(separator: "\n")
    }

    private var appName: String {
        DisplayText.plain(alert.topLine, scalarCountMax: DisplayText.titleScalarCountMax).replacingLineFeeds()
    }

    private var title: String? { headline(alert.title) }

    private var lines: [String] {
        [
            title, headline(alert.subtitle),
            cleaned(alert.body, DesktopNotification.bodyScalarCountMax)?.prefix(
                lineCount: DesktopNotification.bodyLineCountMax),
            alert.link?.shownTarget,
            notificationServer.keepsList || alert.earlierCount == 0 ? nil : earlierLine,
        ].compactMap(\.self)
    }

    private var earlierLine: String {
        let count = alert.earlierCount
        return MessageCatalog.text("and %d more", "and %d more", count: count).replacing("%d", with: "\(count)")
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

    // The inbox has the whole body. The windows of some notification servers grow with it until their buttons are off
    // the screen.
    private static let bodyScalarCountMax = 500
    private static let bodyLineCountMax = 10

    // MARK: Buttons

    /// Keys and labels in turn: Close first, then View or the app's buttons; or a single OK.
    ///
    /// A click on the text, the key `default`, means View, too. The agent's own banner about a burst offers to mute
    /// the app in place of Close.
    var actions: [String] {
        guard notificationServer.hasActions else { return [] }
        let mute = alert.offersMute ? [Self.muteKey, tr("Mute for One Hour")] : []
        guard let label = alert.viewLabel else { return mute + ["ok", tr("OK")] }
        // Only the default label is translated; the app translates its own labels.
        let view = label == "View" ? tr("View") : buttonLabel(label) ?? tr("View")
        let buttons = alert.actions.flatMap { [key(of: $0), buttonLabel($0.title) ?? $0.id] }
        let clicking = ["default", view]
        let close = mute.isEmpty ? ["close", tr("Close")] : mute
        guard notificationServer.quirks.contains(.showsDefaultAsButton) else {
            return clicking + close + (buttons.isEmpty ? ["view", view] : buttons)
        }
        // Such a notification server shows `default` as a button: it comes after Close, and only if buttons replace View
        // and none of them is View.
        let hasView = buttons.isEmpty || alert.actions.contains { $0.id == MessageButtons.viewID }
        return close + (hasView ? [] : clicking) + (buttons.isEmpty ? ["view", view] : buttons)
    }

    /// The action key of the button that mutes the app.
    static let muteKey = "mute"

    /// Returns the action key of a button; the prefix prevents clashes with keys such as `settings`, which notification
    /// servers interpret.
    static func key(of action: AppManifest.Action) -> String { "action-\(action.id)" }

    /// The action key of the button with a text field; an alert has at most one.
    static let replyKey = "inline-reply"

    private func key(of action: AppManifest.Action) -> String {
        let hasField = notificationServer.hasReplies && action == alert.replyAction
        return hasField ? DesktopNotification.replyKey : DesktopNotification.key(of: action)
    }

    private func buttonLabel(_ text: String) -> String? {
        cleaned(text, DesktopNotification.labelScalarCountMax)?.replacingLineFeeds()
    }

    /// The maximum length of a button label; a longer one would push Close out of the alert.
    private static let labelScalarCountMax = 40

    // MARK: Hints

    private var hints: [(String, BusValue)] {
        // The type must be byte: dunst ignores any other integer type.
        [("desktop-entry", .string(alert.appID.text)), ("urgency", .byte(min(alert.urgency, 2)))]
            + collapseHints + soundHints + replyHints + pictureHints
    }

    /// The picture, which the agent made; notification servers show it beside the text or instead of the icon.
    private var pictureHints: [(String, BusValue)] {
        guard notificationServer.hasPictures, let picture = alert.picture else { return [] }
        return [("image-path", .string("file://" + DesktopNotification.percentEncoded(picture)))]
    }

    /// KDE's hint for the placeholder of the text field.
    private var replyHints: [(String, BusValue)] {
        guard notificationServer.hasReplies, let title = alert.replyAction.flatMap({ buttonLabel($0.title) }) else {
            return []
        }
        return [("x-kde-reply-placeholder-text", .string(title))]
    }

    /// The hints by which notification servers replace an earlier alert, even one from an earlier run of the agent.
    private var collapseHints: [(String, BusValue)] {
        guard let collapseID = alert.collapseID else { return [] }
        // The collapse ID is in hexadecimal, because it may contain any character; an app ID contains no slash.
        let tag = BusValue.string("posthorn/\(alert.appID)/\(Hex.string(Array(collapseID.utf8)))")
        return [("x-canonical-private-synchronous", tag), ("x-dunst-stack-tag", tag)]
    }

    private var soundHints: [(String, BusValue)] {
        guard playsSound else { return [("suppress-sound", .bool(true))] }
        if let soundFile { return [("sound-file", .string(soundFile))] }
        return [("sound-name", .string(AppSounds.standardThemeName))]
    }

    /// The icon's name in the icon theme, or a file URL.
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
    /// Returns the first lines of the text, with an ellipsis if there are more.
    fileprivate func prefix(lineCount: Int) -> String {
        let lines = unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > lineCount else { return self }
        return lines.prefix(lineCount).map { String($0) }.joined(separator: "\n") + "…"
    }

    /// Returns the text as one line.
    fileprivate func replacingLineFeeds() -> String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0 == "\n" ? " " : $0 }))
    }
}
