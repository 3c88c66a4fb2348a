// SPDX-License-Identifier: Apache-2.0

internal import PushCurl
internal import PushNet

/// The connections to the server of the enrolment, shared by the stream and the requests.
final class ServerSession {
    /// The client of the device API, with the device's secret.
    let client: ServerClient
    /// The transfers of the stream and of all requests.
    let curl: MultiClient
    private let driver: CurlDriver

    /// Ends the connections; requests that are running fail.
    deinit { curl.abandonConnections() }

    /// Creates a session that does not connect yet.
    convenience init(
        loop: EventLoop, url: String, caFile: String, secret: String?, access: ServerAccess = ServerAccess()
    ) {
        self.init(loop: loop, url: url, trust: ServerTrust(caFile: caFile), secret: secret, access: access)
    }

    /// Creates a session whose trusted authorities may change.
    init(loop: EventLoop, url: String, trust: ServerTrust, secret: String?, access: ServerAccess) {
        driver = CurlDriver(loop: loop)
        curl = MultiClient(watcher: driver)
        driver.client = curl
        client = ServerClient(curl, url: url, trust: trust, secret: secret, access: access)
    }
}
