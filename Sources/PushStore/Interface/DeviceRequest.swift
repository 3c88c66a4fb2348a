// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore

/// A request of a device about itself; refused with `unauthorized` if the credential is wrong.
package enum DeviceRequest: Sendable {
    /// Identifies the device; answered by `identified`.
    ///
    /// Needs no transaction.
    case identify
    case register(topic: TopicName, environment: Environment = .production)
    case unregister(topic: TopicName)
    /// Subscribes a registered app to a channel in the environment of its registration; answered by `done`, even if it
    /// was subscribed.
    ///
    /// The app receives later broadcasts only, not the one that the channel already stores.
    case subscribe(topic: TopicName, channel: ChannelID)
    /// Ends a subscription; answered by `done` even if there was none.
    case unsubscribe(topic: TopicName, channel: ChannelID)
    /// Lists the channels that an app subscribes to; answered by `subscriptions`.
    case subscriptions(topic: TopicName)
    case setFilter(refusedTopics: [TopicName])
    /// Sets whether the device saves power while its stream is open; answered by `done`.
    case setPower(isSaving: Bool)
    case acknowledge([DeviceAPI.Acknowledgement])
    /// Returns the policy rules for the device; answered by `policy`.
    case policy
    /// Records that the device trusts a version of the announced authorities; answered by `done`.
    case confirmAuthorities(version: Int64)
    /// Removes the device; answered by `done`.
    case remove
}
