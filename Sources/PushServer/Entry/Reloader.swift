// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushTLS

/// Applies a changed configuration and a new certificate while the server runs, on the control loop.
///
/// ```
/// SIGHUP ─▶ read the configuration ─▶ settings ─▶ context, store, log ─┐
///                     └─▶ certificate files ─▶ TLS context ────────────┴─▶ messages to the loops
/// ```
/// Each part that is invalid is reported, and the former one stays in use.
final class Reloader {
    private let context: ServerContext
    private let store: any ServerStore
    private let mailboxes: [Mailbox<LoopMessage>]
    private let log: EventLog
    private let validity: CertificateValidity
    private var configuration: ServerConfiguration

    /// Creates a reloader of a server that runs with a configuration; the mailboxes are those of the data loops, then that of
    /// the control loop.
    init(
        _ configuration: ServerConfiguration, context: ServerContext, store: any ServerStore,
        mailboxes: [Mailbox<LoopMessage>]
    ) {
        self.configuration = configuration
        self.context = context
        self.store = store
        self.mailboxes = mailboxes
        log = context.log
        validity = CertificateValidity(log)
    }

    /// Reads the configuration and the certificate again, and applies what can change while the server runs.
    func reload() {
        var certificate = context.installation.configuredFiles
        do throws(ConfigurationError) {
            if let new = try configuration.read?() {
                certificate = CertificateFiles(new)
                apply(configuration.reload(new))
            }
        } catch {
            log.error("configuration_not_reloaded", ["error": error.description])
        }
        reloadCertificate(certificate)
    }

    private func apply(_ reload: ServerConfiguration.Reload) {
        configuration = reload.configuration
        context.apply(configuration)
        store.bounds.change(to: configuration.storeConfiguration(path: context.installation.databaseFile))
        log.threshold = configuration.logLevel
        for mailbox in mailboxes { mailbox.post(.settings(configuration.strangerLimits)) }
        func names(_ keys: [ConfigurationKey]) -> String { keys.map(\.rawValue).joined(separator: " ") }
        log.info("configuration_reloaded", ["changed": names(reload.applied)])
        guard !reload.waiting.isEmpty else { return }
        log.warning(
            "restart_needed",
            ["settings": names(reload.waiting), "remedy": "these settings changed; restart the server to apply them"])
    }

    // MARK: The certificate

    /// Renews the server's own certificate if it expires soon, and loads the certificate again.
    ///
    /// An unchanged certificate is loaded too, because that also creates new keys for session tickets.
    func renewCertificate() { reloadCertificate(context.installation.configuredFiles) }

    /// Logs when the certificate expires soon.
    func checkValidity() { validity.check(context.installation) }

    private func reloadCertificate(_ files: CertificateFiles) {
        do throws(ServerError) {
            let certificate = try context.installation.loadCertificate(files)
            for mailbox in mailboxes.dropLast() { mailbox.post(.certificate(certificate)) }
            log.info("certificate_reloaded", ["file": context.installation.certificateFile])
        } catch {
            log.error("certificate_not_reloaded", ["error": error.description])
        }
        checkValidity()
    }
}
