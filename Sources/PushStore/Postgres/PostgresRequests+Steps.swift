// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQL

/// Long requests, which other requests may interrupt between their transactions.
extension PostgresRequests {
    /// The result of a step.
    enum Step {
        case answered(Answer)
        case unfinished(any LongWork)
    }

    /// A request with remaining steps.
    package final class UnfinishedRequest {
        private let requests: PostgresRequests
        private let request: StoreRequest
        private let device: DeviceID?
        private let work: any LongWork

        fileprivate init(
            _ requests: PostgresRequests, _ request: StoreRequest, about device: DeviceID?, _ work: any LongWork
        ) {
            self.requests = requests
            self.request = request
            self.device = device
            self.work = work
        }

        /// Performs the next step; see `PostgresRequests.perform`.
        package func resume(committed: (PostgresEffects) -> Void) throws(SQLError) -> Progress {
            try requests.advance(request, about: device, work, committed)
        }
    }

    /// The state of a request after a step.
    package enum Progress {
        case answered(Answer)
        case unfinished(UnfinishedRequest)

        /// Performs the remaining steps; see `PostgresRequests.perform`.
        func finished(committed: (PostgresEffects) -> Void) throws(SQLError) -> Answer {
            var progress = self
            while true {
                switch progress {
                case .answered(let answer): return answer
                case .unfinished(let rest): progress = try rest.resume(committed: committed)
                }
            }
        }
    }

    /// Performs the first step of a request; see `perform`.
    package func begin(
        _ request: StoreRequest, about device: DeviceID? = nil, committed: (PostgresEffects) -> Void
    ) throws(SQLError) -> Progress {
        try advance(request, about: device, nil, committed)
    }

    private func advance(
        _ request: StoreRequest, about device: DeviceID?, _ work: (any LongWork)?,
        _ committed: (PostgresEffects) -> Void
    ) throws(SQLError) -> Progress {
        switch try step(work, about: device, committed, { () throws(SQLError) in try execute(request) }) {
        case .unfinished(let rest): return .unfinished(UnfinishedRequest(self, request, about: device, rest))
        case .answered(var answer):
            if case .success = answer.result, request.forbidsDeliveries { answer.endsDeliveries = true }
            return .answered(answer)
        }
    }
}
