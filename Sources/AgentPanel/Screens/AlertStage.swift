// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// Shows the alerts that wait in the agent, one at a time, and tells it the answers.
final class AlertStage {
    private let application: Widget
    private let mirror: AgentMirror
    private let owner: () -> Widget?
    private var queue = AlertQueue()
    private var window: AlertWindow?
    /// Answers that the agent has not taken yet; the process stays for them.
    private var untaken: [Int64: [BusValue]] = [:] {
        didSet {
            guard oldValue.isEmpty != untaken.isEmpty else { return }
            if untaken.isEmpty { application.releaseApplication() } else { application.holdApplication() }
        }
    }
    /// Those that are on their way to it.
    private var underWay: Set<Int64> = []

    /// Watches the agent.
    ///
    /// - Parameters:
    ///   - application: Whose windows alerts are.
    ///   - mirror: What the agent says.
    ///   - owner: The panel's window, above which alerts stand.
    init(_ application: Widget, _ mirror: AgentMirror, owner: @escaping () -> Widget?) {
        self.application = application
        self.mirror = mirror
        self.owner = owner
        mirror.watch(self) { stage, topic in
            if topic == .alerts { stage.showNext() }
        }
    }

    /// Whether an alert is on the screen.
    var isShowing: Bool { window != nil }

    private func showNext() {
        // Who has the panel's name must ask, or the agent takes the alerts for not shown; the calls of the mirror come from
        // a connection of their own.
        application.callFromOwnName(AgentProxy.name, AgentProxy.path, "ListAlerts")
        for entry in untaken.keys.sorted() { send(entry) }
        switch queue.take(mirror.alerts, isWriting: window?.isWriting ?? false) {
        case .nothing: break
        case .takeDown: window = nil
        case .show(let alert): show(alert)
        }
    }

    private func show(_ alert: AlertFacts) {
        if let window, window.entry == alert.entry { return window.show(alert) }
        window = AlertWindow(alert, of: application, above: owner()) { [weak self] in self?.answer($0) }
    }

    private func answer(_ answer: AlertWindow.Answer) {
        // The second press of two finds nothing to answer.
        guard let entry = queue.answer() else { return }
        let arguments = Self.arguments(entry, answer)
        let answered = window
        // Not from within the window's own signal; by then the next one may be there.
        MainLoop.whenIdle { [weak self] in
            if self?.window === answered { self?.window = nil }
        }
        untaken[entry] = arguments
        send(entry)
    }

    private func send(_ entry: Int64) {
        guard let arguments = untaken[entry], underWay.insert(entry).inserted else { return }
        mirror.agent?.call("AnswerAlert", arguments) { [weak self] result in
            guard let self else { return }
            underWay.remove(entry)
            switch result {
            // One that is away gets it when it is back.
            case .failure(let error) where !error.name.hasPrefix("org.posthorn.Error."): break
            case .success, .failure: untaken[entry] = nil
            }
            mirror.ask(.alerts)
        }
    }

    private static func arguments(_ entry: Int64, _ answer: AlertWindow.Answer) -> [BusValue] {
        let word: String
        var (action, text, token) = ("", "", "")
        switch answer {
        case .close: word = "close"
        case .view: (word, token) = ("view", Desktop.activationToken())
        case .action(let id, let typed): (word, action, text, token) = ("action", id, typed, Desktop.activationToken())
        }
        return [.int64(entry), .string(word), .text(action), .text(text), .text(token)]
    }

    /// Closes the alert on the screen and waits until the agent knows: what waits behind it is another process's.
    func closeBeforeTheEnd() {
        if let entry = queue.answer() { untaken[entry] = Self.arguments(entry, .close) }
        for arguments in untaken.values { mirror.agent?.callBeforeTheEnd("AnswerAlert", arguments) }
    }
}
