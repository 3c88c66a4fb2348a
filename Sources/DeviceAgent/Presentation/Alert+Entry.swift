// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore

extension Alert {
    /// Converts an entry to an alert without a sound.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - app: The entry's app.
    ///   - payload: The payload that is shown.
    ///   - schemes: The URL schemes of the app; nil if it is not installed.
    init(_ entry: InboxEntry, _ app: RegisteredApp, _ payload: Payload, schemes: [String]?) {
        let target = ViewTarget(entry, app, schemes: schemes)
        let declared = app.manifest.category(payload.category)?.actions ?? []
        let buttons = declared.isEmpty ? MessageButtons.actions(of: payload, hasView: target != .nothing) : declared
        // An alert with buttons of the app always has View. These buttons also work for an app on the
        // bus that has no .desktop file.
        let hasView = target != .nothing || !buttons.isEmpty
        self.init(
            entry: entry.entry, appID: app.appID, appName: app.name, isVerified: app.isVerified, icon: app.icon,
            title: entry.title,
            subtitle: entry.subtitle, body: entry.body, viewLabel: hasView ? payload.actionLabel : nil,
            urgency: payload.interruptionLevel == .passive ? 0 : payload.interruptionLevel == .critical ? 2 : 1,
            collapseID: entry.replacementKey)
        threadID = entry.threadID
        picture = entry.picture
        guard viewLabel != nil else { return }
        actions = buttons
        link = target.link
    }
}

extension InboxEntry {
    /// The key under which a newer alert replaces this one on the screen; nil if none does.
    ///
    /// Keys of channels and of collapse IDs that are not valid UTF-8 begin with NUL. No header field can contain NUL,
    /// so no other collapse ID is equal to such a key.
    var replacementKey: String? {
        if let channel { return "\0channel \(channel)" }
        return collapseID.map { String(validating: $0, as: UTF8.self) ?? "\0bytes \(Hex.string($0))" }
    }
}
