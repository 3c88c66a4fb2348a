// SPDX-License-Identifier: Apache-2.0

import Glibc
import PushCore
import PushStore
import PushTLS
import TestSupport

@testable import PushCluster
@testable import PushNet
@testable import PushServer
@testable import PushServing

/// A node of a cluster in this process: a loop of the server with the real port on a thread of its own, and links on the
/// loop of the test.
///
/// A test suspends for seconds on a busy machine. So unless it is about silence, pings are rare.
final class TestNode: NodeLinksDelegate {
    /// A change of a link.
    struct Change: Equatable {
        var instance: InstanceID
        var isUp: Bool
    }

    /// The settings of tests that must not depend on time.
    static var patient: LinkSettings {
        var settings = LinkSettings()
        (settings.pingMilliseconds, settings.attemptMilliseconds) = (600_000, 600_000)
        return settings
    }

    let instance: InstanceID
    let links: NodeLinks
    let server: NodeServer
    private(set) var changes: [Change] = []
    /// The messages of each call of `take`, with their sender.
    private(set) var arrivals: [(instance: InstanceID, messages: [NodeMessage])] = []
    /// The output of the log.
    private let log: LogPipe

    /// Starts a node.
    ///
    /// - Parameters:
    ///   - instance: The instance.
    ///   - loop: The loop of the test, on which the links are.
    ///   - credentials: The certificate of the node, and the authority that it trusts.
    ///   - settings: The intervals of the links.
    ///   - serverSettings: The intervals of the links that the server accepts.
    /// - Throws: The part that could not be started.
    init(
        _ instance: InstanceID, on loop: EventLoop, _ credentials: PeerCredentials,
        settings: LinkSettings = patient, serverSettings: LinkSettings = patient
    ) throws {
        self.instance = instance
        log = try LogPipe()
        let accepted = try Mailbox<AcceptedLink.Event>()
        server = try NodeServer(credentials, AcceptedLinks(accepted, settings: serverSettings), log: log.log)
        links = try NodeLinks(instance, credentials, accepted: accepted, on: loop, log: log.log, settings: settings)
        links.delegate = self
    }

    deinit { links.stop() }

    func linkChanged(to instance: InstanceID, isUp: Bool) { changes.append(Change(instance: instance, isUp: isUp)) }

    func take(_ messages: [NodeMessage], from instance: InstanceID) { arrivals.append((instance, messages)) }

    /// The messages of a node in order, without the borders of calls.
    func messages(from other: TestNode) -> [String] {
        arrivals.filter { $0.instance == other.instance }.flatMap(\.messages).map { "\($0)" }
    }

    /// Returns whether the link to another node is up.
    func isUp(to other: TestNode) -> Bool { changes.last { $0.instance == other.instance }?.isUp ?? false }

    /// Returns this node as others list it.
    ///
    /// - Parameter port: The port of a proxy in front of it, if any.
    /// - Returns: The instance and the address.
    func listed(port: UInt16? = nil) -> LinkedNode {
        LinkedNode(instance: instance, address: .init(host: "127.0.0.1", port: port ?? server.port))
    }

    /// The lines that the node has logged.
    var logText: String { log.text }
}

/// The nodes of a test, whose links end before the first server does.
final class TestCluster {
    private var nodes: [TestNode] = []

    /// Keeps a node until the end of the test.
    func add(_ node: TestNode) -> TestNode {
        nodes.append(node)
        return node
    }

    deinit { for node in nodes { node.links.stop() } }
}

/// A log whose lines a test reads.
final class LogPipe {
    let log: EventLog
    private let pipe: Pipe
    private var bytes: [UInt8] = []

    init() throws {
        pipe = try Pipe()
        try pipe.reading.setNonblocking()
        try pipe.writing.setNonblocking()
        log = EventLog(threshold: .info, isJournal: false, descriptor: pipe.writing.rawValue)
    }

    var text: String {
        log.flush()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(pipe.reading.rawValue, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}

/// One data loop of the server with its port, on a thread of its own.
final class NodeServer: Sendable {
    let port: UInt16
    /// The file of the authority that issued the server's certificate for clients.
    let authorityFile: String
    private let files: TemporaryDirectory
    private let mailbox: Mailbox<LoopMessage>
    private let serving: ServingContext
    private let thread: Thread

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - credentials: The certificate for links, and the authority that it trusts.
    ///   - accepted: The destination of links.
    ///   - log: The log.
    /// - Throws: The part that could not be started.
    init(_ credentials: PeerCredentials, _ accepted: AcceptedLinks, log: EventLog) throws {
        files = try TemporaryDirectory()
        var configuration = ServerConfiguration(
            dataDirectory: files.path(of: "data"), adminSocket: files.path(of: "admin.sock"))
        configuration.names = ["localhost"]
        let installation = try Installation(configuration)
        installation.nodeCredentials = credentials
        authorityFile = installation.authority.authorityFile
        mailbox = try Mailbox<LoopMessage>()
        serving = ServingContext(
            store: StandInStore(mailbox), limiter: ConnectionLimiter(configuration.connectionCaps),
            memory: MemoryBudget(byteCountMax: 1 << 28), log: log, dataLoops: [mailbox],
            strangerLimits: configuration.strangerLimits)
        let context = ServerContext(
            serving: serving, configuration: configuration, installation: installation,
            storeCondition: StoreCondition(), quotas: Quotas(configuration.quotas),
            backups: BackupKeeper(installation, log: log), authorities: try AuthorityKeeper(installation) {},
            serverURL: "https://localhost", startedAt: .now, acceptedLinks: accepted)
        let certificate = try installation.loadCertificate(installation.configuredFiles)
        let descriptor = try Sockets.listen(host: "127.0.0.1", port: 0, sharingPort: false)
        port = try Sockets.localPort(descriptor.rawValue)
        let socket = ListeningSocket(descriptor, .network(port: 0))
        thread = Thread(name: "node-server") { [mailbox] in
            do {
                let loop = try LoopDispatcher.makeLoop(
                    index: 0, context: context, testMode: nil, mailbox: mailbox, certificate: certificate)
                try loop.run([socket])
            } catch {
                fatalError("the loop failed: \(error)")
            }
        }
    }

    deinit {
        mailbox.post(.shutDown)
        // There is no control loop.
        serving.loopIsDone()
        thread.join()
    }
}
