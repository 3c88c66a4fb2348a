// SPDX-License-Identifier: Apache-2.0

import Foundation

extension EndpointCase {
    /// The cases of channel management whose answer needs no channel.
    static let channels = [
        channel("M-04", Array(#"{"message-storage-policy":2,"push-type":"LiveActivity"}"#.utf8)),
        channel("M-05", Array(#"{"message-storage-policy":1,"push-type":"LiveActivity","acme":1}"#.utf8)),
        channel("M-06", Array("{nope".utf8)),
        channel("M-07", Array(#"{"message-storage-policy":1}"#.utf8)),
        channel("M-08", Array(#"{"message-storage-policy":1,"push-type":"alert"}"#.utf8)),
        channel("M-09", []),
        channel("M-10", creation) { $0.without = ["authorization"] },
        channel("M-11", creation, topic: ProviderObjects.otherTeamTopic),
        channel("M-12", creation, topic: ProviderObjects.topic + ".push-type.liveactivity"),
        channel("M-13", creation, topic: ProviderObjects.silentTopic),
        channel("M-15", []) { $0.method = "GET" },
        channel("M-16", []) { ($0.method, $0.fields) = ("GET", ["apns-channel-id": "!!!"]) },
        channel("M-19", []) { $0.method = "DELETE" },
        channel("M-21", Array("{}".utf8)) { $0.method = "PUT" },
        channel("M-22", []) { ($0.method, $0.path) = ("GET", "/1/apps/\(ProviderObjects.topic)/nothing") },
    ]

    /// The cases of broadcasts whose answer needs no stored channel.
    static let broadcasts = [
        broadcast("X-02") { $0.without = ["apns-channel-id"] },
        broadcast("X-04") { $0.fields["apns-channel-id"] = "!!!" },
        broadcast("X-05") { $0.without = ["apns-push-type"] },
        broadcast("X-06") { $0.fields["apns-push-type"] = "alert" },
        broadcast("X-09") { $0.fields["apns-expiration"] = "\(Int(Date().timeIntervalSince1970) + 600)" },
        broadcast("X-10") { $0.without = ["apns-expiration"] },
        broadcast("X-11") { $0.without = ["apns-priority"] },
        broadcast("X-12") { $0.fields["apns-priority"] = "7" },
        broadcast("X-13") { $0.body = payload(byteCount: 5120, content) },
        broadcast("X-14") { $0.body = payload(byteCount: 5121, content) },
        broadcast("X-15") { $0.body = [] },
        broadcast("X-16") { $0.path = path(ProviderObjects.topic + ".push-type.liveactivity") },
        broadcast("X-18") { $0.path = path(ProviderObjects.otherTeamTopic) },
    ]

    private static let creation = Array(#"{"message-storage-policy":1,"push-type":"LiveActivity"}"#.utf8)

    private static let content = #"{"timestamp":1,"event":"update","content-state":{}}"#

    private static func channel(
        _ id: String, _ body: [UInt8], topic: String = ProviderObjects.topic,
        _ change: (inout EndpointCase) -> Void = { _ in }
    ) -> EndpointCase {
        var one = EndpointCase(id: id, path: "/1/apps/\(topic)/channels", body: body, isForChannels: true)
        change(&one)
        return one
    }

    /// Returns a broadcast to a channel whose policy permits stored broadcasts.
    private static func broadcast(_ id: String, _ change: (inout EndpointCase) -> Void) -> EndpointCase {
        var one = EndpointCase(
            id: id, path: path(ProviderObjects.topic),
            fields: [
                "apns-push-type": "liveactivity", "apns-expiration": "0", "apns-priority": "10",
                "apns-channel-id": "AAECAwQFBgcICQoLDA0ODw==",
            ], body: Array(#"{"aps":\#(content)}"#.utf8))
        change(&one)
        return one
    }

    private static func path(_ topic: String) -> String { "/4/broadcasts/apps/\(topic)" }
}
