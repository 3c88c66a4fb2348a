// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushServing
internal import Synchronization

/// A limit on strangers, devices or providers; `posthorn status` shows how often each one refused something.
enum RefusalCause: Int, CaseIterable {
    case strangerRequests, strangerCredentials, strangerEnrolments
    case deviceRequests, deviceAcknowledgements, deviceStreams, deviceUnanswered
    case providerListings, providerSignatures, sendTokens

    /// The kind of party that was refused.
    var principal: String {
        switch self {
        case .strangerRequests, .strangerCredentials, .strangerEnrolments: "stranger"
        case .deviceRequests, .deviceAcknowledgements, .deviceStreams, .deviceUnanswered: "device"
        case .providerListings, .providerSignatures: "provider"
        case .sendTokens: "send token"
        }
    }

    /// The stable word for the limited activity.
    var word: String {
        switch self {
        case .strangerRequests, .deviceRequests, .sendTokens: "requests"
        case .strangerCredentials: "credentials"
        case .strangerEnrolments: "enrolments"
        case .deviceAcknowledgements: "acknowledgements"
        case .deviceStreams: "streams"
        case .deviceUnanswered: "unanswered"
        case .providerListings: "listings"
        case .providerSignatures: "signatures"
        }
    }
}

/// The rates of strangers, by network, and of devices; all loops share them without a lock.
///
/// A peer that proves a credential takes nothing from the buckets of its network. A network whose buckets were emptied
/// by an attacker in it can therefore still connect its devices and providers.
final class PrincipalRates: Sendable {
    private final class Counter: Sendable {
        // Relaxed ordering suffices: no other data depends on this number.
        let value = Atomic<Int64>(0)
    }

    /// Refused requests of any kind without a proven credential.
    private let strangerRequests: RateTable?
    /// Credentials that were checked and are wrong.
    private let strangerCredentials: RateTable?
    /// Enrolments without a code.
    private let strangerEnrolments: RateTable?
    private let deviceRequests: RateTable?
    private let deviceAcknowledgements: RateTable?
    private let deviceStreams: RateTable?
    /// Requests with a send token, by its hash.
    private let sends: RateTable
    private let limits: PrincipalLimits
    private let counters: [Counter]

    /// Creates the rates.
    ///
    /// - Parameters:
    ///   - limits: The configured rates.
    ///   - former: The former rates: the counts of refusals continue, and a rate that did not change keeps its use.
    init(_ limits: PrincipalLimits, former: PrincipalRates? = nil) {
        func table(
            _ rate: KeyPath<PrincipalLimits, PrincipalLimits.Rate>, _ table: KeyPath<PrincipalRates, RateTable?>,
            _ countMax: Int
        ) -> RateTable? {
            if let former, former.limits[keyPath: rate] == limits[keyPath: rate] { return former[keyPath: table] }
            let rate = limits[keyPath: rate]
            guard rate.perSecond > 0 else { return nil }
            return RateTable(
                TokenBucket(of: rate.burst ?? rate.perSecond, refilledBy: rate.perSecond), countMax: countMax)
        }
        strangerRequests = table(\.strangerRequests, \.strangerRequests, Limits.strangerRateCountMax)
        strangerCredentials = table(\.strangerCredentials, \.strangerCredentials, Limits.strangerRateCountMax)
        strangerEnrolments = table(\.strangerEnrolments, \.strangerEnrolments, Limits.strangerRateCountMax)
        deviceRequests = table(\.deviceRequests, \.deviceRequests, Limits.deviceRateCountMax)
        deviceAcknowledgements = table(
            \.deviceAcknowledgements, \.deviceAcknowledgements, Limits.deviceRateCountMax)
        deviceStreams = table(\.deviceStreams, \.deviceStreams, Limits.deviceRateCountMax)
        sends =
            former?.sends
            ?? RateTable(
                TokenBucket(of: Limits.sendTokenBurst, refilledBy: Limits.sendTokenRate),
                countMax: Limits.sendTokenSlotCount)
        self.limits = limits
        counters = former?.counters ?? RefusalCause.allCases.map { _ in Counter() }
    }

    // MARK: Strangers

    /// Takes a refused request of a network; returns nil, or the seconds to wait.
    func takeRequest(of network: SourceAddress, now: MonotonicTime) -> Int64? {
        take(strangerRequests, network, 1, now, .strangerRequests)
    }

    /// Takes a wrong credential of a network; returns nil, or the seconds to wait.
    func takeWrongCredential(of network: SourceAddress, now: MonotonicTime) -> Int64? {
        take(strangerCredentials, network, 1, now, .strangerCredentials)
    }

    /// Returns whether a network has used its current budget of wrong credentials.
    func hasNoCredentialLeft(_ network: SourceAddress, now: MonotonicTime) -> Bool {
        strangerCredentials?.isEmpty(network, now: now) ?? false
    }

    /// Takes an enrolment without a code; returns nil, or the seconds to wait.
    func takeEnrolment(of network: SourceAddress, now: MonotonicTime) -> Int64? {
        take(strangerEnrolments, network, 1, now, .strangerEnrolments)
    }

    // MARK: Devices

    /// Takes a request of a device; returns nil, or the seconds to wait.
    func takeRequest(of device: DeviceID, now: MonotonicTime) -> Int64? {
        take(deviceRequests, device, 1, now, .deviceRequests)
    }

    /// Takes acknowledgements of a device; returns nil, or the seconds to wait.
    func takeAcknowledgements(_ count: Int, of device: DeviceID, now: MonotonicTime) -> Int64? {
        take(deviceAcknowledgements, device, Int64(count), now, .deviceAcknowledgements)
    }

    /// Takes a stream that a device opens; returns nil, or the seconds to wait.
    func takeStream(of device: DeviceID, now: MonotonicTime) -> Int64? {
        take(deviceStreams, device, 1, now, .deviceStreams)
    }

    // MARK: Send tokens

    /// Takes a request with a send token; returns nil, or the seconds to wait.
    func takeSend(of tokenHash: [UInt8], now: MonotonicTime) -> Int64? { take(sends, tokenHash, 1, now, .sendTokens) }

    private func take(
        _ table: RateTable?, _ key: some Hashable, _ count: Int64, _ now: MonotonicTime, _ cause: RefusalCause
    ) -> Int64? {
        guard count > 0, case .refused(let wait) = table?.take(key, count: count, now: now) else { return nil }
        note(cause)
        return QuotaMoment.seconds(wait)
    }

    // MARK: Counts

    /// Counts a refusal by its cause.
    func note(_ cause: RefusalCause) { counters[cause.rawValue].value.wrappingAdd(1, ordering: .relaxed) }

    /// Returns the number of refusals since the server started.
    func count(of cause: RefusalCause) -> Int64 { counters[cause.rawValue].value.load(ordering: .relaxed) }

    /// The refusals since the server started, without causes that never occurred.
    var refusals: [AdminAPI.Refusal] {
        RefusalCause.allCases.compactMap { cause in
            let count = count(of: cause)
            return count > 0 ? AdminAPI.Refusal(principal: cause.principal, cause: cause.word, count: count) : nil
        }
    }
}
