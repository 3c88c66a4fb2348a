// SPDX-License-Identifier: Apache-2.0

internal import PushServing

extension TokenBucket {
    /// Returns the state to report for a number of remaining tokens.
    func state(remaining: Int64) -> QuotaState {
        let out = (tokenCount - remaining) * tokenNanoseconds
        return QuotaState(
            limit: tokenCount, remaining: remaining, resetSeconds: out == 0 ? 0 : QuotaMoment.seconds(out))
    }
}
