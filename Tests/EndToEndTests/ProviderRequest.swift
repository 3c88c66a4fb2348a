// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A provider's request, which is valid until a test changes something.
struct ProviderRequest: Sendable {
    var method = "POST"
    var path: String
    /// The `apns-*` and `authorization` fields in order, in which a name may appear twice.
    var fields: [[String]]
    var body: String? = #"{"aps":{"alert":"Hello"}}"#

    init(token: String, topic: String, providerToken: String) {
        path = "/3/device/\(token)"
        fields = [
            ["authorization", "bearer \(providerToken)"], ["apns-topic", topic], ["apns-push-type", "alert"],
            ["apns-id", "9d5a1e0c-4f7b-4c39-8b1a-0e6c2f7d3a55"],
        ]
    }

    /// Returns the value of a field that a test set.
    func field(_ name: String) -> String? { fields.first { $0[0] == name }?[1] }

    /// Returns the request with another value for a field, or without the field.
    func with(_ name: String, _ value: String?) -> ProviderRequest {
        var changed = self
        changed.fields.removeAll { $0[0] == name }
        if let value { changed.fields.append([name, value]) }
        return changed
    }

    /// Returns the request with an additional field, even if the name exists already.
    func adding(_ name: String, _ value: String) -> ProviderRequest {
        var changed = self
        changed.fields.append([name, value])
        return changed
    }

    /// Returns the request with another path.
    func at(_ path: String) -> ProviderRequest {
        var changed = self
        changed.path = path
        return changed
    }

    /// Returns the request with another method.
    func by(_ method: String) -> ProviderRequest {
        var changed = self
        changed.method = method
        return changed
    }

    /// Returns the request with another body.
    func sending(_ body: String?) -> ProviderRequest {
        var changed = self
        changed.body = body
        return changed
    }

    /// All fields as they are sent.
    var allFields: [[String]] {
        [[":method", method], [":scheme", "https"], [":authority", "api.push.example"], [":path", path]] + fields
    }
}

extension HTTP2Client {
    /// Sends a request and waits for its answer.
    func send(_ request: ProviderRequest) async throws -> HTTP2Response {
        try await self.request(request.allFields, body: request.body)
    }
}

/// Returns a payload of exactly this size.
func payload(byteCount: Int) -> String {
    let frame = #"{"aps":{"alert":""}}"#
    let text = String(repeating: "x", count: byteCount - frame.utf8.count)
    return #"{"aps":{"alert":"\#(text)"}}"#
}
