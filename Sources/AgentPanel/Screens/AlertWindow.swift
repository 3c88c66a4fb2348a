// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushCore
internal import PushNet

/// The window of one alert: the app's name at the top, then the texts, then the buttons.
///
/// The window stays until the user answers.
final class AlertWindow {
    enum Answer {
        case close
        case view
        case action(String, text: String)
    }

    private let window: DialogWindow
    private let onAnswer: (Answer) -> Void
    private var alert: AlertRecord
    private let head = Box.column(spacing: 6)
    private let texts = Box.column(spacing: 6)
    private let scroller: Scroller
    private let typing = TextEntry(placeholder: tr("Message"))
    private let typingPlace: Revealer
    private let buttons = Bin()
    private let contentWidth: Int
    private let textHeightMax: Int
    private let isLow: Bool
    /// The action for which the user enters a text, and the button that sends it; nil if none.
    private var reply: (action: String, sendButton: Button)?
    /// Filters input that was meant for another window, and the second press of a double click on the previous alert.
    private var pause = AlertPause(at: .now)
    private var isDrawn = false

    /// Shows an alert.
    ///
    /// - Parameters:
    ///   - alert: The alert to show.
    ///   - application: The application that owns the window.
    ///   - owner: The panel's window that the alert is above; nil for none.
    ///   - onAnswer: Called for each action of the user.
    init(_ alert: AlertRecord, of application: Application, above owner: Window?, onAnswer: @escaping (Answer) -> Void)
    {
        self.alert = alert
        self.onAnswer = onAnswer
        let screen = Desktop.monitorSize ?? (1024, 768)
        contentWidth = min(max(screen.width - 24, 260), Int(380 * Desktop.textScale)) - 36
        isLow = screen.height < 400
        // The text gets the height that the icon, the name, the buttons and the margins leave.
        let rowCount = AlertButtons(alert).rows(isLow: isLow).count
        textHeightMax = max(screen.height - (isLow ? 120 : 160) - rowCount * 54, 40)
        window = DialogWindow(of: application, title: alert.appTitle, role: .alert)
        scroller = Scroller(texts)
        typing.styled("touch")
        typingPlace = Revealer(typing.padded(above: 6), from: .above)
        window.setOwner(owner)
        build()
        show(alert)
        listen()
        window.present()
    }

    deinit { window.destroy() }

    private func build() {
        typingPlace.isVisible = false
        let content = Box.column(spacing: 4, head, scroller, typingPlace, buttons.padded(above: 12))
            .padded(across: 18, above: 18, below: 16).sized(width: contentWidth)
        // The clamp keeps the width, even if the texts request more.
        let clamp = Clamp(content, widthMax: contentWidth + 36)
        window.setContent(WindowHandle(Box.column(clamp).styled("alert")))
        window.setResizable(false)
        window.styled("alert-window")
    }

    /// The number of the inbox entry.
    var entry: Int64 { alert.entry }
    /// Whether the user is writing a reply.
    var isWriting: Bool { reply != nil }

    // MARK: Content

    /// Shows an alert or its updated version; keeps the text that the user has entered.
    func show(_ alert: AlertRecord) {
        self.alert = alert
        showTexts()
        if !isWriting { showButtons(AlertButtons(alert)) }
    }

    private func showTexts() {
        head.removeAll()
        texts.removeAll()
        head.turn(isRow: isLow)
        head.append(AppIcon.make(alert.icon, of: alert.appTitle, pixels: isLow ? 32 : 48).aligned(across: .center))
        head.append(Label(alert.appTitle, .cut(lines: 1)).centered().styled("app-name", "dim-label"))
        head.aligned(across: isLow ? .center : .fill)
        let text = AlertText(alert)
        for (text, style) in [(text.title, "alert-title"), (text.subtitle, "heading"), (text.body, "body")]
        where !text.isEmpty {
            texts.append(Label(text).centered().styled(style))
        }
        if alert.earlierCount > 0 {
            let text = Texts.text(
                "%d earlier alert waits", "%d earlier alerts wait", count: Int(clamping: alert.earlierCount))
            texts.append(Label(text).centered().styled("caption", "dim-label"))
        }
        scroller.fit(width: contentWidth, heightMax: textHeightMax)
        window.named(DisplayText.plain(alert.appTitle)).described(DisplayText.plain(text.spoken))
    }

    /// Replaces the buttons; returns the default one.
    @discardableResult
    private func showButtons(_ plan: AlertButtons) -> Button {
        let made = plan.buttons.map { button in
            Button(button.title) { [weak self] in self?.press(button.role) }
                .styled(button.isDark ? "dark" : "light")
        }
        let box = Box.column(spacing: 8)
        for places in plan.rows(isLow: isLow) {
            // The order is the same in right-to-left languages, because the position is part of a button's meaning.
            let row = Box.row(spacing: 8).homogeneous().leftToRight()
            for place in places { row.append(made[place].expanding(across: true)) }
            box.append(row)
        }
        buttons.setContent(box)
        let first = made[plan.defaultIndex]
        first.described(DisplayText.plain("\(alert.appTitle)\n\(AlertText(alert).spoken)"))
        window.setDefault(first)
        first.focus()
        return first
    }

    // MARK: Input

    private func listen() {
        waitForPause()
        // The layout runs when the window gets its first size, and again when it grows for the text entry.
        window.onLayout { [weak self] in
            // The window must not move during GTK's layout phase.
            MainLoop.whenIdle { [weak self] in self?.place() }
        }
        typingPlace.onRevealed { [weak self] in self?.center() }
        window.onCloseRequest { [weak self] in
            self?.onAnswer(.close)
            return true
        }
        window.onShortcut("Escape") { [weak self] in
            self?.onAnswer(.close)
            return true
        }
        typing.onChanged { [weak self] in self?.updateSendButton() }
        typing.onReturn { [weak self] in self?.send() }
    }

    private func waitForPause() {
        window.onMapped { [weak self] in self?.pause.appear(at: .now) }
        window.onActiveChanged { [weak self] in
            guard let self, window.isActive else { return }
            pause.gainKeyboard(at: .now, heldKeys: Desktop.keysDown)
        }
        window.onKeyFirst(
            down: { [weak self] code, symbol, eventTime in
                guard let self else { return true }
                let isOfText = !isWriting && AlertPause.isOfText(symbol: symbol)
                return !pause.takesKey(code, isOfText: isOfText, at: Self.time(eventTime))
            },
            up: { [weak self] in self?.pause.releaseKey($0) })
        window.onPressFirst { [weak self] eventTime in
            guard let self else { return true }
            return !pause.takesPress(at: Self.time(eventTime))
        }
    }

    private static func time(_ eventTime: UInt32) -> MonotonicTime {
        AlertPause.time(ofEvent: eventTime, now: .now)
    }

    private func place() {
        center()
        if !isDrawn { pause.appear(at: .now) }
        isDrawn = true
    }

    private func center() { Desktop.center(window) }

    private func press(_ role: AlertButtons.Role) {
        switch role {
        case .close: onAnswer(.close)
        case .view: onAnswer(.view)
        case .action(let id): onAnswer(.action(id, text: isWriting ? typing.text : ""))
        case .write(let id): beginTyping(id)
        }
    }

    private func beginTyping(_ id: String) {
        guard let action = alert.actions.first(where: { $0.id == id }) else { return }
        let plan = AlertButtons(writing: action)
        pause.beginTyping()
        reply = (id, showButtons(plan))
        typing.named(VisibleText.label(action.title))
        typingPlace.isVisible = true
        typingPlace.isRevealed = true
        typing.focus()
        updateSendButton()
    }

    private func updateSendButton() { reply?.sendButton.isSensitive = !typing.text.isEmpty }

    private func send() {
        guard let reply, !typing.text.isEmpty else { return }
        press(.action(reply.action))
    }
}
