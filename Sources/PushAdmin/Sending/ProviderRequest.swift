// SPDX-License-Identifier: Apache-2.0

package import PushCurl

/// A notification as a provider sends it.
package struct ProviderRequest: Sendable {
    /// For example `https://push.example.org:2197`.
    package let server: String
    /// The authority to trust; nil for the system's.
    package let caFile: String?
    /// Whom it is for.
    package let destination: SendDestination
    /// The app's topic.
    package let topic: String
    /// Names and values.
    package let fields: [(String, String)]
    /// The payload.
    package let payload: [UInt8]

    /// Takes everything from the options but what must be looked up.
    ///
    /// - Parameters:
    ///   - options: What was told.
    ///   - server: Where to send.
    ///   - caFile: The authority to trust; nil for the system's.
    ///   - providerToken: The signed token.
    ///   - nowUnixSeconds: Now.
    /// - Throws: When an option is missing or makes no sense.
    package init(
        _ options: SendOptions, server: String, caFile: String?, providerToken: String, nowUnixSeconds: Int64
    ) throws(CommandError) {
        self.server = Self.normalized(server)
        self.caFile = caFile
        destination = try SendDestination(options)
        topic = try options.required("topic")
        let optional = try destination.fields(options, topic: topic, nowUnixSeconds: nowUnixSeconds)
        fields = [("authorization", "bearer \(providerToken)")] + optional
        payload = try options.payload()
    }

    /// The same for libcurl.
    package var httpRequest: HTTPRequest {
        var request = HTTPRequest(method: "POST", url: server + destination.path(topic: topic))
        request.fields = fields
        request.body = payload
        request.caFile = caFile
        request.requiresHTTP2 = true
        return request
    }

    /// A URL with its scheme and without a slash at the end.
    private static func normalized(_ server: String) -> String {
        let url = server.contains("://") ? server : "https://\(server)"
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }
}
