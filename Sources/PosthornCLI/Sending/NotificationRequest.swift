// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PushCore
internal import PushCurl

/// A notification as an HTTP request of a provider.
struct NotificationRequest: Sendable {
    /// The base URL, for example `https://push.example.org:2197`.
    let server: String
    /// The file with the trusted CA certificate; nil for the system's trust store.
    let caFile: String?
    let destination: SendDestination
    let topic: String
    /// The header fields.
    let fields: [(String, String)]
    let payload: [UInt8]

    /// Builds the request from the options and the values that the caller looked up.
    ///
    /// - Parameters:
    ///   - options: The options of `posthorn send`.
    ///   - server: The server's URL or `HOST:PORT`.
    ///   - caFile: The file with the trusted CA certificate; nil for the system's trust store.
    ///   - providerToken: The signed provider token.
    ///   - now: The current time.
    /// - Throws: An error when an option is missing or invalid.
    init(
        _ options: SendOptions, server: String, caFile: String?, providerToken: String, now: Timestamp
    ) throws(CommandError) {
        self.server = Self.normalized(server)
        self.caFile = caFile
        destination = try SendDestination(options)
        topic = try options.required("topic")
        let optional = try destination.fields(options, topic: topic, now: now)
        fields = [("authorization", "bearer \(providerToken)")] + optional
        payload = try options.payload()
    }

    /// The request in the form that `HTTPClient` sends.
    var httpRequest: HTTPRequest {
        var request = HTTPRequest(method: "POST", url: server + destination.path(topic: topic))
        request.fields = fields
        request.body = payload
        request.caFile = caFile
        request.requiresHTTP2 = true
        return request
    }

    /// Returns whether a server from the command line is the server on this machine, by its name or as `localhost`.
    static func isSame(_ server: String, as local: String) -> Bool {
        guard let url = URL(string: normalized(server)), let localURL = URL(string: local),
            let host = url.host()?.lowercased(), url.port ?? 443 == localURL.port ?? 443
        else { return false }
        return ["localhost", "127.0.0.1", "::1", "[::1]", localURL.host()?.lowercased()].contains(host)
    }

    /// Adds a missing `https://` and removes a trailing slash.
    private static func normalized(_ server: String) -> String {
        let url = server.contains("://") ? server : "https://\(server)"
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }
}
