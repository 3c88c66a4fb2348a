// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// What a sender hears when a limit is reached: which one, when to send again, and what else can be done.
extension Allowance {
    func rateRefusal(waitNanoseconds: Int64) -> Rejection {
        Rejection(
            .tooManyRequests,
            "\(who) sends faster than its rate allows: after \(Self.count(rate?.tokenCount, "request")) at once, wait as "
                + "retry-after says. An administrator can raise it: posthorn quota set \(option) --rate N",
            retryAfterSeconds: QuotaMoment.seconds(waitNanoseconds))
    }

    func dayRefusal(_ now: QuotaMoment) -> Rejection {
        Rejection(
            .tooManyRequests,
            "\(who) has sent its \(Self.count(daily, "notification")) of today: the next day begins at midnight UTC. "
                + "An administrator can raise it: posthorn quota set \(option) --daily N",
            retryAfterSeconds: now.secondsLeft)
    }

    func badTokenRefusal(waitNanoseconds: Int64) -> Rejection {
        Rejection(
            .tooManyRequests,
            "\(who) has sent to \(Self.count(badTokens?.tokenCount, "device token")) in an hour that did not fit, as this "
                + "one does not: forget those that are answered with BadDeviceToken or DeviceTokenNotForTopic.",
            retryAfterSeconds: QuotaMoment.seconds(waitNanoseconds))
    }

    private static func count(_ count: Int64?, _ word: String) -> String {
        count == 1 ? "1 \(word)" : "\(count ?? 0) \(word)s"
    }

    private var who: String {
        switch subject.kind {
        case .team: "Team \(subject.name)"
        case .key: "Key \(subject.name)"
        case .topic: "App \(subject.name)"
        }
    }

    private var option: String { "--\(subject.kind.rawValue) \(subject.name)" }
}

extension QuotaDefaults {
    func deviceRefusal(waitNanoseconds: Int64) -> Rejection {
        Rejection(
            .tooManyRequests,
            "Too many notifications to this device token: more than \(deviceRate ?? 0) a second. Send one that says it all, "
                + "or wait as retry-after says.",
            retryAfterSeconds: QuotaMoment.seconds(waitNanoseconds))
    }
}
