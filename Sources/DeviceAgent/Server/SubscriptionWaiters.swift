// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore

/// The state of a subscription at the time its caller is answered.
enum SubscriptionAnswer: Sendable, Equatable {
    /// The server has the subscription.
    case active
    /// The subscription is stored here and is sent to the server when possible.
    case pending
    /// The server refused the subscription, and it was removed.
    case refused(ServerFailure)
}

/// Callers that wait for the server's answer to a subscription; each is answered once.
struct SubscriptionWaiters {
    private struct Waiter {
        let number: Int
        let channel: String
        let appID: AppID
        let completion: (SubscriptionAnswer) -> Void
    }

    private var waiters: [Waiter] = []
    private var count = 0

    /// Adds a waiter and returns its number.
    mutating func add(
        _ channel: String, _ appID: AppID, _ completion: @escaping (SubscriptionAnswer) -> Void
    ) -> Int {
        count += 1
        waiters.append(Waiter(number: count, channel: channel, appID: appID, completion: completion))
        return count
    }

    /// Answers the waiters of a subscription.
    mutating func answer(_ answer: SubscriptionAnswer, about subscription: Subscription) {
        self.answer(answer) {
            $0.channel.utf8.elementsEqual(subscription.channel.utf8)
                && $0.appID == subscription.appID
        }
    }

    /// Answers a waiter whose time is over with `pending`; does nothing if it was answered.
    mutating func dismiss(_ number: Int) { answer(.pending) { $0.number == number } }

    /// Answers all waiters with `pending`, because the server cannot be asked now.
    mutating func dismissAll() { answer(.pending) { _ in true } }

    private mutating func answer(_ answer: SubscriptionAnswer, _ isMeant: (Waiter) -> Bool) {
        let answered = waiters.filter(isMeant)
        waiters.removeAll(where: isMeant)
        for waiter in answered { waiter.completion(answer) }
    }
}
