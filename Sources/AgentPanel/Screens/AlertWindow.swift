// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushAPI
internal import PushCore
internal import PushNet

/// The window of the alert on the screen: the app's name at the top, then the texts, then the buttons.
///
/// The window stays until the user answers. It then shows the next alert, if another one waits.
final class AlertWindow {
    enum Answer {
        case close
        /// Closes the alert and all others that wait.
        case closeAll
        case view
        case action(String, text: String)
        /// Closes the alert and shows it again later.
        case remind(LaterChoice)
    }

    private let window: DialogWindow
    private let onAnswer: (Answer) -> Void
    private var alert: AlertRecord
    private let head = Box.column(spacing: 6)
    private let time = Label("", .cut(lines: 1)).centered().styled("caption", "dim-label")
    private let mark = Label("", .cut(lines: 3)).centered().styled("unverified", "caption")
    private let picture = Bin()
    private let labels = Box.column(spacing: 6)
    private let texts: Box
    private let scroller: Scroller
    private let typing = TextEntry(placeholder: tr("Message"))
    private let typingPlace: Revealer
    private let buttons = Bin()
    private let footer: AlertFooter
    private let content: Box
    private let contentWidth: Int
    private let screenHeight: Int
    private let isLow: Bool
    /// The action for which the user enters a text, and the button that sends it; nil if none.
    private var reply: (action: String, sendButton: Button)?
    /// Whether the buttons are the times of a reminder.
    private var isChoosingTime = false
    /// The file and the maximum size of the picture on the screen.
    private var shownPicture: (path: String, pixelsMax: Int) = ("", 0)
    /// The button that Return presses.
    private var defaultButton: Button?
    /// Filters input that was meant for another window, and the second press of a double click on the previous alert.
    private var pause = AlertPause(at: .now) { didSet { showPause() } }
    private var pauseEnd: MainLoop.Source?
    private var nextMinute: MainLoop.Source?
    private var isDrawn = false

    /// Shows an alert.
    ///
    /// - Parameters:
    ///   - alert: The alert to show.
    ///   - position: The position of the alert among those that wait.
    ///   - application: The application that owns the window.
    ///   - owner: The panel's window that the alert is above; nil for none.
    ///   - onAnswer: Called for each action of the user.
    init(
        _ alert: AlertRecord, _ position: AlertQueue.Position, of application: Application, above owner: Window?,
        onAnswer: @escaping (Answer) -> Void
    ) {
        self.alert = alert
        self.onAnswer = onAnswer
        let screen = Desktop.monitorSize ?? (1024, 768)
        contentWidth = min(max(screen.width - 24, 260), Int(380 * Desktop.textScale)) - 36
        screenHeight = screen.height
        isLow = screen.height < 400
        window = DialogWindow(of: application, title: alert.appTitle, role: .alert)
        texts = Box.column(spacing: 6, picture, labels)
        scroller = Scroller(texts)
        scroller.showsBar()
        typing.styled("touch")
        typingPlace = Revealer(typing.padded(above: 6), from: .above)
        var later: () -> Void = {}
        footer = AlertFooter(onLater: { later() }, onCloseAll: { onAnswer(.closeAll) })
        content = Box.column(
            spacing: 4, head.padded(below: 4), mark, scroller, typingPlace, buttons.padded(above: 12), footer.widget)
        window.setOwner(owner)
        build()
        footer.show(position)
        show(alert)
        listen()
        later = { [weak self] in self?.showLater() }
        window.present()
    }

    deinit {
        pauseEnd?.cancel()
        nextMinute?.cancel()
        window.destroy()
    }

    private func build() {
        typingPlace.isVisible = false
        content.padded(across: 18, above: 18, below: 16).sized(width: contentWidth)
        // The clamp keeps the width, even if the texts request more.
        let clamp = Clamp(content, widthMax: contentWidth + 36)
        window.setContent(WindowHandle(Box.column(clamp).styled("alert")))
        window.setResizable(false)
        window.styled("alert-window")
        for widget: Widget in [buttons, footer.widget] { widget.styled("answers") }
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
        if !isWriting, !isChoosingTime { showButtons(AlertButtons(alert)) }
        fit()
        showPicture()
    }

    /// Shows the next alert of a series after the user answered one.
    func showNext(_ alert: AlertRecord, _ position: AlertQueue.Position) {
        (reply, isChoosingTime) = (nil, false)
        typing.text = ""
        typingPlace.isRevealed = false
        typingPlace.isVisible = false
        pause.showNext(at: .now)
        footer.show(position)
        show(alert)
    }

    /// Shows how many alerts wait.
    func show(_ position: AlertQueue.Position) {
        guard footer.show(position) else { return }
        describeDefaultButton()
        fit()
    }

    private func showTexts() {
        head.removeAll()
        labels.removeAll()
        head.turn(isRow: isLow)
        head.append(AppIcon.make(alert.icon, of: alert.appTitle, pixels: isLow ? 32 : 48).aligned(across: .center))
        head.append(Label(alert.appTitle, .cut(lines: isLow ? 1 : 3)).centered().styled("app-name"))
        head.append(time)
        head.aligned(across: isLow ? .center : .fill)
        let text = AlertText(alert)
        mark.setText(text.mark)
        mark.hinted(UnverifiedMark.explanation(alert.appID))
        mark.isVisible = !text.mark.isEmpty
        var shown: [Label] = []
        for (text, style) in [(text.title, "alert-title"), (text.subtitle, "heading"), (text.body, "body")]
        where !text.isEmpty {
            shown.append(Label(text).styled(style))
        }
        if alert.earlierCount > 0 {
            let text = Texts.text(
                "%d earlier alert waits", "%d earlier alerts wait", count: Int(clamping: alert.earlierCount))
            shown.append(Label(text).styled("caption", "dim-label"))
        }
        if !alert.url.isEmpty {
            shown.append(Label(Texts.fill(tr("Opens %1"), LinkText.host(alert.url))).styled("caption", "dim-label"))
        }
        for label in shown { labels.append(label) }
        // A long text is easier to read if all lines begin at the same place.
        let isLong = shown.contains { $0.lineCount(width: contentWidth) > Self.centeredLineCountMax }
        for label in shown where !isLong { label.centered() }
        window.setTitle(alert.appTitle)
        window.named(alert.appTitle).described(text.spoken)
        showTime()
    }

    /// Shows the picture as large as the texts leave space for it, but never higher than a third of the window.
    private func showPicture() {
        let isShown = !alert.picture.isEmpty && !isLow
        picture.isVisible = isShown
        guard isShown else { return }
        let textHeight = labels.naturalHeight(width: contentWidth) + 6
        // A text that needs more space scrolls anyway, so it leaves half of the space to the picture.
        let space = max(textsHeightMax - textHeight, textsHeightMax / 2)
        let pixelsMax = min(Self.picturePixelsMax, heightMax / 3, space)
        guard shownPicture != (alert.picture, pixelsMax) else { return }
        shownPicture = (alert.picture, pixelsMax)
        picture.setContent(
            EntryPicture.make(alert.picture, pixelsMax: pixelsMax) { [weak self] in self?.fit() })
    }

    private static var picturePixelsMax: Int { 160 }

    /// The maximum number of lines of a centered text.
    private static var centeredLineCountMax: Int { 3 }

    /// Shows when the alert came, and updates the text while the window is open, because a day may end.
    private func showTime() {
        time.setText(PanelTime.arrival(alert.receivedAt, now: PanelTime.now))
        nextMinute?.cancel()
        nextMinute = MainLoop.after(milliseconds: 60_000) { [weak self] in
            self?.nextMinute = nil
            self?.showTime()
        }
    }

    /// Replaces the buttons; returns the default one.
    @discardableResult
    private func showButtons(_ plan: AlertButtons) -> Button {
        isChoosingTime = false
        let made = plan.buttons.map { button in
            answerButton(button.title, isDark: button.isDark) { [weak self] in self?.press(button.role) }
        }
        let box = Box.column(spacing: 8)
        for places in plan.rows(isLow: isLow) {
            // The order is the same in right-to-left languages, because the position is part of a button's meaning.
            let row = Box.row(spacing: 8).homogeneous().leftToRight()
            for place in places { row.append(made[place].expanding(across: true)) }
            box.append(row)
        }
        buttons.setContent(box)
        setDefault(made[plan.defaultIndex])
        return made[plan.defaultIndex]
    }

    private func answerButton(_ title: String, isDark: Bool, _ pressed: @escaping () -> Void) -> Button {
        let button = Button(title, pressed).styled(isDark ? "dark" : "light")
        button.setTitle(title, .cut(lines: 2))
        return button
    }

    private func setDefault(_ button: Button) {
        defaultButton = button
        describeDefaultButton()
        window.setDefault(button)
        button.focus()
    }

    /// Replaces the buttons with the times of a reminder.
    private func showLater() {
        isChoosingTime = true
        let back = answerButton(tr("Back"), isDark: true) { [weak self] in self?.hideLater() }
        let choices = LaterChoice.inOrder(after: PanelTime.now).map { choice in
            answerButton(choice.title, isDark: false) { [weak self] in self?.onAnswer(.remind(choice)) }
        }
        let box = Box.column(spacing: 8)
        let made = [back] + choices
        for start in stride(from: 0, to: made.count, by: 2) {
            let row = Box.row(spacing: 8).homogeneous().leftToRight()
            for button in made[start...].prefix(2) { row.append(button.expanding(across: true)) }
            box.append(row)
        }
        buttons.setContent(box)
        setDefault(back)
        fit()
    }

    /// Returns from the times of a reminder to the buttons of the alert.
    private func hideLater() {
        pause.ignoreHeldKeys()
        showButtons(AlertButtons(alert))
        fit()
    }

    private func describeDefaultButton() {
        let parts = [alert.appTitle, AlertText(alert).spoken, footer.text]
        defaultButton?.described(parts.filter { !$0.isEmpty }.joined(separator: "\n"))
    }

    /// Limits the height of the texts, so that the window takes at most 60 % of the screen's height.
    ///
    /// On a low screen, most of that would be buttons, so the window may take the whole screen. A window with many
    /// buttons shows at least three lines of text.
    private func fit() {
        footer.fit(width: contentWidth)
        scroller.fit(width: contentWidth, heightMax: textsHeightMax)
    }

    /// The maximum height of the window, except for one with many buttons.
    private var heightMax: Int { isLow ? screenHeight - 24 : screenHeight * 6 / 10 }

    /// The maximum height of picture and texts.
    private var textsHeightMax: Int {
        let margins = 18 + 16 + 4
        var others = margins
        for part: Widget in [head, mark, buttons, footer.widget] where part.isVisible {
            others += part.naturalHeight(width: contentWidth) + 4
        }
        let threeLines = min(Int(66 * Desktop.textScale), screenHeight - 24 - others)
        return max(heightMax - others, threeLines, 40)
    }

    // MARK: Input

    private func listen() {
        waitForPause()
        showPause()
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
            guard let self else { return true }
            if isChoosingTime { hideLater() } else { onAnswer(.close) }
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
                let key = AlertPause.Key(symbol: symbol)
                return !pause.takesKey(code, isWriting && key == .text ? .other : key, at: Self.time(eventTime))
            },
            up: { [weak self] in self?.pause.releaseKey($0) })
        window.onPressFirst { [weak self] eventTime in
            guard let self else { return true }
            return !pause.takesPress(at: Self.time(eventTime))
        }
    }

    /// Dims the buttons during a pause.
    private func showPause() {
        let rest = pause.remainingMilliseconds(at: .now)
        for widget: Widget in [buttons, footer.widget] { widget.setStyle("waiting", rest > 0) }
        window.setBusy(rest > 0)
        pauseEnd?.cancel()
        pauseEnd =
            rest <= 0
            ? nil
            : MainLoop.after(milliseconds: UInt32(clamping: rest)) { [weak self] in
                self?.pauseEnd = nil
                self?.showPause()
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
        fit()
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
