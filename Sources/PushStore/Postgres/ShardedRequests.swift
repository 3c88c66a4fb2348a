// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
package import PushCore
package import PushSQL

/// Performs each request on the shards that it concerns, and merges the answers of several shards.
///
/// Shard 0 has the control data. A request about a device reads the control data there, and changes the device in the
/// device's shard.
package final class ShardedRequests {
    private let shardCount: Int
    private let slots: () -> SlotMap
    private let shard: (Int) throws(SQLError) -> PostgresRequests

    /// Creates the requests of one connection for each shard.
    ///
    /// - Parameters:
    ///   - shardCount: The number of shards.
    ///   - slots: Returns the current assignment of devices to shards.
    ///   - shard: Returns the requests of a shard, on an open connection.
    package init(
        shardCount: Int, slots: @escaping () -> SlotMap,
        shard: @escaping (Int) throws(SQLError) -> PostgresRequests
    ) {
        self.shardCount = shardCount
        self.slots = slots
        self.shard = shard
    }

    /// Performs a request; blocks until it is complete.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - committed: Called after each committed transaction that has effects. A later transaction may fail.
    /// - Returns: The answer; `busy` for a device that moves to another shard.
    /// - Throws: An error that PostgreSQL returned.
    package func perform(
        _ request: StoreRequest, committed: (PostgresEffects) -> Void
    ) throws(SQLError) -> PostgresRequests.Answer {
        switch request {
        case .enrol(let new): return try enrol(new, committed)
        case .device, .administer:
            return try begin(request, committed: committed).finished(committed: committed)
        case .allDevices(.list(let last, let countMax)): return try list(after: last, countMax: countMax)
        case .allDevices(.recipients(let topic, let devices, let countMax)):
            return try recipients(topic, devices, countMax)
        case .allDevices(.trace(let query)):
            return try shard(try shard(of: query)).perform(request, committed: committed)
        case .allDevices(.counts), .allDevices(.longestQueues), .allDevices(.trust), .control(.app), .control(.apps),
            .control(.channel), .control(.channels):
            return try merged(request)
        case .control(.policy(.set(let key, _, _))):
            guard let device = key.device else { return try shard(0).perform(request, committed: committed) }
            return try begin(request, about: device, committed).finished(committed: committed)
        case .control, .backup, .cluster: return try control(request, committed)
        }
    }

    /// Returns the shard whose device tables a search of the trace needs.
    package func shard(of query: TraceQuery) throws(SQLError) -> Int {
        if case .device(let device) = query.subject { slots().shard(of: device) } else { 0 }
    }

    // MARK: One device

    /// Returns the device of a credential; searches all shards if the credential has no device ID.
    package func device(of credential: DeviceCredential) throws(SQLError) -> DeviceID? {
        if let device = credential.device { return device }
        for index in 0..<shardCount {
            if let device = try shard(index).identify(credential) { return device }
        }
        return nil
    }

    /// Performs a request, or the first step of a long one about a device; see `perform`.
    package func begin(
        _ request: StoreRequest, committed: (PostgresEffects) -> Void
    ) throws(SQLError) -> PostgresRequests.Progress {
        switch request {
        case .device(_, let credential):
            guard let device = try device(of: credential) else {
                return .answered(.init(result: .failure(.unauthorized)))
            }
            return try begin(request, about: device, committed)
        case .administer(let device, _): return try begin(request, about: device, committed)
        default: return .answered(try perform(request, committed: committed))
        }
    }

    private func begin(
        _ request: StoreRequest, about device: DeviceID, _ committed: (PostgresEffects) -> Void
    ) throws(SQLError) -> PostgresRequests.Progress {
        let slots = slots()
        guard !slots.isMoving(device) else { return .answered(.init(result: .failure(.busy))) }
        return try shard(slots.shard(of: device)).begin(
            request, about: shardCount > 1 ? device : nil, committed: committed)
    }

    private func enrol(
        _ new: StoreRequest.NewDevice, _ committed: (PostgresEffects) -> Void
    ) throws(SQLError) -> PostgresRequests.Answer {
        guard shardCount > 1 else {
            return try begin(.enrol(new), about: new.device, committed).finished(committed: committed)
        }
        var new = new
        new.keepsDevice = true
        var answer = PostgresRequests.Answer(result: .failure(.busy))
        // Another node may perform the same request at the same time, and use the code first.
        for _ in 1...2 {
            // A repeated request concerns the device of the first one, in the shard of that device.
            if let codeHash = new.codeHash, let requestHash = new.requestHash,
                let known = try shard(0).enrolledDevice(codeHash, requestHash)
            {
                new.device = known
            }
            answer = try begin(.enrol(new), about: new.device, committed).finished(committed: committed)
            guard case .failure(.busy) = answer.result else { break }
        }
        return answer
    }

    // MARK: Control data

    private func control(
        _ request: StoreRequest, _ committed: (PostgresEffects) -> Void
    ) throws(SQLError) -> PostgresRequests.Answer {
        var (apps, channels): ([TopicID], [ChannelNumber]) = ([], [])
        let answer = try shard(0).perform(request) { effects in
            apps += effects.removedApps
            channels += effects.removedChannels
            committed(effects)
        }
        guard !apps.isEmpty || !channels.isEmpty else { return answer }
        // If a shard cannot be reached, its next sweep removes the registrations and subscriptions there.
        var failure: SQLError?
        for index in 1..<max(shardCount, 1) {
            do throws(SQLError) {
                try shard(index).remove(apps: apps, channels: channels, committed: committed)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return answer
    }

    // MARK: All devices

    /// Performs a read-only request on each shard, and merges the answers.
    private func merged(_ request: StoreRequest) throws(SQLError) -> PostgresRequests.Answer {
        var answer = try shard(0).perform(request) { _ in }
        for index in 1..<max(shardCount, 1) {
            guard case .success(var sum) = answer.result else { return answer }
            let other = try shard(index).perform(request) { _ in }
            guard case .success(let part) = other.result else { return other }
            sum.add(part)
            answer.result = .success(sum)
        }
        if case .allDevices(.longestQueues(let countMax)) = request, case .success(.queues(let queues)) = answer.result
        {
            let longest = queues.sorted { ($1.count, $0.device.rawValue) < ($0.count, $1.device.rawValue) }
            answer.result = .success(.queues(Array(longest.prefix(countMax))))
        }
        return answer
    }

    private func list(after last: DeviceID?, countMax: Int) throws(SQLError) -> PostgresRequests.Answer {
        guard shardCount > 1 else {
            return try shard(0).perform(.allDevices(.list(after: last, countMax: countMax))) { _ in }
        }
        var cursor: DeviceTable.ListCursor?
        if let last {
            guard let stored = Int64(exactly: last.rawValue),
                let found = try shard(self.slots().shard(of: last)).tables.devices.cursor(of: stored)
            else { return .init(result: .failure(.unknownDevice)) }
            cursor = found
        }
        let slots = slots()
        var (devices, isMore): ([AdminAPI.Device], Bool) = ([], false)
        for index in 0..<shardCount {
            let answer = try shard(index).devices(after: cursor, countMax: countMax)
            guard case .success(.devices(let page, let next)) = answer.result else { return answer }
            // The former shard keeps the rows of moved devices for a minute.
            devices += page.filter { device in
                DeviceID(text: device.deviceID).map { slots.shard(of: $0) == index } ?? false
            }
            isMore = isMore || next != nil
        }
        devices.sort { ($0.enrolledAt, $0.deviceID) < ($1.enrolledAt, $1.deviceID) }
        isMore = isMore || devices.count > countMax
        devices = Array(devices.prefix(countMax))
        let next = isMore ? devices.last.flatMap { DeviceID(text: $0.deviceID) } : nil
        return .init(result: .success(.devices(devices, next: next)))
    }

    private func recipients(
        _ topic: TopicID, _ devices: [DeviceID]?, _ countMax: Int
    ) throws(SQLError) -> PostgresRequests.Answer {
        let slots = slots()
        var (found, isComplete): ([Recipient], Bool) = ([], true)
        for index in 0..<shardCount {
            let own = devices?.prefix(countMax).filter { slots.shard(of: $0) == index }
            guard own?.isEmpty != true || shardCount == 1 else { continue }
            guard devices != nil || found.count < countMax else {
                isComplete = false
                break
            }
            let request = AllDevicesRequest.recipients(topic, devices: own, countMax: countMax - found.count)
            let answer = try shard(index).perform(.allDevices(request)) { _ in }
            guard case .success(.recipients(let part, let isWhole)) = answer.result else { return answer }
            found += part.filter { slots.shard(of: $0.contents.device) == index }
            isComplete = isComplete && isWhole
        }
        return .init(result: .success(.recipients(found, isComplete: isComplete)))
    }
}

extension StoreAnswer {
    /// Adds the answer of another shard to the same request.
    fileprivate mutating func add(_ other: StoreAnswer) {
        switch (self, other) {
        case (.counts(var counts), .counts(let part)):
            counts.devices += part.devices
            counts.devicesConnected += part.devicesConnected
            counts.registrations += part.registrations
            counts.pending += part.pending
            self = .counts(counts)
        case (.queues(let queues), .queues(let part)): self = .queues(queues + part)
        case (.trust(let trust), .trust(let part)): self = .trust(trust.adding(part))
        case (.app(let app), .app(let part)): self = .app(app.adding([part]))
        case (.apps(let apps), .apps(let part)): self = .apps(apps.map { $0.adding(part) })
        case (.channel(let channel), .channel(let part)): self = .channel(channel.adding([part]))
        case (.channels(let channels), .channels(let part)): self = .channels(channels.map { $0.adding(part) })
        default: break
        }
    }
}

extension AdminAPI.App {
    fileprivate func adding(_ apps: [AdminAPI.App]) -> AdminAPI.App {
        var sum = self
        for app in apps where app.topic == topic {
            sum.registrationCount += app.registrationCount
            sum.pendingCount += app.pendingCount
        }
        return sum
    }
}

extension AdminAPI.Channel {
    fileprivate func adding(_ channels: [AdminAPI.Channel]) -> AdminAPI.Channel {
        var sum = self
        for channel in channels where channel.channelID == channelID {
            sum.subscriptionCount += channel.subscriptionCount
        }
        return sum
    }
}

extension [DeviceTrust] {
    fileprivate func adding(_ part: [DeviceTrust]) -> [DeviceTrust] {
        var sum = self
        for row in part {
            let index = sum.firstIndex {
                $0.confirmedVersion == row.confirmedVersion && $0.enrolledUnder == row.enrolledUnder
            }
            if let index { sum[index].deviceCount += row.deviceCount } else { sum.append(row) }
        }
        return sum
    }
}
