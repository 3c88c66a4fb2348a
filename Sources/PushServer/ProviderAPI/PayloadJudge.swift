// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushStore

/// Looks at payloads as their app wants it: that they are JSON, and with `warn` and `strict` what people will think of
/// them; one of each loop.
final class PayloadJudge {
    /// One app on one device.
    private struct Place: Hashable {
        var device: DeviceID
        var topic: TopicID
    }

    /// Warnings that one answer carries.
    private static let warningCountMax = 8

    private var histories = Generations<Place, PayloadHistory>(countMax: Limits.payloadHistoryCountMax)

    /// Refuses a payload, or adds to the answer what is to be said about it.
    ///
    /// - Parameters:
    ///   - payload: Not empty, and not too large.
    ///   - pushType: nil when the provider gave none.
    ///   - topic: Says how to judge.
    ///   - device: Whose history of alerts counts; nil for a broadcast.
    ///   - request: Where warnings go.
    /// - Throws: `PayloadEmpty` for what is no JSON object, and with `strict` for a finding of severity E.
    func judge(
        _ payload: [UInt8], _ pushType: PushType?, of topic: Topic, on device: DeviceID?, _ request: ProviderRequest
    ) throws(Rejection) {
        guard topic.checks != .off else {
            do throws(JSONError) { try JSONValidator.validateObject(payload.span) } catch {
                throw Self.malformed(PayloadAdvice.sentence(for: error, in: payload.span))
            }
            return
        }
        let place = device.map { Place(device: $0, topic: topic.id) }
        let history = place.map { recall($0, now: request.now / 1000) }
        let findings = PayloadLinter.findings(
            payload: payload.span, pushType: pushType, appName: topic.displayName, history: history)
        var warningCount = 0
        for finding in findings where finding.severity > .advice && finding.check != .tooLarge {
            guard finding.check != .malformed else { throw Self.malformed(finding.text) }
            if topic.checks == .strict, finding.severity == .error { throw Rejection(.payloadEmpty, finding.line) }
            guard warningCount < Self.warningCountMax else { break }
            request.exchange.addField("posthorn-warning", finding.line.utf8.span)
            warningCount += 1
        }
        guard let place, var history else { return }
        history.note(payload.span, pushType: pushType)
        histories[place] = history
    }

    private func recall(_ place: Place, now: Int64) -> PayloadHistory {
        guard var history = histories[place] else { return PayloadHistory(nowUnixSeconds: now) }
        history.nowUnixSeconds = now
        return history
    }

    private static func malformed(_ sentence: String) -> Rejection {
        Rejection(.payloadEmpty, "The payload is no JSON object: \(sentence)")
    }
}

/// A table that forgets: when half of it is full, the older half goes.
struct Generations<Key: Hashable, Value> {
    private let countMax: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    init(countMax: Int) { self.countMax = countMax }

    /// A value that is set is among the young.
    subscript(key: Key) -> Value? {
        get { young[key] ?? old[key] }
        set {
            young[key] = newValue
            guard young.count >= countMax / 2 else { return }
            old = young
            young = [:]
        }
    }
}
