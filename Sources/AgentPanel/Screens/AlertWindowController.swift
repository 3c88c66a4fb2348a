// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushAPI
internal import PushCore
internal import PushDBus

/// Shows the alerts that wait in the agent, one at a time, and sends the answers to the agent.
final class AlertWindowController {
    /// The maximum number of answers that are sent before the agent confirms one; the agent refuses more than 16.
    private static let underWayCountMax = 8
    /// The delay after which an answer is sent again that the agent refused because of its load.
    private static let retryMilliseconds: UInt32 = 1000

    private let application: Application
    private let cache: AgentStateCache
    private let owner: () -> Window?
    private var queue = AlertQueue()
    private var window: AlertWindow?
    /// Whether the window's alert was answered, and the window can show the next one.
    private var isWindowFree = false
    /// The answers that the agent has not confirmed, by entry number; the process stays until they are confirmed.
    private var untaken: [Int64: Call] = [:] {
        didSet {
            guard oldValue.isEmpty != untaken.isEmpty else { return }
            if untaken.isEmpty { application.release() } else { application.hold() }
        }
    }
    /// The entries whose answer was sent and is not yet confirmed.
    private var underWay: Set<Int64> = []

    /// Starts watching the agent.
    ///
    /// - Parameters:
    ///   - application: The application that owns the alert windows.
    ///   - cache: The copy of the agent's state.
    ///   - owner: Returns the window that an alert must be above; nil for none.
    init(_ application: Application, _ cache: AgentStateCache, owner: @escaping () -> Window?) {
        self.application = application
        self.cache = cache
        self.owner = owner
        cache.watch(self) { controller, topic in
            if topic == .alerts { controller.takeList() }
        }
    }

    var isShowing: Bool { window != nil }

    private func takeList() {
        // The call must come from the connection that owns the panel's bus name, else the agent treats the alerts as
        // not shown. The cache uses a connection of its own.
        application.callFromOwnName(AgentInterface.name, AgentInterface.path, AgentMethod.listAlerts.rawValue)
        sendAnswers()
        showNext()
    }

    private func showNext() {
        switch queue.take(cache.alerts, isWriting: window?.isWriting ?? false) {
        case .nothing: break
        case .takeDown: window = nil
        case .show(let alert): show(alert)
        }
        // No other alert waits.
        if isWindowFree { (window, isWindowFree) = (nil, false) }
        window?.show(queue.position)
    }

    private func show(_ alert: AlertRecord) {
        defer { isWindowFree = false }
        if let window, isWindowFree { return window.showNext(alert, queue.position) }
        if let window, window.entry == alert.entry { return window.show(alert) }
        window = AlertWindow(alert, queue.position, of: application, above: owner()) { [weak self] in self?.answer($0) }
    }

    private func answer(_ answer: AlertWindow.Answer) {
        // The second press of a double click finds no alert to answer.
        let entries = answer.isForAll ? queue.answerAll() : [queue.answer()].compactMap { $0 }
        guard !entries.isEmpty else { return }
        let arguments = entries.map { ($0, Call($0, answer)) }
        untaken.merge(arguments) { $1 }
        sendAnswers()
        let answered = window
        // An app that View opens takes the focus, so the next alert gets a window of its own above that app.
        isWindowFree = !answer.opensApp
        // The window is changed or released later, because this code runs in one of its signals. By then it may have
        // been replaced, or may show the next alert.
        MainLoop.whenIdle { [weak self] in
            guard let self, window === answered, queue.shown == nil else { return }
            if isWindowFree { showNext() } else { window = nil }
        }
    }

    // MARK: Answers

    private func sendAnswers() {
        for entry in untaken.keys.sorted() where underWay.count < Self.underWayCountMax { send(entry) }
    }

    private func send(_ entry: Int64) {
        guard let call = untaken[entry], underWay.insert(entry).inserted else { return }
        cache.agent?.call(call.method, call.arguments) { [weak self] result in
            guard let self else { return }
            underWay.remove(entry)
            switch result {
            case .failure(let error) where error.agentCode == .limitsExceeded:
                MainLoop.after(milliseconds: Self.retryMilliseconds) { [weak self] in self?.sendAnswers() }
                return
            // The agent is not running. The answer is sent again when it returns.
            case .failure(let error) where !error.isOfAgent: break
            case .success, .failure:
                untaken[entry] = nil
                sendAnswers()
            }
            cache.ask(.alerts)
        }
    }

    /// The call that tells the agent an answer.
    private struct Call {
        let method: AgentMethod
        let arguments: [BusValue]

        init(_ entry: Int64, _ answer: AlertWindow.Answer) {
            var word = "close"
            var (action, text, token) = ("", "", "")
            switch answer {
            case .close, .closeAll: break
            case .view: (word, token) = ("view", Desktop.activationToken(shownAs: MainWindow.title))
            case .action(let id, let typed):
                (word, action, text) = ("action", id, typed)
                token = Desktop.activationToken(shownAs: MainWindow.title)
            case .remind(let choice):
                (method, arguments) = (
                    .remindEntry, [.int64(entry), .int64(choice.time(after: PanelTime.now).unixSeconds)]
                )
                return
            }
            (method, arguments) = (
                .answerAlert, [.int64(entry), .string(word), .text(action), .text(text), .text(token)]
            )
        }
    }

    /// Closes the alert on the screen and waits for the agent; a later process shows the alerts that still wait.
    func closeBeforeTheEnd() {
        if let entry = queue.answer() { untaken[entry] = Call(entry, .close) }
        for call in untaken.values { cache.agent?.callBeforeTheEnd(call.method, call.arguments) }
    }
}
