// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushTLS

/// The state of the APIs on one loop, which the endpoints share.
final class LoopServices {
    /// The loop; the reference cycle ends when the loop has ended and releases its delegate.
    let loop: ServerLoop
    let context: ServerContext
    /// The source of random IDs.
    let random = RandomNumbers()
    let quotas: LoopQuotas
    let metrics: APIMetrics
    /// The settings, as of the last message about a reload.
    var settings: RunningSettings
    /// The apps and keys, as of the store's last notice.
    var directory = TopicDirectory(Directory(version: 0, topics: [:], keys: [:]))
    /// The number of notifications that the store has not answered yet.
    var unansweredAcceptCount = 0
    /// The bounds of this number; with several databases, those of one that is down must not fill all of it.
    let unansweredAcceptCountMax: Int
    let unansweredSendCountMax: Int
    /// The costly requests of devices that are on their way to the store.
    var unanswered = UnansweredRequests()
    /// The long lists that are on their way to providers.
    private var listings = ChannelListings()
    private let ciphers: TokenCiphers

    init(_ loop: ServerLoop, _ context: ServerContext) throws(TLSError) {
        self.loop = loop
        self.context = context
        quotas = LoopQuotas(context.quotas)
        metrics = context.metrics.apis[Int(loop.index)]
        settings = context.settings
        unansweredAcceptCountMax = Limits.unansweredAcceptCountMax * context.databaseCount
        unansweredSendCountMax =
            Limits.unansweredSendCountMax + Limits.unansweredAcceptCountMax * (context.databaseCount - 1)
        ciphers = try TokenCiphers(context.installation.tokenKeys)
    }

    /// Returns the cipher that encrypts and decrypts the device tokens of an environment.
    func cipher(for environment: Environment) -> TokenCipher { ciphers.cipher(for: environment) }

    /// Whether a device token that no key opens is invalid, and not only unknown to this node of a cluster.
    var hasAllTokenKeys: Bool { context.installation.tokenKeys.isComplete(at: .elapsed) }

    // MARK: Requests at the store

    /// Sends a request to the store and passes the answer to `then` on this loop, if the exchange still exists.
    func perform(
        _ request: StoreRequest, for exchange: HTTPExchange, on connection: ServerConnection,
        then: @escaping (Result<StoreAnswer, StoreRefusal>, HTTPExchange) -> Void
    ) {
        // The exchange may be refused before the store answers, on a connection that is closing.
        exchange.context = StoreContinuation { result, exchange in
            if !exchange.isAnswered { then(result, exchange) }
        }
        loop.submit(.perform(request, answer: connection.address(of: exchange)))
    }

    /// Passes the store's answer to the exchange that waits for it.
    func performed(_ result: Result<StoreAnswer, StoreRefusal>, _ address: ReplyAddress) {
        listings.answered(address)
        unanswered.end(address)
        loop.answering(address) { exchange, connection in
            // A shutdown or a timeout may have answered it first.
            guard !exchange.isAnswered, let call = exchange.context as? StoreContinuation else { return }
            exchange.context = nil
            if case .failure(let refusal) = result { context.log.refused(refusal, on: connection) }
            call.complete(result, exchange)
        }
    }

    // MARK: Long lists

    /// Counts a request for a long list until its exchange ends; returns false if too many are under way.
    func beginsListing(of team: String, _ exchange: HTTPExchange, on connection: ServerConnection) -> Bool {
        guard connection.peer.listings.count < Limits.listingPerConnectionCountMax,
            listings.begin(of: team, at: connection.address(of: exchange))
        else { return false }
        connection.peer.listings[exchange.id] = team
        return true
    }

    /// Notes the end of an exchange that may have been a long list.
    func endListing(_ exchange: HTTPExchange, of peer: NetworkPeer) {
        guard !peer.listings.isEmpty, let team = peer.listings.removeValue(forKey: exchange.id) else { return }
        listings.end(of: team)
    }
}
