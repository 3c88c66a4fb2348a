// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A notification as a script describes it: texts and a few options instead of an APNs request.
package struct SendMessage: Equatable, Sendable {
    /// How much a notification may interrupt its user.
    package enum Level: String, CaseIterable, Sendable {
        case passive, active
        case timeSensitive = "time-sensitive"
    }

    /// Those that receive the notification.
    package enum Recipients: Equatable, Sendable {
        /// All devices on which the app is registered.
        case all
        case devices([DeviceID])
        /// The devices on which the app subscribes to a channel.
        case channel(ChannelID)
    }

    /// A button of the notification.
    package struct Button: Equatable, Sendable {
        /// The effect of the button.
        package enum Effect: Equatable, Sendable {
            /// Opens a link.
            case open(String)
            /// Sends a request from the user's device.
            case request(Request)
        }

        /// An HTTP request that a button sends.
        package struct Request: Equatable, Sendable {
            package var url: String
            package var method: String
            package var headers: [JSONValue.Member]
            package var body: String?

            package init(url: String, method: String = "POST", headers: [JSONValue.Member] = [], body: String? = nil) {
                self.url = url
                self.method = method
                self.headers = headers
                self.body = body
            }
        }

        package var title: String
        package var effect: Effect

        package init(title: String, effect: Effect) {
            self.title = title
            self.effect = effect
        }
    }

    package var title: String?
    package var subtitle: String?
    package var body: String?
    package var level = Level.active
    /// The name of a sound of the app; nil for the user's default sound.
    package var sound: String?
    /// Whether the notification is silent.
    package var isSilent = false
    /// The number on the app's icon; nil leaves it unchanged.
    package var badge: UInt32?
    /// The https address that *View* opens.
    package var link: String?
    package var buttons: [Button] = []
    /// The ID that groups alerts.
    package var threadID: String?
    /// The event type, for which users have settings.
    package var category: String?
    /// The collapse ID, at most 64 bytes: a later notification with the same ID replaces this one.
    package var collapseID: String?
    /// The time for which the server keeps the notification for a disconnected device, in seconds.
    ///
    /// 0 means that the server delivers now or never. nil means 30 days.
    package var lifeSeconds: Int64?
    package var recipients = Recipients.all
    /// A complete APNs payload, byte for byte, instead of the texts and options.
    package var wholePayload: [UInt8]?
    /// The parts of the request that have no effect, each as the sender wrote it.
    package var ignored: [String] = []

    package init() {}

    /// Whether there is anything to show.
    package var isEmpty: Bool {
        wholePayload == nil && badge == nil && [title, subtitle, body].allSatisfy { $0?.isEmpty ?? true }
    }

    /// The value of `apns-priority`: 5 for a passive notification, which may be delayed while a device saves power.
    package var priority: UInt8 { level == .passive ? 5 : 10 }
}

/// The reason why a request to send is refused.
package struct SendDefect: Error, Equatable, Sendable {
    /// The problem and its solution, in one or two sentences.
    package var text: String

    package init(_ text: String) { self.text = text }
}
