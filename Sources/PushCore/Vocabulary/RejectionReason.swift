// SPDX-License-Identifier: Apache-2.0

/// The reason why the server refused a notification; this is the only list of them.
///
/// The raw value is the word that the server sends, exactly as Apple documents it.
/// - SeeAlso: docs/reference/errors.md, which is generated from this list.
public enum RejectionReason: String, Error, CaseIterable, Sendable {
    case badCollapseID = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badMessageID = "BadMessageId"
    case badPriority = "BadPriority"
    case badTopic = "BadTopic"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case duplicateHeaders = "DuplicateHeaders"
    case idleTimeout = "IdleTimeout"
    case invalidPushType = "InvalidPushType"
    case missingDeviceToken = "MissingDeviceToken"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case topicDisallowed = "TopicDisallowed"
    case badCertificate = "BadCertificate"
    case badCertificateEnvironment = "BadCertificateEnvironment"
    case expiredProviderToken = "ExpiredProviderToken"
    case forbidden = "Forbidden"
    case invalidProviderToken = "InvalidProviderToken"
    case missingProviderToken = "MissingProviderToken"
    case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
    case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"
    case expiredToken = "ExpiredToken"
    case unregistered = "Unregistered"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    case tooManyRequests = "TooManyRequests"
    case internalServerError = "InternalServerError"
    case serviceUnavailable = "ServiceUnavailable"
    case shutdown = "Shutdown"
    case featureNotEnabled = "FeatureNotEnabled"
    case missingChannelID = "MissingChannelId"
    case badChannelID = "BadChannelId"
    case channelNotRegistered = "ChannelNotRegistered"
    case badRequestParams = "BadRequestParams"
    case badRequestPayload = "BadRequestPayload"
    case missingPushType = "MissingPushType"
    case cannotCreateChannelConfig = "CannotCreateChannelConfig"
    case topicMismatch = "TopicMismatch"

    /// Whether a retry can succeed.
    public enum Retry: String, Sendable {
        case never, later, onceFixed = "once fixed"
    }

    /// The HTTP status code of the response.
    public var status: Int {
        switch self {
        case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
            .missingTopic, .payloadEmpty, .topicDisallowed, .featureNotEnabled, .missingChannelID, .badChannelID,
            .channelNotRegistered, .badRequestParams, .badRequestPayload, .missingPushType,
            .cannotCreateChannelConfig:
            400
        case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden, .invalidProviderToken,
            .missingProviderToken, .unrelatedKeyIDInToken, .badEnvironmentKeyInToken, .topicMismatch:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        }
    }

    /// Whether and when the provider may send the same notification again.
    public var retry: Retry {
        switch self {
        case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .badTopic, .duplicateHeaders,
            .invalidPushType, .missingDeviceToken, .missingTopic, .payloadEmpty, .topicDisallowed, .badCertificate,
            .badCertificateEnvironment, .expiredProviderToken, .invalidProviderToken, .missingProviderToken,
            .unrelatedKeyIDInToken, .badEnvironmentKeyInToken, .badPath, .methodNotAllowed, .featureNotEnabled,
            .missingChannelID, .badChannelID, .badRequestParams, .badRequestPayload, .missingPushType,
            .cannotCreateChannelConfig, .topicMismatch:
            .onceFixed
        case .badDeviceToken, .deviceTokenNotForTopic, .forbidden, .expiredToken, .unregistered, .payloadTooLarge,
            .channelNotRegistered:
            .never
        case .idleTimeout, .tooManyProviderTokenUpdates, .tooManyRequests, .internalServerError, .serviceUnavailable,
            .shutdown:
            .later
        }
    }

    /// The action for the provider, as one imperative sentence.
    public var advice: String {
        switch self {
        case .badCollapseID: "Shorten apns-collapse-id to at most 64 bytes without spaces around it."
        case .badDeviceToken: "Use the device token that the app registered with this server."
        case .badExpirationDate: "Set apns-expiration to whole UNIX seconds, or 0."
        case .badMessageID: "Set apns-id to a UUID of 8-4-4-4-12 hexadecimal digits."
        case .badPriority: "Set apns-priority to 10, 5 or 1."
        case .badTopic: "Set apns-topic to the app's topic, with the suffix that the push type requires."
        case .deviceTokenNotForTopic: "Use the topic for which the device token was registered."
        case .duplicateHeaders: "Send each header once."
        case .idleTimeout: "Send the complete request without pauses; after GOAWAY, open a new connection."
        case .invalidPushType: "Set apns-push-type to one of the documented types."
        case .missingDeviceToken: "Append the device token to /3/device/ in the path."
        case .missingTopic: "Add the apns-topic header."
        case .payloadEmpty: "Send a payload that is one JSON object."
        case .topicDisallowed: "Use a topic that exists on this server and that the signing key can send to."
        case .badCertificate: "Use a client certificate that a CA trusted by this server issued."
        case .badCertificateEnvironment: "Use a client certificate of this environment."
        case .expiredProviderToken: "Sign a new provider token, and check this machine's clock."
        case .forbidden: "Use a key that has not been revoked."
        case .invalidProviderToken: "Check the key ID, team ID and signing key of the provider token."
        case .missingProviderToken: "Add an authorization header with 'bearer' and the provider token."
        case .unrelatedKeyIDInToken: "Open a new connection for the other signing key."
        case .badEnvironmentKeyInToken: "Use a signing key of this environment."
        case .badPath:
            "Send a notification to /3/device/ followed by the device token, or with a send token to /v1/send/APP."
        case .methodNotAllowed: "Use POST, or the documented method of a channel path."
        case .expiredToken: "Delete this device token."
        case .unregistered: "Delete this device token; the app gets a new one when it registers again."
        case .payloadTooLarge: "Send at most 4096 bytes of payload, 5120 for push type voip and for broadcasts."
        case .tooManyProviderTokenUpdates: "Use one provider token for 20 minutes or longer."
        case .tooManyRequests: "Wait for the time in Retry-After, and send less often."
        case .internalServerError: "Try again later; see the server's log."
        case .serviceUnavailable: "Try again after the time in Retry-After."
        case .shutdown: "Open a new connection and send again."
        case .featureNotEnabled: "Enable broadcasts for the app: posthorn app set TOPIC --broadcasts on."
        case .missingChannelID: "Add the apns-channel-id header."
        case .badChannelID: "Set apns-channel-id to the ID that was returned when the channel was created."
        case .channelNotRegistered: "Create a new channel; a removed channel cannot be restored."
        case .badRequestParams: "Send only message-storage-policy (0 or 1) and push-type."
        case .badRequestPayload: "Send a body that is one JSON object."
        case .missingPushType: "Set the push type to LiveActivity."
        case .cannotCreateChannelConfig: "Remove channels that are no longer used."
        case .topicMismatch: "Use a key or certificate that can send to the topic in the path."
        }
    }
}
