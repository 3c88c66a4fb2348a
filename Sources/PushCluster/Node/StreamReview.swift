// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Compares all streams of a node with their shards once a minute, some of them each second.
///
/// A stream that another one has replaced is closed, and each device's waiting rows are read once more. Two faults at the
/// same time could otherwise leave a stream or a row behind.
final class StreamReview {
    private let context: NodeContext
    private let host: Host
    private let shard: (DeviceID) -> ShardQueue
    private static let stepCount: Int64 = 60
    /// The time of the next step.
    private var due = MonotonicTime.past
    /// The time of the next pass; nil before the first turn with streams.
    private var nextPass: MonotonicTime?
    /// The devices that are still to be compared in this pass, in reverse.
    private var rest: [DeviceID] = []
    private var countPerStep = 1

    init(_ context: NodeContext, _ host: Host, shard: @escaping (DeviceID) -> ShardQueue) {
        self.context = context
        self.host = host
        self.shard = shard
    }

    /// The time of the next step; nil without streams.
    var nextDue: MonotonicTime? { host.count == 0 ? nil : rest.isEmpty ? nextPass : due }

    /// Makes the next step if it is due.
    func expire() {
        guard host.count > 0 else { return }
        let milliseconds = context.configuration.reviewMilliseconds
        if rest.isEmpty {
            let end = nextPass ?? context.moment.advanced(byMilliseconds: milliseconds)
            nextPass = end
            guard end <= context.moment else { return }
            nextPass = context.moment.advanced(byMilliseconds: milliseconds)
            rest = host.devices.reversed()
            countPerStep = (rest.count + Int(Self.stepCount) - 1) / Int(Self.stepCount)
            due = context.moment
        }
        guard due <= context.moment else { return }
        due = context.moment.advanced(byMilliseconds: milliseconds / Self.stepCount)
        for _ in 0..<min(countPerStep, rest.count) {
            guard let stream = host.stream(of: rest.removeLast()), stream.isOpen else { continue }
            shard(stream.device).look(.stream(stream), stream.device)
            stream.isReviewed = true
            host.mark(stream)
        }
    }
}
