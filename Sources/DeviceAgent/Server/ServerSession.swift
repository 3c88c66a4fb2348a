// SPDX-License-Identifier: Apache-2.0

package import PushCurl
package import PushNet

/// The connections to the server of the enrolment, shared by the stream and the requests.
package final class ServerSession {
    /// The client of the device API, with the device's secret.
    package let client: ServerClient
    /// The transfers of the stream and of all requests.
    package let curl: MultiClient
    private let driver: CurlDriver

    /// Creates a session that does not connect yet.
    package init(loop: EventLoop, url: String, caFile: String, secret: String?, access: ServerAccess = ServerAccess()) {
        driver = CurlDriver(loop: loop)
        curl = MultiClient(watcher: driver)
        driver.client = curl
        client = ServerClient(curl, url: url, caFile: caFile, secret: secret, access: access)
    }
}
