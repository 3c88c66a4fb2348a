// SPDX-License-Identifier: Apache-2.0

import PushCore
@testable import PushStore

/// The visible answers and deliveries of a `ModelRun`, to compare the runs of two engines.
struct ModelDigest: Equatable {
    /// The answers to commands, in order.
    private(set) var answers: [String] = []
    /// The deliveries of each group of commands.
    private(set) var deliveries: [String] = []

    mutating func add(answers replies: [StoreReply]) {
        answers += replies.compactMap { reply in
            switch reply {
            case .accepted: "accepted"
            case .refused(let reason, let ended, _): "\(reason) \(Self.text(ended))"
            case .attached(let device, _): "attached \(device.rawValue)"
            case .ended(let end, _): "ended \(end)"
            case .performed(let result, _): result.text
            case .deliver, .broadcast, .directory, .host: nil
            }
        }.sorted()
    }

    /// Adds the texts that were delivered to each device; the place of broadcasts among notifications may differ.
    mutating func add(deliveries texts: [ReplyAddress: [String]], by streams: [DeviceID: StoreModel.Stream]) {
        for (device, stream) in streams.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard let texts = texts[stream.address] else { continue }
            deliveries.append("\(device.rawValue): \(texts.sorted { Int($0) ?? 0 < Int($1) ?? 0 })")
        }
    }

    private static func text(_ time: Timestamp?) -> String {
        time.map { "\($0.unixMilliseconds - ModelRun.startMilliseconds)" } ?? "none"
    }

    /// The first difference to the digest of another run; nil without one.
    ///
    /// - Parameters:
    ///   - other: The other run.
    ///   - includesDeliveries: Whether the deliveries are compared too.
    /// - Returns: The two lines that differ.
    func difference(to other: ModelDigest, includesDeliveries: Bool) -> String? {
        var pairs = [(answers, other.answers)]
        if includesDeliveries { pairs.append((deliveries, other.deliveries)) }
        for (own, others) in pairs where own != others {
            let index = zip(own, others).enumerated().first { $0.element.0 != $0.element.1 }?.offset
            guard let index else { return "\(own.count) lines and \(others.count) lines" }
            return "line \(index): \(own[index]), and \(others[index])"
        }
        return nil
    }
}
