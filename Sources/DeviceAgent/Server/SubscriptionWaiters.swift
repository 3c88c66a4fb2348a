// SPDX-License-Identifier: Apache-2.0

/// What became of a subscription by the time that somebody who asked wants an answer.
package enum SubscriptionAnswer: Sendable, Equatable {
    /// The server has it.
    case held
    /// It is kept, and the server is told when it can be.
    case pending
    /// The server refused it; it is gone.
    case refused(ServerError)
}

/// Those who subscribed and wait to hear what the server says; each is answered once.
struct SubscriptionWaiters {
    private struct Waiter {
        let number: Int
        let channel: String
        let appID: String
        let completion: (SubscriptionAnswer) -> Void
    }

    private var waiters: [Waiter] = []
    private var count = 0

    /// Adds one and answers its number.
    mutating func add(
        _ channel: String, _ appID: String, _ completion: @escaping (SubscriptionAnswer) -> Void
    ) -> Int {
        count += 1
        waiters.append(Waiter(number: count, channel: channel, appID: appID, completion: completion))
        return count
    }

    /// The server spoke.
    mutating func answer(_ answer: SubscriptionAnswer, about subscription: Subscription) {
        self.answer(answer) {
            $0.channel.utf8.elementsEqual(subscription.channel.utf8)
                && $0.appID.utf8.elementsEqual(subscription.appID.utf8)
        }
    }

    /// One has waited long enough; does nothing when it was answered.
    mutating func dismiss(_ number: Int) { answer(.pending) { $0.number == number } }

    /// The server cannot be asked now.
    mutating func dismissAll() { answer(.pending) { _ in true } }

    private mutating func answer(_ answer: SubscriptionAnswer, _ isMeant: (Waiter) -> Bool) {
        let answered = waiters.filter(isMeant)
        waiters.removeAll(where: isMeant)
        for waiter in answered { waiter.completion(answer) }
    }
}
