// SPDX-License-Identifier: Apache-2.0

internal import PayloadLint
internal import PushAPI
package import PushCore

/// The manifest that an app registers with: a JSON object; docs/reference/app-manifest.md describes it.
package struct AppManifest: Sendable, Equatable {
    /// The maximum size of a manifest in bytes.
    package static let byteCountMax = 64 * 1024
    /// The maximum number each of event types, categories and sounds.
    package static let countMax = 32
    /// The maximum number of actions of a category; desktops show at most three.
    package static let actionCountMax = 4

    /// An event type with its own settings.
    package typealias EventType = EventTypeTable.EventType

    /// The buttons for notifications of one category.
    package struct Category: Sendable, Equatable {
        /// The value of `aps.category`.
        var id: String
        /// The buttons that replace View, in order; with none, View is shown.
        package var actions: [Action]
    }

    /// A button that the app declares.
    package struct Action: Sendable, Equatable {
        /// The ID that is passed to the app.
        package var id: String
        /// The label of the button.
        package var title: String
        /// Whether the button opens the app instead of calling it in the background.
        package var isForeground: Bool
        /// Whether the user types a text with the button, where the desktop supports that.
        package var takesText: Bool

        package init(id: String, title: String, isForeground: Bool = false, takesText: Bool = false) {
            self.id = id
            self.title = title
            self.isForeground = isForeground
            self.takesText = takesText
        }
    }

    /// The way in which an app changes `mutable-content` notifications before they are shown.
    package enum Filter: Sendable, Equatable {
        /// The D-Bus method `org.posthorn.App1.Filter`.
        case bus
        /// A program that reads the notification from standard input and writes the changed payload to standard output.
        case program([String])
    }

    /// The topic that providers send to; nil for the app ID.
    package var topic: TopicName?
    /// The top line of alerts; nil for the name in the .desktop file.
    package var name: String?
    package var eventTypes: [EventType] = []
    /// The parts that notifications of each event type have, in the order of `eventTypes`.
    var eventParts: [PayloadLinter.Parts] = []
    var categories: [Category] = []
    /// The names of the sounds that the app brings.
    package var sounds: [String] = []
    /// The filter; nil for an app that changes no notifications.
    package var filter: Filter?
    /// Whether `content-available` wakes the app through `org.posthorn.App1.Wake`.
    package var wakesInBackground = false
    /// Whether View opens the link of a notification instead of the app.
    package var opensLinks = false
    /// The hosts from which pictures of notifications may be fetched; with none, no picture is fetched.
    package var pictureHosts: [PictureHost] = []

    /// Creates an empty manifest.
    package init() {}

    /// Returns the category with an ID; nil if the app did not declare it.
    package func category(_ id: String?) -> Category? {
        id.flatMap { id in categories.first { $0.id.utf8.elementsEqual(id.utf8) } }
    }
}

/// The reason why a manifest is invalid, in one sentence.
package struct AppManifestError: Error, Sendable, Equatable {
    /// The sentence; it names the member of the manifest.
    package var message: String
}

extension AppManifest {
    /// Parses a manifest.
    ///
    /// Unknown members are ignored, for compatibility with later versions.
    ///
    /// - Parameter text: The JSON text; empty for an app without a manifest.
    /// - Throws: An error that names the invalid member.
    package init(parsing text: [UInt8]) throws(AppManifestError) {
        guard !text.isEmpty else { return }
        guard text.count <= Self.byteCountMax else {
            throw AppManifestError(
                message: "the manifest has \(text.count) bytes, at most \(Self.byteCountMax) are read")
        }
        guard let root = try? JSONValue(parsing: text.span), case .object = root else {
            throw AppManifestError(message: "the manifest is not a JSON object")
        }
        let reader = ManifestReader(root)
        topic = try reader.text("topic").map { TopicName($0) }
        name = try reader.text("name")
        let events = try reader.list("event_types") { item throws(AppManifestError) in
            (EventType(id: try item.requiredText("id"), name: try item.requiredText("name")), try item.parts())
        }
        eventTypes = events.map(\.0)
        eventParts = events.map(\.1)
        categories = try reader.list("categories") { item throws(AppManifestError) in
            Category(id: try item.requiredText("id"), actions: try item.actions())
        }
        sounds = try reader.texts("sounds")
        for sound in sounds {
            guard case .named = SoundChoice(sound) else {
                throw AppManifestError(
                    message: "sounds: '\(sound)' is not a valid name (letters, digits, '.', '_' and '-')")
            }
        }
        wakesInBackground = try reader.flag("background")
        opensLinks = try reader.opensLinks()
        pictureHosts = try reader.texts("picture_hosts").map { text throws(AppManifestError) in
            if let host = PictureHost(text) { return host }
            throw AppManifestError(message: "picture_hosts: '\(text)' is not a host, such as images.example.org")
        }
        filter = try reader.filter()
    }
}

/// Reads the members of a JSON object; errors contain the path of the member.
private struct ManifestReader {
    private let value: JSONValue
    private let path: String

    init(_ value: JSONValue, path: String = "") {
        self.value = value
        self.path = path
    }

    func text(_ key: String) throws(AppManifestError) -> String? {
        guard let member = member(key) else { return nil }
        guard let text = member.string, !text.isEmpty, text.utf8.count <= 256, !text.utf8.contains(0) else {
            throw wrong(key, "a text of 1 to 256 bytes")
        }
        return text
    }

    func requiredText(_ key: String) throws(AppManifestError) -> String {
        guard let text = try text(key) else { throw wrong(key, "present") }
        return text
    }

    func flag(_ key: String) throws(AppManifestError) -> Bool {
        guard let member = member(key) else { return false }
        guard case .bool(let flag) = member else { throw wrong(key, "true or false") }
        return flag
    }

    func texts(_ key: String) throws(AppManifestError) -> [String] {
        guard let member = member(key) else { return [] }
        guard case .array(let items) = member, items.count <= AppManifest.countMax else {
            throw wrong(key, "a list of at most \(AppManifest.countMax) texts")
        }
        let texts = items.compactMap(\.string).filter { !$0.isEmpty && !$0.utf8.contains(0) }
        guard texts.count == items.count else { throw wrong(key, "a list of texts") }
        return texts
    }

    func list<Item>(
        _ key: String, countMax: Int = AppManifest.countMax,
        _ read: (ManifestReader) throws(AppManifestError) -> Item
    ) throws(AppManifestError) -> [Item] {
        guard let member = member(key) else { return [] }
        guard case .array(let items) = member, items.count <= countMax else {
            throw wrong(key, "a list of at most \(countMax) objects")
        }
        var results: [Item] = []
        for (index, item) in items.enumerated() {
            guard case .object = item else { throw wrong("\(key)[\(index)]", "an object") }
            results.append(try read(ManifestReader(item, path: "\(path)\(key)[\(index)].")))
        }
        return results
    }

    func actions() throws(AppManifestError) -> [AppManifest.Action] {
        try list("actions", countMax: AppManifest.actionCountMax) { item throws(AppManifestError) in
            AppManifest.Action(
                id: try item.requiredText("id"), title: try item.requiredText("title"),
                isForeground: try item.flag("foreground"), takesText: try item.flag("text"))
        }
    }

    /// Returns the parts of an event type; all three if the manifest lists none.
    func parts() throws(AppManifestError) -> PayloadLinter.Parts {
        guard member("parts") != nil else { return .all }
        var parts: PayloadLinter.Parts = []
        for name in try texts("parts") {
            guard let part = PayloadLinter.Parts(name: name) else {
                throw wrong("parts", "a list of alert, badge and sound")
            }
            parts.insert(part)
        }
        return parts
    }

    /// Returns the filter: `"bus"`, or a program with its arguments.
    func filter() throws(AppManifestError) -> AppManifest.Filter? {
        guard let member = member("filter") else { return nil }
        if member.string == "bus" { return .bus }
        guard case .array = member else { throw wrong("filter", "\"bus\", or a list of a program and its arguments") }
        let words = try texts("filter")
        guard words.first?.utf8.first == UInt8(ascii: "/") else {
            throw wrong("filter", "a list that begins with the absolute path of a program")
        }
        return .program(words)
    }

    /// Returns whether View opens links instead of the app.
    func opensLinks() throws(AppManifestError) -> Bool {
        switch member("opens")?.string {
        case "url": return true
        case "app": return false
        case nil where member("opens") == nil: return false
        default: throw wrong("opens", "\"app\" or \"url\"")
        }
    }

    /// Returns a member; nil if it is missing or null.
    private func member(_ key: String) -> JSONValue? {
        guard let member = value[key], member != .null else { return nil }
        return member
    }

    private func wrong(_ key: String, _ expected: String) -> AppManifestError {
        AppManifestError(message: "\(path)\(key) must be \(expected)")
    }
}
