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
    init(loop: EventLoop, url: String, caFile: String, secret: String?, access: ServerAccess = ServerAccess()) {
        driver = CurlDriver(loop: loop)
        curl = MultiClient(watcher: driver)
        driver.client = curl
        client = ServerClient(curl, url: url, caFile: caFile, secret: secret, access: access)
    }
}
