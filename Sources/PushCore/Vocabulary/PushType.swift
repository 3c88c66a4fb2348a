// SPDX-License-Identifier: Apache-2.0

/// The value of `apns-push-type`; comparison ignores case, because Apple spells it in three ways.
public enum PushType: String, CaseIterable, Codable, Sendable {
    case alert
    case background
    case location
    case voip
    case complication
    case fileprovider
    case mdm
    case liveactivity
    case pushtotalk
    case widgets
    case controls

    /// The suffix that the topic must have for this type; empty when the topic has no suffix.
    public var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .location: ".location-query"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The maximum payload size of this type, in bytes.
    public var payloadByteCountMax: Int {
        switch self {
        case .voip: Limits.voipPayloadByteCountMax
        case .alert, .background, .location, .complication, .fileprovider, .mdm, .liveactivity, .pushtotalk, .widgets,
            .controls:
            Limits.payloadByteCountMax
        }
    }
}
