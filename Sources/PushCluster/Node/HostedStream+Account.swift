// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

extension HostedStream {
    /// Takes the account of the device that was read.
    ///
    /// Broadcasts that the device has acknowledged on this stream stay acknowledged: a fail-over may have lost their
    /// number, or the account was read before it was written. Everything that the device need not acknowledge any more
    /// leaves the window.
    func take(_ account: ShardResult.Account) {
        let earlier = self.account.subscriptions
        self.account = account
        for subscription in earlier { noteReceived(subscription.since, of: subscription.channel) }
        removeFromWindow { sent in
            switch sent.state {
            case .written: !isLive(sent)
            case .broadcast(let channel, isStored: true):
                !self.account.subscriptions.contains { $0.channel == channel && $0.since < sent.id }
            case .unwritten, .writing, .nowOrNever, .broadcast: false
            }
        }
    }

    /// Returns whether the registration of a notification is live, so that its row exists.
    private func isLive(_ sent: Sent) -> Bool {
        guard let registration = registration(of: sent.topic) else { return false }
        return registration.isLive && !registration.isRefused && registration.generation == sent.generation
    }
}
