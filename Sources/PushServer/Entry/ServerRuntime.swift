// SPDX-License-Identifier: Apache-2.0

internal import PushCluster
internal import PushCore
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushTLS

/// Builds the store, loops and listeners, runs them, and shuts them down in order.
final class ServerRuntime {
    private let configuration: ServerConfiguration
    private let installation: Installation
    private let log: EventLog
    private let store: any ServerStore
    /// The mailboxes of the data loops, followed by that of the control loop.
    private let mailboxes: [Mailbox<LoopMessage>]
    private let storeClient: BlockingStoreClient
    private let webhookInbox = WebhookInbox()
    private let manager: ServiceManagement
    /// The listening sockets of each data loop.
    private let sockets: [[ListeningSocket]]
    private let adminSocket: ListeningSocket
    /// The port for monitoring and its URL; nil without one.
    private let metrics: (socket: ListeningSocket, url: String)?
    /// The configured network ports, with the numbers that the kernel chose.
    private let ports: [NetworkPort]
    /// The listening sockets, for the next process.
    let passedSockets: [PassedSocket]
    /// The destination of links that other nodes open; nil without a cluster.
    private let acceptedLinks: AcceptedLinks?
    private let fatal = FatalFlag()
    private let storeCondition = StoreCondition()
    /// Nil unless the server is ephemeral.
    private let testMode: TestMode?

    init(_ configuration: ServerConfiguration, log: EventLog, manager: ServiceManagement) throws(ServerError) {
        self.manager = manager
        self.configuration = configuration
        self.log = log
        ProcessLimits.prepareDescriptors(
            min(configuration.connectionCaps.all + Limits.reservedDescriptorCount, Limits.preparedDescriptorCountMax))
        let (installation, keeper) = try ClusterFiles.open(configuration, log)
        self.installation = installation
        let accepted = try ServerError.wrapping { () throws(NetError) in
            keeper == nil ? nil : try Mailbox<AcceptedLink.Event>()
        }
        acceptedLinks = accepted.map { AcceptedLinks($0) }
        let loopCount = configuration.loopCount ?? ProcessFacts.processorCount
        mailboxes = try ServerError.wrapping { () throws(NetError) in try (0...loopCount).map(Self.makeMailbox) }
        var links: LinkConfiguration?
        let authority = keeper?.authority
        if let authority, let accepted, let address = configuration.linkAddress {
            links = LinkConfiguration(address: address, authority: authority, accepted: accepted, log: log)
            links?.keeper = keeper
        }
        store = try Self.openStore(installation, configuration, storeCondition, links, log)
        if let authority, let node = store as? PostgresStore {
            try installation.acceptLinks(of: node.instance.node, authority)
            keeper?.observe(
                ClusterFiles.handlers(installation, node.instance.node, loops: Array(mailboxes.dropLast()), log))
        }
        testMode = try ServerError.wrapping { () throws(NetError) in
            configuration.ephemeral == nil ? nil : try TestMode()
        }
        storeClient = try BlockingStoreClient(loop: UInt32(loopCount) + 1, store: store)
        let listening = try ServerError.wrapping { () throws(NetError) in
            try ListeningSockets(
                configuration.ports, loopCount: loopCount, inherited: manager.inheritedSockets,
                forget: manager.forgetSockets)
        }
        (sockets, ports) = (listening.byLoop, listening.ports)
        passedSockets = listening.passed
        adminSocket = try ServerError.wrapping { () throws(NetError) in
            ListeningSocket(try Sockets.listen(path: configuration.adminSocket, mode: 0o600), .admin)
        }
        metrics = try ListeningSockets.forMonitoring(configuration.metricsListen)
    }

    /// Runs until a signal arrives, then commits everything that was accepted.
    ///
    /// - Parameters:
    ///   - signals: The signals of the process.
    ///   - printLine: Prints the line of an ephemeral server.
    /// - Returns: Whether the program's file should replace the process.
    /// - Throws: The reason why the server could not start, or a failure of the disk.
    func run(signals: SignalQueue, printLine: @escaping (String) -> Void) throws(ServerError) -> Bool {
        let (log, fatal, controlMailbox) = (log, fatal, mailboxes[mailboxes.count - 1])
        let receivers: [any StoreReplyReceiver] =
            mailboxes.dropLast().map { LoopReceiver($0) }
            + [LoopReceiver(controlMailbox, hasHost: false), storeClient.receiver, webhookInbox]
            + (testMode.map { [BuiltInDeviceReceiver(mailbox: $0.replies)] } ?? [])
        store.start(receivers: receivers) { error in
            log.error("store_failed", ["error": error.description])
            fatal.raise(.store(error))
            controlMailbox.post(.shutDown)
        }
        if installation.isOpenToOthers {
            log.warning(
                "data_directory_open",
                ["path": installation.directory, "remedy": "run chmod 700, so that only the server can read it"])
        }
        let quotas = try makeQuotas()
        store.share(quotas)
        let authorities = try makeAuthorities()
        let context = makeContext(quotas, authorities)
        try warn(of: authorities)
        let ephemeral = try configuration.ephemeral.map { ephemeral throws(ServerError) in
            try EphemeralSetup(ephemeral, context: context, storeClient: storeClient, ports: ports)
        }
        let certificate = try installation.loadCertificate(installation.configuredFiles)
        let threads = startDataLoops(context, certificate)
        let webhooks = startWebhooks(context)
        let control = try makeControlLoop(context)
        let quotaWriter = QuotaWriter(context.quotas, loop: control)
        quotaWriter.start()
        let controller = SignalController(
            signals: signals, mailboxes: Array(mailboxes.dropLast()), control: control, log: log,
            reloader: Reloader(configuration, context: context, store: store, mailboxes: mailboxes),
            manager: manager)
        try controller.watch()
        log.info(
            "listening",
            [
                "url": context.serverURL, "loops": "\(threads.count)", "admin_socket": configuration.adminSocket,
                "data_directory": installation.directory, "durability": configuration.durability.rawValue,
                "metrics": metrics?.url ?? "off", "version": ProductVersion.text,
            ])
        let devices = try ephemeral.map { ephemeral throws(ServerError) in
            try attachDevices(ephemeral, to: control, index: UInt32(receivers.count - 1), printLine)
        }
        manager.reportState("READY=1\nSTATUS=Serving \(context.serverURL)")
        if let storeSockets = manager.storeSockets {
            storeSockets(passedSockets)
            context.serving.keepListening()
        }
        withExtendedLifetime(devices) { control.events.run() }
        for thread in threads { thread.join() }
        if let command = quotaWriter.command() { store.submit([command]) }
        webhookInbox.stop()
        webhooks.join()
        store.stop()
        context.backups.end()
        log.info("stopped", [:])
        if let error = fatal.error { throw error }
        return controller.isReplacing
    }

    /// Attaches the devices of a server for tests.
    ///
    /// - Parameters:
    ///   - ephemeral: The devices, and the line that reports them.
    ///   - control: The loop whose thread they use.
    ///   - index: Their index among the store's receivers.
    ///   - printLine: Prints the line once all are attached.
    /// - Returns: The devices; nil unless the server is ephemeral.
    /// - Throws: `ServerError.system` if the kernel has no memory for another descriptor.
    private func attachDevices(
        _ ephemeral: EphemeralSetup, to control: ServerLoop, index: UInt32, _ printLine: @escaping (String) -> Void
    ) throws(ServerError) -> BuiltInDevices? {
        guard let testMode else { return nil }
        let devices = try ServerError.wrapping { () throws(NetError) in
            try BuiltInDevices(ephemeral.devices, loop: control, index: index, testMode: testMode)
        }
        devices.onAttached = { printLine(ephemeral.line) }
        devices.attach()
        return devices
    }

    /// Creates the quotas from the settings and counts in the store.
    ///
    /// Once the store has answered, every loop also has its apps and keys. Without them, the first provider's key would
    /// be unknown.
    ///
    /// - Returns: The quotas.
    /// - Throws: A store failure.
    private func makeQuotas() throws(ServerError) -> Quotas {
        do throws(StoreRefusal) {
            guard case .quotas(let settings, let uses) = try storeClient.ask([.control(.quota(.all))]).first else {
                preconditionFailure("the store answered a request with another request's answer")
            }
            return Quotas(configuration.quotas, settings: settings, uses: uses, isShared: acceptedLinks != nil)
        } catch {
            // A failed disk ends the server with the same error as later. The error is available only after the store's
            // thread has ended.
            store.stop()
            throw fatal.error ?? .refused(error.detail)
        }
    }

    private func makeAuthorities() throws(ServerError) -> AuthorityKeeper {
        let (installation, loops) = (installation, Array(mailboxes.dropLast()))
        return try ServerError.wrapping { () throws(InstallationError) in
            try AuthorityKeeper(installation) { () throws(ServerError) in
                let certificate = try installation.loadCertificate(installation.configuredFiles)
                for loop in loops { loop.post(.certificate(certificate)) }
            }
        }
    }

    /// Announces the authorities, and warns if devices do not trust the certificate that is configured now.
    private func warn(of authorities: AuthorityKeeper) throws(ServerError) {
        var answers: [StoreAnswer] = []
        do throws(StoreRefusal) {
            answers = try storeClient.ask([
                .control(.announceAuthorities(version: authorities.version)), .allDevices(.trust),
            ])
        } catch {
            store.stop()
            throw fatal.error ?? .refused(error.detail)
        }
        guard case .trust(let trust)? = answers.last else {
            preconditionFailure("the store answered a request with another request's answer")
        }
        let count = authorities.cutOffCount(trust, now: .now)
        guard count > 0 else { return }
        log.warning(
            "devices_cut_off",
            [
                "devices": "\(count)",
                "remedy":
                    "they do not trust the server's certificate: use the earlier one and announce the new authority "
                    + "first, or run posthorn agent trust on each device",
            ])
    }

    private func makeContext(_ quotas: Quotas, _ authorities: AuthorityKeeper) -> ServerContext {
        let serving = ServingContext(
            store: store, limiter: ConnectionLimiter(configuration.connectionCaps),
            memory: MemoryBudget(byteCountMax: configuration.memoryBudget, loopCount: sockets.count), log: log,
            dataLoops: Array(mailboxes.dropLast()), strangerLimits: configuration.strangerLimits,
            proxies: configuration.proxies)
        return ServerContext(
            serving: serving, configuration: configuration, installation: installation, storeCondition: storeCondition,
            quotas: quotas, backups: BackupKeeper(installation, log: log),
            authorities: authorities,
            serverURL: ServerURL.text(configuration, port: ports.first?.address.port ?? 0),
            startedAt: .now.roundedDownToSeconds, storeMetrics: store.metrics, acceptedLinks: acceptedLinks)
    }

    private func startDataLoops(_ context: ServerContext, _ certificate: TLSContext) -> [Thread] {
        let (log, fatal, control, testMode) = (log, fatal, mailboxes[mailboxes.count - 1], testMode)
        return sockets.indices.map { index in
            let (sockets, mailbox) = (sockets[index], mailboxes[index])
            return Thread(name: "loop-\(index)") {
                do throws(ServerError) {
                    let loop = try LoopDispatcher.makeLoop(
                        index: UInt32(index), context: context, testMode: testMode, mailbox: mailbox,
                        certificate: certificate)
                    try ServerError.wrapping { () throws(ServingError) in try loop.run(sockets) }
                } catch {
                    log.error("loop_failed", ["loop": "\(index)", "error": error.description])
                    context.serving.loopIsDone()
                    fatal.raise(error)
                    control.post(.shutDown)
                }
            }
        }
    }

    private func startWebhooks(_ context: ServerContext) -> Thread {
        let (inbox, log, fatal, control) = (webhookInbox, log, fatal, mailboxes[mailboxes.count - 1])
        let place = UInt32(mailboxes.count) + 1
        return Thread(name: "webhooks") {
            do throws(ServerError) {
                try WebhookSender(loop: place, context: context, inbox: inbox).run()
            } catch {
                log.error("webhooks_failed", ["error": error.description])
                fatal.raise(error)
                control.post(.shutDown)
            }
        }
    }

    private func makeControlLoop(_ context: ServerContext) throws(ServerError) -> ServerLoop {
        let index = mailboxes.count - 1
        let control = try LoopDispatcher.makeLoop(
            index: UInt32(index), context: context, testMode: testMode, mailbox: mailboxes[index], certificate: nil)
        try ServerError.wrapping { () throws(NetError) in
            try control.listen(on: adminSocket)
            if let metrics { try control.listen(on: metrics.socket) }
        }
        return control
    }

    private static func openStore(
        _ installation: Installation, _ configuration: ServerConfiguration, _ condition: StoreCondition,
        _ links: LinkConfiguration?, _ log: EventLog
    ) throws(ServerError) -> any ServerStore {
        var options = configuration.storeConfiguration(path: installation.databaseFile)
        options.onNotice = { notice in
            condition.note(notice, now: .now)
            log.warning("store_notice", ["code": notice.code, "notice": notice.description])
        }
        if let address = configuration.storeAddress {
            return try PostgresOpening.open(address, configuration, installation, options, links, log)
        }
        do throws(StoreError) {
            return try SQLiteStore(options)
        } catch {
            throw .store(error)
        }
    }

    private static func makeMailbox(_ index: Int) throws(NetError) -> Mailbox<LoopMessage> {
        try Mailbox<LoopMessage>()
    }
}

/// Records the first fatal error, which becomes the result of the run.
final class FatalFlag: Sendable {
    private let state = Lock<ServerError?>(nil)

    /// Records an error unless one is recorded already.
    func raise(_ error: ServerError) { state.withLock { $0 = $0 ?? error } }

    var error: ServerError? { state.withLock { $0 } }
}
