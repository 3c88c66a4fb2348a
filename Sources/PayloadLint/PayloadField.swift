// SPDX-License-Identifier: Apache-2.0

/// A key that APNs defines, with the kind of its value.
///
/// - SeeAlso: Apple, "Generating a remote notification"
enum PayloadField: UInt8, CaseIterable, Sendable {
    case aps

    case alert, badge, sound, threadID, category, contentAvailable, mutableContent, targetContentID
    case interruptionLevel, relevanceScore, filterCriteria, staleDate, contentState, timestamp, event, dismissalDate
    case attributesType, attributes, inputPushChannel, inputPushToken, contentChanged, urlArguments

    case title, subtitle, body, launchImage, titleKey, subtitleKey, bodyKey
    case titleArguments, subtitleArguments, bodyArguments, actionKey, action, summaryArgument, summaryArgumentCount
    case soundInAlert

    case critical, soundName, volume

    /// An object in which APNs defines keys.
    enum Container: Sendable {
        case payload, aps, alert, sound

        /// The nesting depth of a value in the container.
        var depth: Int {
            switch self {
            case .payload: 1
            case .aps: 2
            case .alert, .sound: 3
            }
        }

        /// The prefix of the path of a key in the container.
        var prefix: String {
            switch self {
            case .payload: ""
            case .aps: "aps."
            case .alert: "aps.alert."
            case .sound: "aps.sound."
            }
        }
    }

    /// The required form of a value.
    enum Form: Sendable {
        /// Any value, or a value with a check of its own.
        case other
        case text, textArray, object, number
        /// The number 1 or 0.
        case flag
    }

    /// The name, container and form of the field; this is the only table of them.
    var definition: (name: StaticString, container: Container, form: Form) {
        switch self {
        case .aps: ("aps", .payload, .other)
        case .alert: ("alert", .aps, .other)
        case .badge: ("badge", .aps, .other)
        case .sound: ("sound", .aps, .other)
        case .threadID: ("thread-id", .aps, .text)
        case .category: ("category", .aps, .text)
        case .contentAvailable: ("content-available", .aps, .flag)
        case .mutableContent: ("mutable-content", .aps, .flag)
        case .targetContentID: ("target-content-id", .aps, .text)
        case .interruptionLevel: ("interruption-level", .aps, .other)
        case .relevanceScore: ("relevance-score", .aps, .other)
        case .filterCriteria: ("filter-criteria", .aps, .text)
        case .staleDate: ("stale-date", .aps, .number)
        case .contentState: ("content-state", .aps, .object)
        case .timestamp: ("timestamp", .aps, .number)
        case .event: ("event", .aps, .text)
        case .dismissalDate: ("dismissal-date", .aps, .number)
        case .attributesType: ("attributes-type", .aps, .text)
        case .attributes: ("attributes", .aps, .object)
        case .inputPushChannel: ("input-push-channel", .aps, .text)
        case .inputPushToken: ("input-push-token", .aps, .flag)
        case .contentChanged: ("content-changed", .aps, .other)
        case .urlArguments: ("url-args", .aps, .textArray)
        case .title: ("title", .alert, .text)
        case .subtitle: ("subtitle", .alert, .text)
        case .body: ("body", .alert, .text)
        case .launchImage: ("launch-image", .alert, .text)
        case .titleKey: ("title-loc-key", .alert, .text)
        case .subtitleKey: ("subtitle-loc-key", .alert, .text)
        case .bodyKey: ("loc-key", .alert, .text)
        case .titleArguments: ("title-loc-args", .alert, .textArray)
        case .subtitleArguments: ("subtitle-loc-args", .alert, .textArray)
        case .bodyArguments: ("loc-args", .alert, .textArray)
        case .actionKey: ("action-loc-key", .alert, .text)
        case .action: ("action", .alert, .text)
        case .summaryArgument: ("summary-arg", .alert, .text)
        case .summaryArgumentCount: ("summary-arg-count", .alert, .number)
        case .soundInAlert: ("sound", .alert, .other)
        case .critical: ("critical", .sound, .flag)
        case .soundName: ("name", .sound, .text)
        case .volume: ("volume", .sound, .number)
        }
    }

    var name: String { definition.name.description }

    /// The path of the key, for example `aps.alert.title`.
    var path: String { definition.container.prefix + name }

    /// Returns the field of a name in a container; nil if APNs does not define the name there.
    static func named(_ name: PackedText, in container: Container) -> PayloadField? {
        switch container {
        case .payload: name == apsName ? .aps : nil
        case .aps: apsFields[name]
        case .alert: alertFields[name]
        case .sound: soundFields[name]
        }
    }

    private static let apsName = PackedText("aps")
    private static let apsFields = table(of: .aps)
    private static let alertFields = table(of: .alert)
    private static let soundFields = table(of: .sound)

    private static func table(of container: Container) -> PackedTable<PayloadField> {
        PackedTable(allCases.filter { $0.definition.container == container }.map { (key: $0.name, value: $0) })
    }
}
