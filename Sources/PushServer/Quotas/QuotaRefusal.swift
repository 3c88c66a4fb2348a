// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushServing

/// The rejections at a limit; each names the limit, the time to retry, and another remedy.
extension SubjectQuotas {
    func rateRefusal(waitNanoseconds: Int64) -> Rejection {
        Rejection(
            .tooManyRequests,
            "\(who) exceeds its rate limit: after a burst of \(Self.count(rate?.tokenCount, "request")), wait for the time "
                + "in retry-after. An administrator can raise the limit: posthorn quota set \(option) --rate N",
            retryAfterSeconds: QuotaMoment.seconds(waitNanoseconds))
    }

    func dayRefusal(_ now: QuotaMoment) -> Rejection {
        Rejection(
            .tooManyRequests,
            "\(who) has reached its limit of \(Self.count(daily, "notification")) per day; it resets at midnight UTC. "
                + "An administrator can raise the limit: posthorn quota set \(option) --daily N",
            retryAfterSeconds: now.secondsLeft)
    }

    func badTokenRefusal(waitNanoseconds: Int64) -> Rejection {
        QuotaRefusal.badTokens(who, count: badTokens?.tokenCount, waitNanoseconds: waitNanoseconds)
    }

    fileprivate static func count(_ count: Int64?, _ word: String) -> String {
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

enum QuotaRefusal {
    /// Returns the rejection of a bad device token of a team that has sent too many.
    static func badTokens(_ who: String, count: Int64?, waitNanoseconds: Int64) -> Rejection {
        Rejection(
            .tooManyRequests,
            "\(who) has sent to \(SubjectQuotas.count(count, "invalid device token")) within an hour: delete tokens that are "
                + "refused with BadDeviceToken or DeviceTokenNotForTopic.",
            retryAfterSeconds: QuotaMoment.seconds(waitNanoseconds))
    }
}

extension QuotaDefaults {
    func deviceRefusal(waitNanoseconds: Int64) -> Rejection {
        Rejection(
            .tooManyRequests,
            "Too many notifications to this device token: more than \(deviceRate ?? 0) per second. Combine them into one, "
                + "or wait for the time in retry-after.",
            retryAfterSeconds: QuotaMoment.seconds(waitNanoseconds))
    }
}
