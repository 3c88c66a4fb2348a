// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushDBus

/// An app, as `ListApps` returns it.
package struct AppRecord: AgentRecord, Sendable, Equatable {
    /// The app ID.
    package var appID = ""
    /// The app's topic on the server.
    package var topic = ""
    /// The display name.
    package var name = ""
    /// The environment: `production` or `development`.
    package var environment = ""
    /// The name of an icon or an absolute path; may be empty.
    package var icon = ""
    /// The device token; empty until the server has assigned one.
    package var deviceToken = ""
    /// The badge number; 0 for no badge.
    package var badge: UInt32 = 0
    /// The event types, in the order in which the app declared them.
    package var eventTypes: [EventTypeRecord] = []
    /// Whether the app may show a badge.
    package var allowsBadge = false
    /// Whether the app may play sounds.
    package var allowsSound = false
    /// Whether the app may show alerts.
    package var allowsAlert = false
    /// The alert style: `none`, `banner` or `alert`.
    package var alertStyle = ""
    /// The settings that let notifications of the app pass Do Not Disturb and that are on.
    package var quietExceptions: [String] = []
    /// The settings of the app as a whole that the administrator locked.
    package var lockedSettings: [String] = []
    /// The IDs of the channels that the app has subscribed to.
    package var channels: [String] = []
    /// The channels that the server does not know yet.
    package var pendingChannels: [String] = []
    /// Hints for the app's developer.
    package var advice: [String] = []
    /// Whether `name` is the name of an installed app, or one that the user gave.
    package var isVerified = false
    /// The settings that held back a notification and that the user has not chosen yet: `time-sensitive`.
    package var offers: [String] = []
    /// Whether the app names hosts of pictures or has a filter, so that its notifications can have pictures.
    package var canHavePictures = false
    /// The time until which the app is muted; nil if it is not muted.
    package var mutedUntil: Timestamp?

    /// Creates an empty record.
    package init() {}

    package init(_ dictionary: BusValue) {
        appID = dictionary.text("app_id")
        topic = dictionary.text("topic")
        name = dictionary.text("name")
        environment = dictionary.text("environment")
        icon = dictionary.text("icon")
        deviceToken = dictionary.text("device_token")
        badge = UInt32(clamping: dictionary.number("badge"))
        eventTypes = dictionary.items("event_types").map(EventTypeRecord.init)
        allowsBadge = dictionary.flag("allows_badge")
        allowsSound = dictionary.flag("allows_sound")
        allowsAlert = dictionary.flag("allows_alert")
        alertStyle = dictionary.text("alert_style")
        quietExceptions = dictionary.texts("quiet_exceptions")
        lockedSettings = dictionary.texts("locked")
        channels = dictionary.texts("channels")
        pendingChannels = dictionary.texts("pending_channels")
        advice = dictionary.texts("advice")
        isVerified = dictionary.flag("verified")
        offers = dictionary.texts("offers")
        canHavePictures = dictionary.flag("can_have_pictures")
        mutedUntil = dictionary.secondsIfSet("muted_until")
    }

    package var entries: [(String, BusValue)] {
        [
            ("app_id", .entry(appID)),
            ("topic", .entry(topic)),
            ("name", .entry(name)),
            ("environment", .entry(environment)),
            ("icon", .entry(icon)),
            ("device_token", .entry(deviceToken)),
            ("badge", .entry(badge)),
            ("event_types", .entry(eventTypes)),
            ("allows_badge", .entry(allowsBadge)),
            ("allows_sound", .entry(allowsSound)),
            ("allows_alert", .entry(allowsAlert)),
            ("alert_style", .entry(alertStyle)),
            ("quiet_exceptions", .entry(quietExceptions)),
            ("locked", .entry(lockedSettings)),
            ("channels", .entry(channels)),
            ("pending_channels", .entry(pendingChannels)),
            ("advice", .entry(advice)),
            ("verified", .entry(isVerified)),
            ("offers", .entry(offers)),
            ("can_have_pictures", .entry(canHavePictures)),
            ("muted_until", .entry(secondsOf: mutedUntil)),
        ]
    }
}

/// An event type of an app, in `ListApps`.
package struct EventTypeRecord: AgentRecord, Sendable, Equatable {
    /// The app's identifier of the event type.
    package var id = ""
    /// The display name.
    package var name = ""

    /// Creates an empty record.
    package init() {}

    package init(_ dictionary: BusValue) {
        id = dictionary.text("id")
        name = dictionary.text("name")
    }

    package var entries: [(String, BusValue)] {
        [
            ("id", .entry(id)),
            ("name", .entry(name)),
        ]
    }
}
