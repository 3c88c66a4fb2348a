// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// Sends this node's counts for quotas to the other nodes twice a second, and adds their counts.
///
/// So the nodes of a cluster together may grant half a second's requests too many. If a message is lost, a sender may
/// send more. Each message contains the complete counts of the day, so the next message corrects them.
final class QuotaExchange {
    private static let interval = Duration.milliseconds(500)

    private let quotas: any SharedQuotas
    private let loop: EventLoop
    private let links: () -> NodeLinks?
    private var limitsVersion: UInt64 = 0

    /// Creates the exchange, which starts at once.
    ///
    /// - Parameters:
    ///   - quotas: The quotas of this node.
    ///   - loop: The loop of the store.
    ///   - links: Returns the links to other nodes; nil without any.
    init(_ quotas: any SharedQuotas, on loop: EventLoop, links: @escaping () -> NodeLinks?) {
        self.quotas = quotas
        self.loop = loop
        self.links = links
        scheduleNext()
    }

    private func scheduleNext() {
        loop.schedule(after: Self.interval) { [weak self] in
            guard let self else { return }
            self.tell()
            self.scheduleNext()
        }
    }

    private func tell() {
        guard let links = links() else { return }
        var uses = quotas.takeRecentUse()[...]
        while !uses.isEmpty {
            links.sendToAll(.rates(Array(uses.prefix(NodeMessageLimits.subjectCountMax))))
            uses = uses.dropFirst(NodeMessageLimits.subjectCountMax)
        }
    }

    /// Adds the counts of another node.
    func charge(_ uses: [SharedQuotaUse], from instance: InstanceID) {
        quotas.charge(uses, ofNode: Int64(instance.node.rawValue))
    }

    /// Replaces the limits that administrators set with those of a version of the control data.
    func setLimits(_ limits: [QuotaSubject: QuotaLimits], version: UInt64) {
        guard version >= limitsVersion else { return }
        limitsVersion = version
        quotas.replaceSettings(limits)
    }
}
