// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore

/// A store of either engine whose requests a test performs one by one.
protocol RequestTarget: AnyObject {
    var clock: TestClock { get }

    /// Performs a request; returns its result.
    func perform(_ request: StoreRequest) throws -> Result<StoreAnswer, StoreRefusal>

    /// Closes the store and opens its data again.
    func reopen() throws

    /// Returns the store's counters.
    func counts() throws -> AdminAPI.Counts

    /// Opens a device's stream.
    func connect(_ device: TestDevice) throws

    /// Accepts or refuses a notification.
    @discardableResult
    func accept(_ notification: Notification) throws -> Acceptance

    /// Publishes a broadcast.
    @discardableResult
    func publish(_ broadcast: Broadcast) throws -> Acceptance

    /// Returns the texts that wait for a device.
    func waiting(_ device: TestDevice) throws -> [String]

    /// Searches the trace.
    func search(_ query: TraceQuery) throws -> TraceFindings

    /// Returns the directory of a start.
    func firstDirectory() throws -> Directory
}

extension RequestTarget {
    /// Performs a request that must succeed.
    @discardableResult
    func succeed(_ request: StoreRequest) throws -> StoreAnswer { try perform(request).get() }

    /// Performs a request; returns its refusal, or nil if it succeeded.
    func refusal(_ request: StoreRequest) throws -> StoreRefusal? {
        if case .failure(let refusal) = try perform(request) { refusal } else { nil }
    }
}

extension Result<StoreAnswer, StoreRefusal> {
    /// The text of the result, which does not depend on the order of dictionaries, nor on an order that no list promises.
    var text: String {
        switch self {
        case .success(.quotas(let limits, let uses)):
            "\(limits.map { "\($0)" }.sorted()) \(uses.map { "\($0.subject) \($0.day) \($0.count)" }.sorted())"
        case .success(.trust(let trust)): "\(trust.map { "\($0)" }.sorted())"
        case let result: "\(result)"
        }
    }
}
