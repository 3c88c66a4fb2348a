// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// Changes that the nodes must apply before a request is answered.
extension ClusterStore {
    /// Applies changes of devices that were committed, here and on the nodes that host them.
    ///
    /// - Parameters:
    ///   - changed: The devices whose registrations, filter or subscriptions changed, and removed ones.
    ///   - saving: The devices that start or stop saving power.
    ///   - group: The group that ends when all hosts have applied the changes.
    package func apply(changed: Set<DeviceID>, saving: [DeviceID: Bool], in group: ChangeGroup) {
        for device in changed where !host.reattach(device) {
            shards[device].look(.changed(DeviceChange(group)), device)
        }
        for (device, isSaving) in saving {
            if !setSaving(isSaving, of: device) { shards[device].look(.saving(isSaving), device) }
        }
    }

    /// Sets whether a device saves power; returns false if its stream is not here.
    @discardableResult func setSaving(_ isSaving: Bool, of device: DeviceID) -> Bool {
        guard let stream = host.stream(of: device) else { return false }
        host.powerSaving.set(isSaving, on: stream)
        return true
    }

    /// Announces a new version of the control data to the nodes that may use an older one.
    package func announceControl(version: Int64, to nodes: [InstanceID], in group: ChangeGroup) {
        context.control.note(version)
        teller.tellControl(version: version, group, to: nodes)
    }

    /// Records the version of the control data that the node uses, and the last one in which data for checks changed.
    package func usesControl(version: Int64, changed: Int64) {
        context.control.use(version, changed: changed)
    }

    /// Records that a loop checks the requests of providers with a version of the control data from now on.
    package func usesControl(version: Int64, onLoop loop: UInt32) { context.control.use(version, onLoop: loop) }
}
