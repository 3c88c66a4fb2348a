// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// Tells the other nodes twice a second what this one has counted for quotas, and counts what they tell.
///
/// So the nodes of a cluster together may grant half a second's requests too many. A message that is lost is in the
/// sender's favor. The counts of the day are complete in each message, so the next one repairs them.
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

    /// Counts what another node has counted.
    func charge(_ uses: [SharedQuotaUse], from instance: InstanceID) {
        quotas.charge(uses, ofNode: Int64(instance.node.rawValue))
    }

    /// Replaces the limits that administrators set by those of a version of the control data.
    func setLimits(_ limits: [QuotaSubject: QuotaLimits], version: UInt64) {
        guard version >= limitsVersion else { return }
        limitsVersion = version
        quotas.replaceSettings(limits)
    }
}
