// SPDX-License-Identifier: Apache-2.0

/// The explanations of the rejection reasons in Markdown; docs/reference/errors.md is generated from them.
extension RejectionReason {
    /// The meaning of the reason, as one sentence.
    package var meaning: String {
        switch self {
        case .badCollapseID:
            "`apns-collapse-id` is longer than \(Limits.collapseIDByteCountMax) bytes, or starts or ends with a space or tab."
        case .badDeviceToken: "The device token is not valid for this server and environment."
        case .badExpirationDate: "`apns-expiration` is not a whole number of seconds, or the channel does not allow it."
        case .badMessageID: "`apns-id` or `apns-request-id` is not a UUID with hyphens."
        case .badPriority: "`apns-priority` is not 10, 5 or 1."
        case .badTopic: "`apns-topic` is not a valid topic, or lacks the suffix that the push type requires."
        case .deviceTokenNotForTopic: "The device token belongs to another app."
        case .duplicateHeaders: "A header field that the server reads occurs twice."
        case .idleTimeout:
            "The request was not completed in time. In GOAWAY: the connection was idle for too long."
        case .invalidPushType: "`apns-push-type` is unknown, or not allowed for this request."
        case .missingDeviceToken: "The path does not contain a device token."
        case .missingTopic: "The request has no topic, and the sender has no default topic."
        case .payloadEmpty: "The payload is empty, or not one JSON object."
        case .topicDisallowed: "The app does not exist, or the sender is not allowed to send to it."
        case .badCertificate: "The client certificate is not trusted."
        case .badCertificateEnvironment: "The client certificate was issued for the other environment."
        case .expiredProviderToken:
            "The provider token was signed more than an hour ago, or more than an hour in the future."
        case .forbidden: "The signing key was revoked after the server accepted this provider token."
        case .invalidProviderToken: "The provider token is not signed by a key that this server knows and trusts."
        case .missingProviderToken: "The request has neither a provider token nor a client certificate."
        case .unrelatedKeyIDInToken: "The connection was authenticated with a signing key for other topics."
        case .badEnvironmentKeyInToken: "The signing key is for the other environment."
        case .badPath: "The path does not exist."
        case .methodNotAllowed: "The path does not support the method."
        case .expiredToken: "The device has not connected for longer than `token_life_days`."
        case .unregistered: "The app on this device is no longer registered."
        case .payloadTooLarge: "The payload is larger than its push type allows."
        case .tooManyProviderTokenUpdates: "The connection used too many new provider tokens within 20 minutes."
        case .tooManyRequests: "A rate limit or quota is exceeded."
        case .internalServerError: "The server failed to process the request."
        case .serviceUnavailable:
            "The server is overloaded or cannot store notifications. A connected device may still have received the "
                + "notification; another one with the same collapse ID replaces it."
        case .shutdown: "The server is shutting down. This reason occurs in GOAWAY only."
        case .featureNotEnabled: "Broadcasts are off for the app."
        case .missingChannelID: "`apns-channel-id` is missing."
        case .badChannelID:
            "`apns-channel-id` is not valid base64, or longer than \(Limits.channelIDByteCountMax) bytes."
        case .channelNotRegistered: "The app has no such channel in this environment."
        case .badRequestParams:
            "The body for a new channel has a member that is unknown, missing, duplicate or out of range."
        case .badRequestPayload: "The body for a new channel is not a JSON object."
        case .missingPushType: "A broadcast lacks `apns-push-type`, or a new channel lacks `push-type`."
        case .cannotCreateChannelConfig:
            "The app already has \(Limits.channelPerAppCountMax) channels in this environment."
        case .topicMismatch: "The sender is not allowed to manage the topic in the path."
        }
    }

    /// The usual causes, most likely first; nil if the meaning already states them.
    var causes: String? {
        switch self {
        case .badPriority, .duplicateHeaders, .idleTimeout, .missingDeviceToken, .badCertificateEnvironment, .forbidden,
            .unrelatedKeyIDInToken, .internalServerError, .shutdown, .featureNotEnabled,
            .missingChannelID, .badRequestParams, .badRequestPayload, .missingPushType, .cannotCreateChannelConfig:
            nil
        case .badCollapseID:
            "The ID contains free text: use a hash of it. Characters outside ASCII have two or more bytes."
        case .badDeviceToken:
            "It is from Apple or another server, or from the other environment. It was truncated, contains spaces, or "
                + "was stored as base64."
        case .badExpirationDate:
            "A fraction, a date as text or a negative number. A broadcast without it, or with a value other than 0 on "
                + "a channel that stores nothing."
        case .badMessageID: "A database key, or a UUID without hyphens. Without the field, the server generates an ID."
        case .badTopic:
            "The push type requires a suffix, for example `.voip`, and the topic has none. The topic contains spaces."
        case .deviceTokenNotForTopic:
            "The back-end mixes up the tokens of several apps: store the topic with each token."
        case .invalidPushType: "A spelling mistake. A client certificate with `location` or `liveactivity`."
        case .missingTopic: "Only a certificate for a single topic has a default topic."
        case .payloadEmpty:
            "A missing quotation mark or comma; a compressed body; an array or a string. The app's payload checks are "
                + "`strict` and found an error."
        case .topicDisallowed:
            "`posthorn app add` was not run for the topic. The app belongs to another team. The key or certificate is "
                + "for other topics. The path of a broadcast has the suffix of a push type."
        case .badCertificate:
            "It is from Apple, expired or revoked. Its CA is neither the server's own nor in `client_ca_files`. It "
                + "contains no topic."
        case .expiredProviderToken:
            "The token was used for too long. One of the two clocks is wrong: `posthorn-detail` and the server's log show the difference."
        case .invalidProviderToken:
            "The key ID and team ID are those of an Apple key. The `.p8` file is that of another key. The key was "
                + "revoked. The connection was authenticated with a key of another team."
        case .missingProviderToken: "`authorization` does not start with `bearer`. The client sent no certificate."
        case .badEnvironmentKeyInToken: "The client connects to the port or server name of the wrong environment."
        case .badPath: "The path continues after the device token. Channels are managed on another port."
        case .methodNotAllowed: "A browser or a health check sends GET."
        case .expiredToken: "The machine is no longer used. If it reconnects, the app gets a new token."
        case .unregistered:
            "The app was unregistered, or registered for the other environment. The device left the server or was "
                + "removed. The app was removed from the server."
        case .payloadTooLarge: "The payload contains data: send an ID, and let the app fetch the data."
        case .tooManyProviderTokenUpdates:
            "Each notification is sent with a newly signed token, or several processes with their own tokens share a "
                + "proxy's connection."
        case .tooManyRequests:
            "A loop sends without pauses. Many notifications go to one device although one with a collapse ID "
                + "would be enough. "
                + "The detail names the limit; `posthorn quota list` shows all limits."
        case .serviceUnavailable: "The disk is full or defective, or the server is overloaded."
        case .badChannelID: "The value was percent-encoded."
        case .channelNotRegistered: "It was removed, or belongs to the other environment. Broadcasts were turned off."
        case .topicMismatch:
            "The app does not exist, belongs to another team, or is not among the topics of the key or certificate."
        }
    }
}
