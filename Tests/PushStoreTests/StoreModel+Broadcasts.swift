// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore

extension StoreModel {
    // MARK: Broadcasts

    /// Models a broadcast that is to be stored.
    mutating func publish(_ broadcast: Broadcast) -> Acceptance {
        guard let channel = channels[broadcast.channel] else { return .refused(.channelNotRegistered, ended: nil) }
        guard channel.policy == .mostRecentMessageStored else { return .refused(.badExpirationDate, ended: nil) }
        counts.accepted += 1
        guard broadcast.expiration.unixMilliseconds >= now else {
            counts.expired += 1
            return .accepted
        }
        counts.collapsed += removeStored(of: broadcast.channel)
        lastOrdinal += 1
        counts.pending += 1
        let latest = now + Limits.broadcastStorageSecondsMax * 1000
        channels[broadcast.channel]?.stored = (
            lastOrdinal, String(decoding: broadcast.payload, as: UTF8.self),
            min(latest, broadcast.expiration.unixMilliseconds)
        )
        for device in channels[broadcast.channel]?.subscribers.keys.sorted(by: { $0.rawValue < $1.rawValue }) ?? []
        where !refused[device, default: []].contains(broadcast.topic) {
            offer(String(decoding: broadcast.payload, as: UTF8.self), to: device)
        }
        return .accepted
    }

    /// Models a now-or-never broadcast, alone in its batch; returns the devices that receive it.
    mutating func publishNow(_ text: String, to id: ChannelID) -> (Acceptance, Set<DeviceID>) {
        guard let channel = channels[id] else { return (.refused(.channelNotRegistered, ended: nil), []) }
        counts.accepted += 1
        let listeners = channel.subscribers.keys.filter { device in
            !refused[device, default: []].contains(channel.topic) && hasRoom(device)
        }
        if !promises.dropsBroadcastsAtFullWindow {
            lastOrdinal += 1
            for device in channel.subscribers.keys where streams[device] != nil && !listeners.contains(device) {
                streams[device]?.delayed.append((lastOrdinal, text, id))
            }
        }
        if listeners.isEmpty { counts.expired += 1 } else { counts.pending += 1 }
        if !listeners.isEmpty { copies[text] = Set(listeners) }
        for device in listeners {
            streams[device]?.unacknowledged.append(text)
            streams[device]?.copies.insert(text)
            noteSent(text, to: device)
        }
        return (.accepted, Set(listeners))
    }

    /// Returns the stored broadcasts that wait for a device.
    func waitingBroadcasts(for device: DeviceID) -> [(Int, String, Int64)] {
        channels.values.compactMap { channel in
            guard let since = channel.subscribers[device], let stored = channel.stored, stored.ordinal > since,
                !refused[device, default: []].contains(channel.topic)
            else { return nil }
            return stored
        }
    }

    /// Returns the now-or-never broadcasts that wait for capacity in the window of a device's stream.
    func delayedBroadcasts(for device: DeviceID) -> [(Int, String, Int64)] {
        (streams[device]?.delayed ?? []).compactMap { delayed in
            guard let channel = channels[delayed.channel], let since = channel.subscribers[device],
                since < delayed.ordinal, !refused[device, default: []].contains(channel.topic)
            else { return nil }
            return (delayed.ordinal, delayed.text, .max)
        }
    }

    /// Completes a stored broadcast for a device; returns false when it does not wait for the device.
    mutating func settleBroadcast(_ text: String, _ device: DeviceID) -> Bool {
        for (id, channel) in channels where channel.stored?.text == text {
            guard let stored = channel.stored, let since = channel.subscribers[device], since < stored.ordinal else {
                continue
            }
            channels[id]?.subscribers[device] = stored.ordinal
            return true
        }
        return false
    }

    /// Skips the stored broadcasts of a topic for a device.
    mutating func skipBroadcasts(of topic: TopicID, _ device: DeviceID) {
        for (id, channel) in channels where channel.topic == topic && channel.subscribers[device] != nil {
            streams[device]?.forget(channel.stored?.text)
            channels[id]?.subscribers[device] = lastOrdinal
        }
    }

    // MARK: Channels

    mutating func create(_ id: ChannelID, _ topic: TopicID, _ policy: MessageStoragePolicy) {
        channels[id] = Channel(topic: topic, policy: policy)
    }

    mutating func remove(_ id: ChannelID) {
        counts.unregistered += removeStored(of: id)
        channels[id] = nil
    }

    mutating func subscribe(_ device: DeviceID, to id: ChannelID) {
        guard let channel = channels[id], channel.subscribers[device] == nil,
            let registration = registrations[AppOnDevice(device: device, topic: channel.topic)], registration.isLive,
            registration.environment == .production
        else { return }
        channels[id]?.subscribers[device] = lastOrdinal
    }

    mutating func unsubscribe(_ device: DeviceID, from id: ChannelID) {
        guard channels[id]?.subscribers.removeValue(forKey: device) != nil else { return }
        streams[device]?.forget(channels[id]?.stored?.text)
    }

    /// Removes the stored broadcast of a channel; returns the number of removed broadcasts.
    private mutating func removeStored(of id: ChannelID) -> Int {
        guard let stored = channels[id]?.stored else { return 0 }
        channels[id]?.stored = nil
        counts.pending -= 1
        for device in streams.keys { streams[device]?.forget(stored.text) }
        return 1
    }
}
