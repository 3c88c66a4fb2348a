// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushCurl
internal import PushNet

/// Sends the request of a button that the user chose.
///
/// Each request stands alone: no cookies, no credentials, no certificate of this machine. No redirect is followed, and
/// the response is discarded.
final class ButtonRequestSender {
    private let loop: EventLoop
    private let driver: CurlDriver
    /// The client, created for the first request.
    private lazy var curl = {
        let curl = MultiClient(watcher: driver)
        driver.client = curl
        return curl
    }()
    private let access: ServerAccess
    private let caFile: String?

    /// Creates a sender.
    ///
    /// - Parameters:
    ///   - loop: The loop on whose thread this runs.
    ///   - access: The proxy; the client certificate is not used.
    ///   - caFile: The PEM file of the trusted authorities; nil for those of the operating system.
    init(loop: EventLoop, access: ServerAccess, caFile: String?) {
        self.loop = loop
        driver = CurlDriver(loop: loop)
        self.access = access
        self.caFile = caFile
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - button: The request.
    ///   - completion: Called once with nil if the host answered with a status of success, otherwise with the problem.
    func send(_ button: Payload.ButtonRequest, completion: @escaping (String?) -> Void) {
        loop.startTask { [self] in completion(await problem(of: button)) }
    }

    /// Sends a request; returns nil if it succeeded, otherwise the problem.
    private func problem(of button: Payload.ButtonRequest) async -> String? {
        var request = HTTPRequest(method: button.method, url: button.link.text)
        request.proxy = access.proxy == ServerAccess.noProxy ? "" : access.proxy
        request.caFile = caFile
        request.timeout = Limits.buttonRequestTimeout
        request.answerByteCountMax = Limits.buttonResponseByteCountMax
        request.ignoresBody = true
        request.fields = button.fields.map { ($0.name, $0.value) } + [("user-agent", "posthorn-agent")]
        request.body = Array(button.body.utf8)
        do throws(CurlError) {
            let response = try await curl.response(to: request)
            return (200...299).contains(response.status)
                ? nil : "\(button.link.shownTarget) answered \(response.status)"
        } catch {
            return DisplayText.terminal(error.message, scalarCountMax: 300)
        }
    }
}
