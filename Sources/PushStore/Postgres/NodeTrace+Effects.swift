// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
package import PushCore

extension NodeTrace {
    /// Records the removals and the outcomes of a committed transaction.
    package func record(_ effects: PostgresEffects, at time: Timestamp) {
        for removal in effects.removals {
            record(
                removal.reason.step, removal.detail, of: removal.row.sequence, removal.row.topic,
                on: removal.row.device, at: time)
        }
        for removal in effects.broadcastRemovals {
            record(removal.reason.step, of: removal.row.sequence, removal.row.topic, on: .none, at: time)
        }
        for report in effects.reports {
            if report.endsBroadcast {
                record(.acknowledged, of: report.acknowledgement.id, report.topic, on: report.device, at: time)
            }
            record(report.acknowledgement, report.topic, by: report.device, at: time)
        }
    }
}
