// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushTLS

extension EndpointCase {
    /// The cases of requests to send a notification that need no TLS and only one request.
    static let notifications = paths + providerTokens + headers + suffixedTopics + payloads + deviceTokens

    private static let paths = [
        EndpointCase(id: "P-01", method: "GET", path: "/", without: ["authorization"], body: []),
        EndpointCase(id: "P-02", method: "GET", body: []),
        EndpointCase(id: "P-03", method: "PUT"),
        EndpointCase(id: "P-04", method: "DELETE", body: []),
        EndpointCase(id: "P-06", method: "PATCH"),
        EndpointCase(id: "P-07", path: "/"),
        EndpointCase(id: "P-08", path: "/3/devices/{token}"),
        EndpointCase(id: "P-09", path: "/2/device/{token}"),
        EndpointCase(id: "P-10", path: "/3/device/"),
        EndpointCase(id: "P-11", path: "/3/device"),
        EndpointCase(id: "P-12", path: "/3/device/{token}/x"),
        EndpointCase(id: "P-13", path: "/3/device/{token}?x=1"),
        EndpointCase(id: "P-14", path: "/3/DEVICE/{token}"),
        EndpointCase(id: "P-15", method: "GET", path: "/nothing/here", body: []),
    ]

    private static let providerTokens = [
        EndpointCase(id: "A-01", without: ["authorization"]),
        EndpointCase(id: "A-02", authorization: { _ in "bearer" }),
        EndpointCase(id: "A-03", authorization: { _ in "basic YTpi" }),
        EndpointCase(id: "A-04", authorization: { try "Bearer" + $0.main.authorization().dropFirst(6) }),
        EndpointCase(id: "A-05", authorization: { _ in "bearer abc" }),
        EndpointCase(id: "A-06", authorization: { try brokenSignature($0.main.authorization()) }),
        EndpointCase(id: "A-07", authorization: { try $0.main.authorization(signer: PrivateKey()) }),
        EndpointCase(id: "A-08", authorization: { try $0.main.authorization(["kid": "\"ZZZZZZZZZZ\""]) }),
        EndpointCase(id: "A-09", authorization: { try $0.main.authorization(without: "kid") }),
        EndpointCase(id: "A-10", authorization: { try $0.main.authorization(["iss": "\"ZZZZZZZZZZ\""]) }),
        EndpointCase(id: "A-11", authorization: { try $0.main.authorization(without: "iss") }),
        EndpointCase(id: "A-12", authorization: { try $0.main.authorization(without: "iat") }),
        EndpointCase(id: "A-13", authorization: { try $0.main.authorization(age: 3700) }),
        EndpointCase(id: "A-14", authorization: { try $0.main.authorization(age: 3300) }),
        EndpointCase(id: "A-15", authorization: { try $0.main.authorization(age: -60) }),
        EndpointCase(id: "A-16", authorization: { try $0.main.authorization(age: -7200) }),
        EndpointCase(id: "A-17", authorization: { try $0.main.authorization(["iat": "\"\(now)\""]) }),
        EndpointCase(id: "A-18", authorization: { try $0.main.authorization(["iat": "\(now).5"]) }),
        EndpointCase(id: "A-24", authorization: { try $0.main.authorization(["alg": "\"none\""]) }),
        EndpointCase(id: "A-32", authorization: { try $0["DEVELOPKEY"].authorization() }),
        EndpointCase(
            id: "A-33", token: { $0.otherToken }, authorization: { try $0["TOPICKEY01"].authorization() },
            fields: ["apns-topic": ProviderObjects.otherTopic]),
        EndpointCase(id: "A-34", authorization: { try $0["REVOKEDKEY"].authorization() }),
        EndpointCase(id: "A-35", token: { _ in unknownToken }, without: ["authorization"]),
        EndpointCase(
            id: "A-36", token: { _ in unknownToken }, authorization: { try $0.main.authorization(age: 7200) }),
    ]

    private static let headers = [
        EndpointCase(id: "H-01", without: ["apns-topic"]),
        EndpointCase(id: "H-02", fields: ["apns-topic": ""]),
        EndpointCase(id: "H-03", fields: ["apns-topic": "com example!"]),
        EndpointCase(id: "H-04", fields: ["apns-topic": "com.example.unknown"]),
        EndpointCase(id: "H-05", fields: ["apns-topic": ProviderObjects.otherTopic]),
        EndpointCase(id: "H-06", without: ["apns-push-type"]),
        EndpointCase(id: "H-07", fields: ["apns-push-type": "bogus"]),
        EndpointCase(id: "H-08", fields: ["apns-push-type": "ALERT"]),
        EndpointCase(id: "H-09", fields: ["apns-push-type": "background", "apns-priority": "5"], body: wakeUp),
        EndpointCase(id: "H-10", fields: ["apns-push-type": "background", "apns-priority": "10"], body: wakeUp),
        EndpointCase(id: "H-11", fields: ["apns-push-type": "background"], body: wakeUp),
        EndpointCase(id: "H-20", fields: ["apns-push-type": "voip"]),
        EndpointCase(
            id: "H-21",
            fields: [
                "apns-push-type": "mdm", "apns-topic": "com.apple.mgmt.External.00000000-0000-0000-0000-000000000000",
            ], body: Array(#"{"mdm":"magic"}"#.utf8)),
        EndpointCase(id: "H-22", fields: ["apns-priority": "1"]),
        EndpointCase(id: "H-23", fields: ["apns-priority": "5"]),
        EndpointCase(id: "H-24", fields: ["apns-priority": "10"]),
        EndpointCase(id: "H-25", fields: ["apns-priority": "7"]),
        EndpointCase(id: "H-26", fields: ["apns-priority": "0"]),
        EndpointCase(id: "H-27", fields: ["apns-priority": "high"]),
        EndpointCase(id: "H-28", fields: ["apns-priority": "10.0"]),
        EndpointCase(id: "H-29", fields: ["apns-expiration": "0"]),
        EndpointCase(id: "H-30", fields: ["apns-expiration": "\(now + 3600)"]),
        EndpointCase(id: "H-31", fields: ["apns-expiration": "1000000000"]),
        EndpointCase(id: "H-32", fields: ["apns-expiration": "soon"]),
        EndpointCase(id: "H-33", fields: ["apns-expiration": "-1"]),
        EndpointCase(id: "H-34", fields: ["apns-expiration": "1.5"]),
        EndpointCase(id: "H-35", fields: ["apns-expiration": "\(now + 31 * 86_400)"]),
        EndpointCase(id: "H-36", fields: ["apns-expiration": "\(now * 1000)"]),
        EndpointCase(id: "H-37", fields: ["apns-collapse-id": String(repeating: "c", count: 64)]),
        EndpointCase(id: "H-38", fields: ["apns-collapse-id": String(repeating: "c", count: 65)]),
        EndpointCase(id: "H-39", fields: ["apns-collapse-id": String(repeating: "\u{E9}", count: 33)]),
        EndpointCase(id: "H-40", fields: ["apns-collapse-id": ""]),
        EndpointCase(id: "H-41", fields: ["apns-id": "not-a-uuid"]),
        EndpointCase(id: "H-42", fields: ["apns-id": "123e4567e89b12d3a4564266554400a0"]),
        EndpointCase(id: "H-43", fields: ["apns-id": "123e4567-e89b-12d3-a456-42665544g0a0"]),
        EndpointCase(id: "H-47", extra: [("apns-topic", ProviderObjects.topic)]),
        EndpointCase(id: "H-48", extra: [("apns-id", UUID().uuidString), ("apns-id", UUID().uuidString)]),
        EndpointCase(id: "H-49", extra: [("apns-priority", "10"), ("apns-priority", "10")]),
        EndpointCase(id: "H-50", extra: [("authorization", "bearer abc")]),
        EndpointCase(id: "H-51", extra: [("x-a", "1"), ("x-a", "2")]),
    ]

    private static let suffixedTopics = [
        ("voip", ".voip", #"{"aps":{"alert":"Hello"}}"#), ("complication", ".complication", #"{"aps":{}}"#),
        ("fileprovider", ".pushkit.fileprovider", #"{"container-identifier":"root","domain":"d"}"#),
        ("location", ".location-query", #"{"aps":{}}"#), ("pushtotalk", ".voip-ptt", #"{"aps":{}}"#),
        ("liveactivity", ".push-type.liveactivity", #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#),
        ("controls", ".push-type.controls", #"{"aps":{"content-changed":true}}"#),
        ("widgets", ".push-type.widgets", #"{"aps":{"content-changed":true}}"#),
    ].enumerated().map { index, sample in
        EndpointCase(
            id: "H-\(12 + index)",
            fields: ["apns-push-type": sample.0, "apns-topic": ProviderObjects.topic + sample.1],
            body: Array(sample.2.utf8))
    }

    private static let payloads = [
        EndpointCase(id: "B-01", body: []),
        EndpointCase(id: "B-02", body: Array("{}".utf8)),
        EndpointCase(id: "B-03", body: Array("hello".utf8)),
        EndpointCase(id: "B-04", body: Array("[1]".utf8)),
        EndpointCase(id: "B-05", body: Array(#"{"acme":1}"#.utf8)),
        EndpointCase(id: "B-06", body: payload(byteCount: 4096)),
        EndpointCase(id: "B-07", body: payload(byteCount: 4097)),
        EndpointCase(id: "B-08", body: payload(byteCount: 100_000)),
        EndpointCase(id: "B-09", body: payload(byteCount: 4096, #"{"alert":"é€😀"}"#)),
        EndpointCase(id: "B-10", fields: voip, body: payload(byteCount: 5120)),
        EndpointCase(id: "B-11", fields: voip, body: payload(byteCount: 5121)),
        EndpointCase(
            id: "B-12",
            fields: [
                "apns-push-type": "liveactivity", "apns-topic": ProviderObjects.topic + ".push-type.liveactivity",
            ], body: payload(byteCount: 4097, #"{"event":"update","timestamp":1,"content-state":{}}"#)),
        EndpointCase(
            id: "B-28", extra: [("content-encoding", "gzip")], body: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]),
        EndpointCase(id: "B-29", token: { _ in unknownToken }, body: payload(byteCount: 5000)),
        EndpointCase(id: "B-30", token: { _ in unknownToken }, body: []),
    ]

    private static let deviceTokens = [
        EndpointCase(id: "D-01", token: { _ in unknownToken }),
        EndpointCase(id: "D-02", token: { _ in String(repeating: "z", count: 64) }),
        EndpointCase(id: "D-03", token: { _ in String(repeating: "a", count: 63) }),
        EndpointCase(id: "D-04", token: { _ in "abcd" }),
        EndpointCase(id: "D-05", token: { _ in String(repeating: "ab", count: 100) }),
        EndpointCase(id: "D-06", token: { $0.token.uppercased() }),
        EndpointCase(id: "D-07", token: { $0.token.dropLast() + ($0.token.hasSuffix("0") ? "1" : "0") }),
        EndpointCase(id: "D-10", token: { $0.developmentToken }),
    ]

    private static var now: Int { Int(Date().timeIntervalSince1970) }

    private static let wakeUp = Array(#"{"aps":{"content-available":1}}"#.utf8)

    private static let voip = ["apns-push-type": "voip", "apns-topic": ProviderObjects.topic + ".voip"]

    /// A text of 64 hexadecimal digits that no server created.
    private static let unknownToken = String(repeating: "deadbeef", count: 8)

    static func payload(byteCount: Int, _ aps: String = #"{"alert":"x"}"#) -> [UInt8] {
        let head = Array(#"{"aps":\#(aps),"pad":""#.utf8)
        return head + Array(repeating: UInt8(ascii: "p"), count: byteCount - head.count - 2) + Array("\"}".utf8)
    }

    /// Reverses the signature of a provider token.
    private static func brokenSignature(_ authorization: String) -> String {
        let parts = authorization.split(separator: ".")
        return "\(parts[0]).\(parts[1]).\(String(parts[2].reversed()))"
    }
}
