// SPDX-License-Identifier: Apache-2.0

/// The parts of the panel's appearance that it keeps between two runs.
struct PanelState: Equatable, Sendable {
    /// The window's size in pixels; nil before the first run.
    var size: Size?
    var isMaximized = false
    /// The tab that was shown last.
    var tab = PanelTab.notifications
    /// The filter of the list.
    var filter = InboxFilter.all
    /// The IDs of the apps whose notifications are collapsed in the list.
    var collapsedApps: Set<String> = []

    /// A width and a height in pixels.
    struct Size: Equatable, Sendable {
        var width: Int
        var height: Int
    }

    /// The largest size and the largest number of apps that are read from a file.
    private static let (sizeMax, appCountMax) = (32_767, 1000)

    init() {}

    /// Reads the state; an invalid value reads as its default.
    ///
    /// - Parameter value: Returns the value of a key; nil if the key is missing.
    init(_ value: (Key) -> String?) {
        let (width, height) = (value(.width).flatMap { Int($0) }, value(.height).flatMap { Int($0) })
        if let width, let height, (1...Self.sizeMax).contains(width), (1...Self.sizeMax).contains(height) {
            size = Size(width: width, height: height)
        }
        isMaximized = value(.maximized) == "true"
        tab = value(.tab).flatMap { PanelTab(rawValue: $0) } ?? .notifications
        filter = value(.filter).flatMap { InboxFilter(rawValue: $0) } ?? .all
        let apps = (value(.collapsed) ?? "").split(separator: " ").prefix(Self.appCountMax)
        collapsedApps = Set(apps.map(String.init))
    }

    /// A key of the file.
    enum Key: String, CaseIterable, Sendable {
        case width, height, maximized, tab, filter, collapsed
    }

    /// Returns the text of a key; nil for a key that the file does not need.
    func text(_ key: Key) -> String? {
        switch key {
        case .width: size.map { "\($0.width)" }
        case .height: size.map { "\($0.height)" }
        case .maximized: isMaximized ? "true" : nil
        case .tab: tab.rawValue
        case .filter: filter.rawValue
        case .collapsed:
            collapsedApps.isEmpty ? nil : collapsedApps.sorted().prefix(Self.appCountMax).joined(separator: " ")
        }
    }
}

/// A tab of the main window.
enum PanelTab: String, CaseIterable, Sendable {
    case notifications, apps, settings
}
