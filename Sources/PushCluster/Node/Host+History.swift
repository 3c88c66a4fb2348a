// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushStore

/// Acknowledgements of notifications that are not in the window of a stream, but in the history of its device.
extension Host {
    // MARK: Acknowledgements

    /// Takes the acknowledgement of a notification that is not in the window of a stream.
    ///
    /// An acknowledgement of a number that was not sent to the device is ignored, and costs no statement. So is an
    /// outcome that was reported before.
    func acknowledgeLate(_ acknowledgement: DeviceAPI.Acknowledgement, on stream: HostedStream) {
        guard let index = stream.history.index(of: acknowledgement.id) else {
            return askForHistory(acknowledgement, on: stream)
        }
        let entry = stream.history.entries[index]
        let isEnd = !entry.marks.contains(.acknowledged)
        if isEnd {
            if entry.marks.contains(.broadcast) {
                skipBroadcast(entry.sequence, by: stream.device)
            } else {
                // A row may wait that an earlier stream has sent.
                shard(stream.device).acknowledge(.init(device: stream.device, id: acknowledgement.id))
                context.counters.note(.acknowledged)
            }
            context.trace?.record(
                .acknowledged, of: entry.sequence, entry.topic, on: stream.device, at: context.nextTraceTime())
        }
        if !histories.report(acknowledgement, on: stream), !isEnd { context.counters.noteIgnored() }
    }

    /// Reads the history again for the first unknown number of a stream, because an earlier host may have changed it.
    ///
    /// Unknown numbers that arrive before the result wait for it, too. Later ones are ignored.
    private func askForHistory(_ acknowledgement: DeviceAPI.Acknowledgement, on stream: HostedStream) {
        if !stream.hasAskedAgain, acknowledgement.id > 0 {
            stream.hasAskedAgain = true
            stream.undecided = [acknowledgement]
            stream.needsAccount = true
            mark(stream)
        } else if !stream.undecided.isEmpty, stream.undecided.count < Limits.acknowledgementBatchCountMax {
            stream.undecided.append(acknowledgement)
        } else {
            context.counters.noteIgnored()
        }
    }

    /// Removes an acknowledged notification from the window of a stream; returns nil if it is not there.
    func takeAcknowledged(_ id: Int64, on stream: HostedStream) -> HostedStream.Sent? {
        stream.acknowledge(id, at: context.moment, measuredBy: context.configuration.metrics.acknowledgement)
    }

    // MARK: The row of the device

    /// Takes the stored history of a device, which has the acknowledgements that it sent to other nodes.
    func takeHistory(_ stored: [DeliveryHistory.Entry], _ stream: HostedStream) {
        for entry in stored where entry.marks.contains(.acknowledged) {
            guard let sent = takeAcknowledged(entry.sequence, on: stream) else { continue }
            complete(sent, of: stream.device)
            if let index = stream.history.index(of: entry.sequence) { stream.history.mark(index, .acknowledged) }
        }
        stream.history.load(stored)
        histories.trim(stream.history)
        let undecided = stream.undecided
        stream.undecided = []
        for acknowledgement in undecided { acknowledgeLate(acknowledgement, on: stream) }
    }
}
