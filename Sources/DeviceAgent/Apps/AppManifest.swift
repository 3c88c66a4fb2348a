// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// What an app says of itself when it registers: a JSON object, which docs/reference/app-manifest.md describes.
package struct AppManifest: Sendable, Equatable {
    /// The longest manifest, in bytes.
    package static let byteCountMax = 64 * 1024
    /// Event types, categories, sounds: so many of each.
    package static let countMax = 32
    /// Actions of a category; desktops show three at most.
    package static let actionCountMax = 4

    /// A kind of event that a person sets for itself.
    package typealias EventType = EventTypeTable.EventType

    /// Buttons that go with a category.
    package struct Category: Sendable, Equatable {
        /// `aps.category`.
        package var id: String
        /// In the place of View, in order; View when empty.
        package var actions: [Action]
    }

    /// A button.
    package struct Action: Sendable, Equatable {
        /// What the app gets to know it by.
        package var id: String
        /// What a person reads.
        package var title: String
        /// Whether the app comes to the front.
        package var isForeground: Bool
        /// Whether the person types a text with it, where the desktop can.
        package var takesText: Bool

        /// Joins the parts.
        package init(id: String, title: String, isForeground: Bool = false, takesText: Bool = false) {
            self.id = id
            self.title = title
            self.isForeground = isForeground
            self.takesText = takesText
        }
    }

    /// How `mutable-content` notifications are changed before they are shown.
    package enum Filter: Sendable, Equatable {
        /// By `org.posthorn.App1.Filter`.
        case bus
        /// By a program, which reads the notification and writes what is to be shown.
        case program([String])
    }

    /// What providers send to; nil for the app id.
    package var topic: String?
    /// The top line of alerts; nil for the .desktop file's.
    package var name: String?
    /// Kinds of events.
    package var eventTypes: [EventType] = []
    /// How each of them is told, in the same order.
    package var eventParts: [PayloadLinter.Parts] = []
    /// Buttons.
    package var categories: [Category] = []
    /// Names of the sounds that the app brings along.
    package var sounds: [String] = []
    /// Nil for an app that changes nothing.
    package var filter: Filter?
    /// Whether `content-available` wakes the app by `org.posthorn.App1.Wake`.
    package var wakesInBackground = false

    /// An app that says nothing.
    package init() {}

    /// The buttons of a category; nil when the app did not declare it.
    package func category(_ id: String?) -> Category? {
        id.flatMap { id in categories.first { $0.id.utf8.elementsEqual(id.utf8) } }
    }
}

/// What is wrong with a manifest, in one sentence.
package struct AppManifestError: Error, Sendable, Equatable {
    /// Names the member.
    package var message: String
}

extension AppManifest {
    /// Reads a manifest; unknown members are ignored, so that later ones do no harm here.
    ///
    /// - Parameter text: JSON; empty for an app that says nothing.
    /// - Throws: Which member is wrong.
    package init(parsing text: [UInt8]) throws(AppManifestError) {
        guard !text.isEmpty else { return }
        guard text.count <= Self.byteCountMax else {
            throw AppManifestError(
                message: "the manifest has \(text.count) bytes, at most \(Self.byteCountMax) are read")
        }
        guard let root = try? JSONValue(parsing: text.span), case .object = root else {
            throw AppManifestError(message: "the manifest is no JSON object")
        }
        let reader = ManifestReader(root)
        topic = try reader.text("topic")
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
                throw AppManifestError(message: "sounds: '\(sound)' is no name of letters, digits, '.', '_' and '-'")
            }
        }
        wakesInBackground = try reader.flag("background")
        filter = try reader.filter()
    }
}

/// Reads the members of an object, and says what is wrong where.
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
        guard let text = try text(key) else { throw wrong(key, "needed") }
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

    /// All three, unless something else is said.
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

    /// `"bus"`, or a program with its arguments.
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

    /// A member that is there and not null.
    private func member(_ key: String) -> JSONValue? {
        guard let member = value[key], member != .null else { return nil }
        return member
    }

    private func wrong(_ key: String, _ expected: String) -> AppManifestError {
        AppManifestError(message: "\(path)\(key) is \(expected)")
    }
}
