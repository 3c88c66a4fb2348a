// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushServing

/// Acts on signals, and at intervals, on the control loop.
///
/// SIGTERM and SIGINT shut every loop down. SIGHUP reloads the configuration and the certificate. SIGUSR2 checks the
/// program's file and then shuts down. After the shutdown, the file replaces the process.
final class SignalController: EventHandler {
    /// The interval between checks whether the certificate expires soon.
    private static let validityInterval = Duration.seconds(3600)
    /// The number of checks after which the certificate is loaded again.
    private static let checksPerRenewalCount = 24

    private let signals: SignalQueue
    private let mailboxes: [Mailbox<LoopMessage>]
    private let control: ServerLoop
    private let log: EventLog
    private let reloader: Reloader
    private let manager: ServiceManagement
    /// The check of the program's file; nil while none runs.
    private var check: ReplacementCheck?
    /// Whether the program's file replaces the process after the shutdown.
    private(set) var isReplacing = false

    init(
        signals: SignalQueue, mailboxes: [Mailbox<LoopMessage>], control: ServerLoop, log: EventLog,
        reloader: Reloader, manager: ServiceManagement
    ) {
        self.signals = signals
        self.mailboxes = mailboxes
        self.control = control
        self.log = log
        self.reloader = reloader
        self.manager = manager
    }

    /// Starts watching for signals, and the hourly check of the certificate.
    func watch() throws(ServerError) {
        control.onShutdown = { [unowned self] in self.tellLoopsToShutDown() }
        try ServerError.wrapping { () throws(NetError) in
            _ = try control.events.register(signals.descriptor, for: .readable, handler: self)
        }
        reloader.checkValidity()
        checkCertificateHourly(checkCount: 1)
        if let interval = manager.watchdogInterval { reportLife(every: interval / 2) }
    }

    /// Tells the service manager that all loops run, until one does not.
    private func reportLife(every interval: Duration) {
        let isAlive = control.context.allLoopsRun(within: max(interval, .seconds(2)), now: control.events.now)
        if isAlive { manager.reportState("WATCHDOG=1") }
        control.events.schedule(after: interval) { [weak self] in self?.reportLife(every: interval) }
    }

    private func checkCertificateHourly(checkCount: Int) {
        control.events.schedule(after: Self.validityInterval) { [weak self] in
            guard let self else { return }
            if checkCount % Self.checksPerRenewalCount == 0 {
                self.reloader.renewCertificate()
            } else {
                self.reloader.checkValidity()
            }
            self.checkCertificateHourly(checkCount: checkCount + 1)
        }
    }

    func ready(_ readiness: Readiness) {
        while let signal = try? signals.next() {
            switch signal {
            case Signal.hangUp: reloader.reload()
            case Signal.user2: beginReplacement()
            default:
                log.info("stopping", ["signal": "\(signal)"])
                control.shutDown()
            }
        }
    }

    // MARK: Replacement

    private func beginReplacement() {
        guard check == nil, !control.isShuttingDown else { return }
        do throws(NetError) {
            check = try ReplacementCheck(
                on: control.events, environment: manager.environment, timeLimit: Limits.replacementCheckTimeout
            ) { [unowned self] problem in
                check = nil
                if let problem { refuseReplacement(problem) } else { replace() }
            }
        } catch {
            refuseReplacement(error.description)
        }
    }

    private func refuseReplacement(_ problem: String) {
        log.error(
            "replacement_failed",
            ["problem": problem, "remedy": "correct the program or the configuration, then send SIGUSR2 again"])
    }

    private func replace() {
        log.info("replacing", [:])
        isReplacing = true
        control.context.keepListening()
        control.shutDown()
    }

    private func tellLoopsToShutDown() {
        check?.cancel()
        check = nil
        manager.reportState(isReplacing ? "RELOADING=1" : "STOPPING=1")
        for mailbox in mailboxes { mailbox.post(.shutDown) }
    }
}
