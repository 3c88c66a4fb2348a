// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A question about all devices and their notifications, which changes nothing.
package enum AllDevicesRequest: Sendable {
    /// Lists live devices in the order of enrolment, after a given device, at most `countMax`; answered by `devices`.
    case list(after: DeviceID? = nil, countMax: Int = .max)
    case counts
    /// Lists the devices for which most recent notifications wait, at most `countMax`; answered by `queues`.
    case longestQueues(countMax: Int)
    /// Lists the given devices, or all, on which an app is registered, at most `countMax`; answered by `recipients`.
    case recipients(TopicID, devices: [DeviceID]? = nil, countMax: Int)
    /// Counts the devices by the authorities that they trust; answered by `trust`.
    case trust
    /// Searches the trace; answered by `trace` at the end of the search, or refused with `traceOff`.
    case trace(TraceQuery)
}
