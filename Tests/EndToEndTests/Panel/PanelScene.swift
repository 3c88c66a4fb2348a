// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A user at a desktop with the panel installed: screen, window manager, agent, one registered app, and a server.
///
/// The panel is used with a pointer and keys, and read as a screen reader reads it.
final class PanelScene: Sendable {
    static let app = TestStack.app
    static let appName = "Example Mail"

    let screen: DesktopScreen
    let stack: TestStack
    let reader: ScreenReader

    /// Starts everything but the panel, which the bus starts when it is called.
    ///
    /// - Parameters:
    ///   - size: The size of the screen.
    ///   - language: The panel's language, as in `LANGUAGE`.
    ///   - isDark: Whether the desktop is dark.
    ///   - sound: The sound server of the agent.
    ///   - prepare: Called with the user before the app is registered.
    /// - Throws: The error of one of the programs.
    init(
        size: DesktopScreen.Size = .init(width: 800, height: 700), language: String = "en",
        isDark: Bool = false, sound: DesktopSound? = nil, prepare: (DeviceUser) throws -> Void = { _ in }
    ) async throws {
        screen = try await DesktopScreen(size: size, isWorkplace: true)
        let files = try await Self.catalogues(for: language)
        let environment = [
            "GSK_RENDERER": "cairo", "GTK_A11Y": "atspi", "LANG": "C.UTF-8", "LANGUAGE": language,
            "POSTHORN_LOCALE_DIR": files.path,
            "ADW_DEBUG_COLOR_SCHEME": isDark ? "prefer-dark" : "prefer-light",
        ]
        panelEnvironment = environment
        catalogues = files
        let variables = environment.map { "\($0)=\($1)" }.joined(separator: " ")
        try await screen.bus.addService(
            Self.busName, command: "/usr/bin/env \(variables) \(RepositoryPaths.program("posthorn-panel")) --service")
        let desktop = screen.environment.merging(sound?.environment ?? [:]) { desktop, _ in desktop }
        stack = try await TestStack(bus: screen.bus, environment: desktop) { user in
            try Self.install(for: user)
            try prepare(user)
        }
        reader = try ScreenReader(on: screen)
    }

    static let busName = "org.posthorn.Panel"
    private let panelEnvironment: [String: String]
    private let catalogues: TemporaryDirectory
    var user: DeviceUser { stack.user }

    // MARK: Notifications

    /// Makes the app's alerts wait for an answer, as its settings page does.
    func useAlerts() async throws { try await user.posthorn("settings", "set", Self.app, "alert", "alert") }

    /// Sends a payload to the app.
    func send(_ payload: String, collapseID: String? = nil) async throws {
        var notification = SentNotification(token: stack.token, payload: payload)
        notification.collapseID = collapseID
        let sent = try await stack.provider.send(notification)
        guard sent.status == 200 else { throw RefusedMarker(result: sent) }
    }

    /// Sends an alert.
    func send(title: String, body: String) async throws {
        try await send(#"{"aps":{"alert":{"title":"\#(title)","body":"\#(body)"}}}"#)
    }

    /// Sends many payloads, one after the other unless `concurrency` permits more.
    func send(_ payloads: [String], concurrency: Int = 1) async throws {
        let sent = try await stack.provider.send(
            payloads.map { SentNotification(token: stack.token, payload: $0) }, concurrency: concurrency)
        for result in sent where result.status != 200 { throw RefusedMarker(result: result) }
    }

    // MARK: The panel

    /// Opens the panel as its icon does, and returns the process, which ends soon if a panel runs already.
    @discardableResult
    func openPanel(_ arguments: String...) async throws -> RunningProcess {
        let panel = try RunningProcess(
            RepositoryPaths.program("posthorn-panel"), arguments,
            environment: user.environment.merging(panelEnvironment) { $1 })
        await panels.add(panel)
        try await waitFor("window", "Posthorn")
        return panel
    }

    private let panels = Panels()

    /// Returns the process that owns the panel's bus name, or nil if no process owns it.
    func panelProcess() async throws -> Int32? {
        let answer = try await screen.bus.busctl(
            "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
            "GetConnectionUnixProcessID", "s", Self.busName)
        return answer.output.split(whereSeparator: \.isWhitespace).last.flatMap { Int32($0) }
    }

    /// Sends the panel's process a signal, and returns its process ID.
    @discardableResult
    func signalPanel(_ signal: Int32) async throws -> Int32 {
        let process = try await eventualValue("a panel runs") { try await panelProcess() }
        kill(process, signal)
        return process
    }

    /// Returns the content of the panel's windows.
    func contents() async throws -> ScreenContents {
        guard let process = try await panelProcess() else { return ScreenContents(nodes: []) }
        return try await reader.contents(ofProcess: process)
    }

    /// Waits until the panel's windows satisfy a condition.
    ///
    /// - Parameters:
    ///   - what: The condition in words.
    ///   - condition: The condition, which is checked repeatedly.
    /// - Returns: The content of the windows at that time.
    /// - Throws: `DeadlinePassed` with the actual content.
    @discardableResult
    func wait(_ what: String, _ condition: (ScreenContents) async throws -> Bool) async throws -> ScreenContents {
        var last = ScreenContents(nodes: [])
        return try await eventualValue(what, evidence: { "\(last.transcript)\n\(self.user.agent.now.transcript)" }) {
            last = try await contents()
            return try await condition(last) ? last : nil
        }
    }

    /// Waits until there is an element with a role and a name.
    @discardableResult
    func waitFor(_ role: String, _ name: String) async throws -> ScreenElement {
        let contents = try await wait("\(role) '\(name)' is there") { $0.first(role, name) != nil }
        guard let element = contents.first(role, name) else { preconditionFailure("it was just found") }
        return element
    }

    // MARK: Input

    /// Scrolls to an element if it is out of sight, and clicks on it with the pointer.
    func click(_ role: String, _ name: String) async throws {
        try await click("\(role) '\(name)'") { $0.first(role, name) }
    }

    /// Clicks on the center of an element once it is visible and does not move.
    ///
    /// - Parameters:
    ///   - what: The element in words.
    ///   - find: Searches for the element.
    /// - Throws: `DeadlinePassed` when it is missing or cannot be scrolled to.
    func click(_ what: String, _ find: (ScreenContents) -> ScreenElement?) async throws {
        var last: DesktopScreen.Place?
        try await wait("\(what) is in sight") { contents in
            guard let element = find(contents), let window = contents.window(of: element) else { return false }
            let middle = (x: element.left + element.width / 2, y: element.top + element.height / 2)
            let origin = try await origin(of: window)
            let range = heights(of: element, in: contents, window)
            guard range.contains(middle.y) else {
                let distance = middle.y < range.lowerBound ? range.lowerBound - middle.y : middle.y - range.upperBound
                try await roll(isDown: middle.y > range.lowerBound, distance, over: window, at: origin)
                last = nil
                return false
            }
            let place = DesktopScreen.Place(x: origin.x + middle.x, y: origin.y + middle.y)
            guard place == last else {
                last = place
                return false
            }
            try await screen.click(place)
            return true
        }
    }

    /// Returns the heights at which an element can be clicked, because a page may extend above its header and below the
    /// tabs.
    private func heights(of element: ScreenElement, in contents: ScreenContents, _ window: ScreenElement) -> Range<Int>
    {
        let tabs = contents.inside(window).all("tab")
        let isOnPage = ["list item", "switch"].contains(element.role) || element.bottom > tabs.first?.top ?? Int.max
        guard isOnPage, let tab = tabs.first, element.role != "tab", contents.first("button", "Cancel") == nil else {
            return 0..<window.height
        }
        // The edges belong to neither part.
        return 76..<(tab.top - 24)
    }

    /// Turns the wheel over the center of a window, about 50 pixels a notch.
    private func roll(
        isDown: Bool, _ distance: Int, over window: ScreenElement, at origin: DesktopScreen.Place
    ) async throws {
        let (x, y) = (origin.x + window.width / 2, origin.y + window.height / 2)
        try await screen.xdotool(
            "mousemove", "\(x)", "\(y)", "click", "--repeat", "\(1 + distance / 60)", "--delay", "5", isDown ? "5" : "4"
        ).succeeded()
    }

    /// Presses Tab and then a key until an element has the focus.
    ///
    /// - Parameters:
    ///   - what: The element in words.
    ///   - key: The key that moves the focus, `Tab` or an arrow.
    ///   - find: Searches for the element.
    /// - Throws: `DeadlinePassed` when it does not get the focus.
    func moveFocus(to what: String, by key: String = "Tab", _ find: (ScreenContents) -> ScreenElement?) async throws {
        try await wait("\(what) has the focus") { contents in
            if find(contents)?.isFocused == true { return true }
            try await press(key)
            return false
        }
    }

    /// Presses keys, as `xdotool` names them.
    func press(_ keys: String...) async throws {
        for key in keys { try await screen.xdotool("key", key).succeeded() }
    }

    /// Types a text.
    func type(_ text: String) async throws { try await screen.xdotool("type", "--delay", "5", text).succeeded() }

    /// Returns the screen position at which a window's content begins.
    func origin(of window: ScreenElement) async throws -> DesktopScreen.Place {
        let frame = try await frame(of: window)
        // Without a compositor GTK draws a border instead of a shadow, with the same width on all sides.
        let border = (x: (frame.width - window.width) / 2, y: (frame.height - window.height) / 2)
        return .init(x: frame.left + border.x, y: frame.top + border.y)
    }

    /// Returns a window's frame on the screen, including its border.
    func frame(of window: ScreenElement) async throws -> DesktopScreen.Frame {
        try await eventualValue("the window \(window.name) is on the screen") {
            let name = "^\(NSRegularExpression.escapedPattern(for: window.name))$"
            let found = try await screen.xdotool("search", "--onlyvisible", "--name", name)
            guard let number = found.output.split(separator: "\n").last else { return nil }
            return try await screen.frame(ofWindow: String(number))
        }
    }

    // MARK: Results

    /// The notifications with which the app was opened, one line each.
    ///
    /// Opening without a notification writes an empty line.
    var opened: [Substring] { user.files.read("opened").split(separator: "\n", omittingEmptySubsequences: true) }

    /// Waits until the entry with a body has a state.
    func waitUntil(_ body: String, is state: String) async throws {
        try await user.waitForEntry("'\(body)' is \(state)") { $0.body == body && $0.state == state }
    }

    /// Returns the agent's value of a setting: of the app, of one of its event types, or of the user.
    func setting(_ name: String, of app: String? = app, event: String = "") async throws -> String? {
        let output =
            if let app { try await user.posthorn("settings", "show", app, "--json") } else {
                try await user.posthorn("settings", "list", "--json")
            }
        return try output.decoded(Settings.self).settings.first { $0.event == event && $0.name == name }?.value
    }

    /// Waits until a setting has a value.
    func waitUntil(_ name: String, of app: String? = app, event: String = "", has value: String) async throws {
        try await eventually("\(name) is \(value)", evidence: { self.user.agent.now.transcript }) {
            try await setting(name, of: app, event: event) == value
        }
    }

    private struct Settings: Decodable {
        let settings: [Setting]

        struct Setting: Decodable {
            let event: String
            let name: String
            let value: String
        }
    }

    /// Returns the catalog of a language, if there is one.
    static func catalogues(for language: String) async throws -> TemporaryDirectory {
        let files = try TemporaryDirectory()
        let source =
            language == longerLanguage
            ? try files.write(longerCatalogue(), to: "longer.po") : "\(RepositoryPaths.root)/po/\(language).po"
        guard FileManager.default.fileExists(atPath: source) else { return files }
        let folder = try files.makeDirectory("\(language)/LC_MESSAGES")
        try await RunningProcess.run(
            RepositoryPaths.tool("msgfmt"), [source, "--output-file", "\(folder)/posthorn-panel.mo"]
        ).succeeded()
        return files
    }

    /// Installs an app that records the notifications with which it is opened.
    private static func install(for user: DeviceUser) throws {
        try user.files.makeDirectory("data/applications")
        let program = try user.files.write(
            """
            #!/bin/sh
            printf '%s%s\\n' "${POSTHORN_NOTIFICATION:-nothing}" "${POSTHORN_ACTION:+ $POSTHORN_ACTION: $POSTHORN_TEXT}" \\
                >>'\(user.files.path(of: "opened"))'

            """, to: "app.sh", permissions: 0o700)
        try user.files.write(
            """
            [Desktop Entry]
            Type=Application
            Name=\(appName)
            Exec=\(program)
            Icon=mail-unread

            """, to: "data/applications/\(app).desktop", permissions: 0o644)
        try user.files.makeDirectory("data/posthorn/apps")
        try user.files.write(
            """
            {
                "event_types": [{"id": "MAIL", "name": "New mail"}, {"id": "INVITATION", "name": "Invitations"}],
                "categories": [{"id": "MAIL", "actions": [
                    {"id": "archive", "title": "Archive"}, {"id": "reply", "title": "Reply", "text": true}
                ]}]
            }
            """, to: "data/posthorn/apps/\(app).json", permissions: 0o644)
    }
}

/// The panels that the user opened, which end with the scene.
private actor Panels {
    private var processes: [RunningProcess] = []

    func add(_ process: RunningProcess) { processes.append(process) }
}
