// SPDX-License-Identifier: Apache-2.0

import Glibc
import PushCore
import PushNet
import PushStore
import PushTLS
import TestSupport

@testable import PushServer
@testable import PushServing

/// One loop of the server in this process: bytes in, commands to a stand-in for the store, bytes out.
///
/// A connection of a client is a UNIX socket without TLS. All that stands behind TLS is what `posthornd` runs: the
/// connection, the HTTP session, the endpoints of a network port. The stand-in answers within the turn in which it
/// got the commands.
final class EndpointHarness {
    let store: StandInStore
    let objects: ProviderObjects
    private let files: TemporaryDirectory
    private let mailbox: Mailbox<LoopMessage>
    private let loop: ServerLoop
    private let ports: NetworkPorts
    private let serving: ServingContext
    /// The number of loops, besides this one, that still have connections.
    private var otherLoopCount: Int

    /// Creates the loop with the apps and keys of `ProviderObjects`; a second loop exists only as a mailbox, and
    /// the control loop does not exist.
    init(hasOtherLoop: Bool = false) throws {
        otherLoopCount = hasOtherLoop ? 2 : 1
        files = try TemporaryDirectory()
        var configuration = ServerConfiguration(
            dataDirectory: files.path(of: "data"), adminSocket: files.path(of: "admin.sock"))
        configuration.names = ["localhost"]
        configuration.channelListen = [ListenAddress(host: "127.0.0.1", port: 0)]
        // All cases send to one device token.
        configuration.quotas.deviceRate = 0
        let installation = try Installation(configuration)
        objects = try ProviderObjects(installation)
        mailbox = try Mailbox<LoopMessage>()
        store = StandInStore(mailbox)
        let log = EventLog(threshold: .error, isJournal: false)
        serving = ServingContext(
            store: store, limiter: ConnectionLimiter(configuration.connectionCaps),
            memory: MemoryBudget(byteCountMax: 1 << 26), log: log,
            dataLoops: [mailbox] + (hasOtherLoop ? [try Mailbox<LoopMessage>()] : []),
            strangerLimits: configuration.strangerLimits)
        let context = ServerContext(
            serving: serving, configuration: configuration, installation: installation,
            storeCondition: StoreCondition(), quotas: Quotas(configuration.quotas),
            backups: BackupKeeper(installation, log: log),
            authorities: try AuthorityKeeper(installation) {}, serverURL: "https://localhost", startedAt: .now)
        let certificate = try installation.loadCertificate(installation.configuredFiles)
        loop = try ServerLoop(index: 0, context: serving, mailbox: mailbox, certificate: certificate)
        ports = NetworkPorts(try LoopDispatcher(loop, context, nil))
        loop.attach(ports)
        mailbox.post(.replies([.directory(objects.directory)]))
        turn()
    }

    deinit {
        loop.shutDown()
        while otherLoopCount > 0 { endOtherLoop() }
        loop.events.run()
    }

    func shutDown() { loop.shutDown() }

    /// The number of proxies whose header has not arrived.
    var greetingCount: Int { loop.greetings.count }

    /// Waits for the header of a proxy on an accepted connection.
    func greet(_ accepted: consuming FileDescriptor) throws {
        guard let unused = FileDescriptor.spare() else { throw NoSocket() }
        loop.greet(accepted, from: Listener(ListeningSocket(unused, .network(port: 0)), loop: loop))
    }

    /// Records the end of another loop; this loop ends after the last one.
    func endOtherLoop() {
        otherLoopCount -= 1
        serving.loopIsDone()
    }

    /// Opens a connection to the port for providers and devices, or to the port for channel management.
    func connect(forChannels: Bool = false) throws -> EndpointClient {
        ports.isForChannels = forChannels
        // The kind leaves TLS out, and `NetworkPorts` provides the endpoint.
        return EndpointClient(try open(.admin), of: self)
    }

    /// Opens a connection with TLS; the handshake starts when the returned socket has sent a ClientHello.
    func connectEncrypted() throws -> FileDescriptor { FileDescriptor(adopting: try open(.network(port: 0))) }

    /// Returns the client's socket of a new connection.
    private func open(_ kind: ListenerKind) throws -> Int32 {
        var ends: [Int32] = [0, 0]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0,
            let unused = FileDescriptor.spare()
        else { throw NoSocket() }
        loop.adopt(FileDescriptor(adopting: ends[1]), from: Listener(ListeningSocket(unused, kind), loop: loop))
        return ends[0]
    }

    /// Sends replies of the store to the loop, which takes them in a later turn.
    func reply(_ replies: [StoreReply]) { mailbox.post(.replies(replies)) }

    /// Runs one turn of the loop.
    func turn() {
        loop.events.schedule(after: .zero) { [unowned loop] in loop.events.stop() }
        loop.events.run()
    }

    /// Reports that the kernel has no socket for a connection.
    struct NoSocket: Error {}
}

/// Gives every connection the endpoint of a network port.
private final class NetworkPorts: LoopDelegate {
    var isForChannels = false
    private let dispatcher: LoopDispatcher

    init(_ dispatcher: LoopDispatcher) { self.dispatcher = dispatcher }

    func makeEndpoint(_ kind: ListenerKind) -> any Endpoint {
        dispatcher.makeEndpoint(.network(port: isForChannels ? 1 : 0))
    }

    func take(_ reply: StoreReply) { dispatcher.take(reply) }

    func settingsChanged() { dispatcher.settingsChanged() }

    func tick() { dispatcher.tick() }

    func shutDown() { dispatcher.shutDown() }
}
