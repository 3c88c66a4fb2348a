// SPDX-License-Identifier: Apache-2.0

package import PushCurl
package import PushNet

/// The connections to the server that we are enrolled at, shared by its stream and its requests.
package final class ServerSession {
    /// Speaks for the device.
    package let client: ServerClient
    /// Carries everything.
    package let curl: MultiClient
    private let driver: CurlDriver

    /// Connects to nothing yet.
    package init(loop: EventLoop, url: String, caFile: String, secret: String?, access: ServerAccess = ServerAccess()) {
        driver = CurlDriver(loop: loop)
        curl = MultiClient(watcher: driver)
        driver.client = curl
        client = ServerClient(curl, url: url, caFile: caFile, secret: secret, access: access)
    }
}
