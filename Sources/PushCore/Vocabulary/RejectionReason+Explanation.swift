// SPDX-License-Identifier: Apache-2.0

/// What a person who meets a rejection reason wants to read; docs/reference/errors.md is made from it, so it is Markdown.
extension RejectionReason {
    /// What it says: one sentence.
    package var meaning: String {
        switch self {
        case .badCollapseID: "`apns-collapse-id` is longer than \(Limits.collapseIDByteCountMax) bytes."
        case .badDeviceToken: "The device token is none of this server and environment."
        case .badExpirationDate: "`apns-expiration` is no whole number of seconds, or not what the channel allows."
        case .badMessageID: "`apns-id` or `apns-request-id` is no UUID with its hyphens."
        case .badPriority: "`apns-priority` is neither 10 nor 5 nor 1."
        case .badTopic: "`apns-topic` is no topic, or does not end as its push type asks."
        case .deviceTokenNotForTopic: "The device token is another app's."
        case .duplicateHeaders: "One of the fields that the server reads came twice."
        case .idleTimeout:
            "The request did not come whole in time; in GOAWAY: nothing came on the connection for a while."
        case .invalidPushType: "`apns-push-type` is unknown, or not for this request."
        case .missingDeviceToken: "The path ends where the device token should be."
        case .missingTopic: "The request names no topic, and its sender has no default."
        case .payloadEmpty: "The payload is empty, or not one JSON object."
        case .topicDisallowed: "There is no such app here, or the sender may not send to it."
        case .badCertificate: "The client certificate is not to be believed."
        case .badCertificateEnvironment: "The client certificate was issued for the other environment."
        case .expiredProviderToken: "The provider token was signed more than an hour ago, or more than an hour ahead."
        case .forbidden: "The signing key was revoked after the server had accepted this provider token."
        case .invalidProviderToken: "The provider token is not signed by a key that this server knows and trusts."
        case .missingProviderToken: "The request has neither a provider token nor a client certificate."
        case .unrelatedKeyIDInToken: "The connection began with a signing key for other topics."
        case .badEnvironmentKeyInToken: "The signing key was made for the other environment."
        case .badPath: "There is nothing under this path."
        case .methodNotAllowed: "The method is not one that the path takes."
        case .expiredToken: "The device has been away for longer than `token_life_days`."
        case .unregistered: "The app on this device does not want notifications any more."
        case .payloadTooLarge: "The payload has more bytes than its kind may have."
        case .tooManyProviderTokenUpdates: "The connection brought too many new provider tokens within 20 minutes."
        case .tooManyRequests: "A rate or a quota is used up."
        case .internalServerError: "The server could not do what it should."
        case .serviceUnavailable:
            "The server cannot take more now. A connected device may have got the notification all the same: a second one "
                + "with its collapse id takes its place."
        case .shutdown: "The server is ending; a reason of GOAWAY, not of an answer."
        case .featureNotEnabled: "The app has no broadcasts."
        case .missingChannelID: "`apns-channel-id` is missing."
        case .badChannelID: "`apns-channel-id` is no base64, or longer than \(Limits.channelIDByteCountMax) bytes."
        case .channelNotRegistered: "The app has no such channel in this environment."
        case .badRequestParams: "A new channel's body has a member that is unknown, missing, twice or out of range."
        case .badRequestPayload: "A new channel's body is no JSON object."
        case .missingPushType: "A broadcast has no `apns-push-type`, or a new channel no `push-type`."
        case .cannotCreateChannelConfig: "The app has \(Limits.channelPerAppCountMax) channels in this environment."
        case .topicMismatch: "The topic in the path is not one that the sender may manage."
        }
    }

    /// What usually lies behind it, likeliest first; nil where the meaning says it all.
    package var causes: String? {
        switch self {
        case .badPriority, .duplicateHeaders, .idleTimeout, .missingDeviceToken, .badCertificateEnvironment, .forbidden,
            .unrelatedKeyIDInToken, .internalServerError, .shutdown, .featureNotEnabled,
            .missingChannelID, .badRequestParams, .badRequestPayload, .missingPushType, .cannotCreateChannelConfig:
            nil
        case .badCollapseID: "The id holds text of people's: hash it. Letters beyond ASCII count twice or more."
        case .badDeviceToken:
            "It is Apple's or another server's; of the other environment; cut, or with blanks; stored as base64."
        case .badExpirationDate:
            "A fraction, a date as text or a negative number. A broadcast without it, or with another one than 0 on a "
                + "channel that stores nothing."
        case .badMessageID: "A database key, or a UUID without hyphens. Without the field the server makes an id."
        case .badTopic: "A push type with a suffix, for example `.voip`, and the bare topic. Blanks in the topic."
        case .deviceTokenNotForTopic: "A back-end for several apps mixes their tokens: keep the topic beside each."
        case .invalidPushType: "A misspelt word. A client certificate with `location` or `liveactivity`."
        case .missingTopic: "Only a certificate for a single topic has a default."
        case .payloadEmpty:
            "A missing quotation mark or comma; a compressed body; an array or a text. The app's payload checks are "
                + "`strict` and found a fault."
        case .topicDisallowed:
            "`posthorn app add` was not run for the topic; the app is another team's; the key or certificate is for "
                + "other topics. A broadcast's path with a push type's suffix."
        case .badCertificate:
            "It is Apple's; it has expired or was revoked; its authority is neither the server's own nor in "
                + "`client_ca_files`; it names no topic."
        case .expiredProviderToken:
            "The token is kept for too long. One of the two clocks is wrong: the log says by how much they differ."
        case .invalidProviderToken:
            "Key id and team id are those of Apple's key; the `.p8` file is another key's; the key was revoked; the "
                + "connection began with another team's key."
        case .missingProviderToken: "`authorization` does not begin with `bearer`; the client sent no certificate."
        case .badEnvironmentKeyInToken: "The client connects to the port or the name of the wrong environment."
        case .badPath: "Something stands behind the device token; channels are managed on another port."
        case .methodNotAllowed: "A browser or a health check asks with GET."
        case .expiredToken: "The machine was given up. When it comes back, the app gets a new token."
        case .unregistered:
            "The app was unregistered or registered for the other environment; the device left or was removed; the app "
                + "was removed from the server."
        case .payloadTooLarge: "Data travels in the payload: send an id, and let the app fetch the rest."
        case .tooManyProviderTokenUpdates:
            "A token is signed for each notification, or processes that share a proxy's connection sign their own."
        case .tooManyRequests:
            "A loop that sends without pause; many notifications to one device where one with a collapse id would do. The "
                + "detail names the limit; `posthorn quota list` shows all."
        case .serviceUnavailable: "The disk is full or broken, or more arrives than it can keep up with."
        case .badChannelID: "It was percent-encoded."
        case .channelNotRegistered: "It was removed or belongs to the other environment; broadcasts were switched off."
        case .topicMismatch:
            "The app does not exist, is another team's, or is not among the topics of the key or certificate."
        }
    }
}
