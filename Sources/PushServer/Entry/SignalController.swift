// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushServing
internal import PushTLS

/// Converts signals to messages for the loops, on the control loop.
///
/// SIGTERM and SIGINT shut every loop down. SIGHUP reloads the certificate, for connections accepted from then on.
final class SignalController: EventHandler {
    /// The interval between checks of the server's own certificate.
    private static let certificateInterval = Duration.seconds(24 * 3600)

    private let signals: SignalQueue
    private let mailboxes: [Mailbox<LoopMessage>]
    private let control: ServerLoop
    private let log: EventLog
    private let loadCertificate: () throws(ServerError) -> TLSContext
    /// Renews the server's own certificate if it expires soon; returns whether it did.
    private let renewCertificate: () throws(ServerError) -> Bool
    private let reportState: (String) -> Void

    init(
        signals: SignalQueue, mailboxes: [Mailbox<LoopMessage>], control: ServerLoop, log: EventLog,
        loadCertificate: @escaping () throws(ServerError) -> TLSContext,
        renewCertificate: @escaping () throws(ServerError) -> Bool, reportState: @escaping (String) -> Void
    ) {
        self.signals = signals
        self.mailboxes = mailboxes
        self.control = control
        self.log = log
        self.loadCertificate = loadCertificate
        self.renewCertificate = renewCertificate
        self.reportState = reportState
    }

    /// Starts watching for signals and the daily check of the certificate.
    func watch() throws(ServerError) {
        control.onShutdown = { [unowned self] in self.tellLoopsToShutDown() }
        try ServerError.wrapping { () throws(NetError) in
            _ = try control.events.register(signals.descriptor, for: .readable, handler: self)
        }
        lookAtCertificateDaily()
    }

    private func lookAtCertificateDaily() {
        control.events.schedule(after: Self.certificateInterval) { [weak self] in
            guard let self else { return }
            do throws(ServerError) {
                // Reloads even an unchanged certificate, because that also creates new keys for session tickets.
                _ = try self.renewCertificate()
                self.reload()
            } catch {
                self.log.error("certificate_not_renewed", ["error": error.description])
            }
            self.lookAtCertificateDaily()
        }
    }

    func ready(_ readiness: Readiness) {
        while let signal = try? signals.next() {
            switch signal {
            case Signal.hangUp: reload()
            default:
                log.info("stopping", ["signal": "\(signal)"])
                control.shutDown()
            }
        }
    }

    private func tellLoopsToShutDown() {
        reportState("STOPPING=1")
        for mailbox in mailboxes { mailbox.post(.shutDown) }
    }

    /// Reloads the certificate; if that fails, the current one stays in use.
    private func reload() {
        do throws(ServerError) {
            _ = try renewCertificate()
            let certificate = try loadCertificate()
            for mailbox in mailboxes { mailbox.post(.certificate(certificate)) }
            log.info("certificate_reloaded")
        } catch {
            log.error("certificate_not_reloaded", ["error": error.description])
        }
    }
}
