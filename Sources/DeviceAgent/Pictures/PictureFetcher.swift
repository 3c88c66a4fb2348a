// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore
internal import PushCurl
internal import PushNet

/// Fetches pictures over https from the hosts that an app names.
///
/// Each request stands alone: no cookies, no credentials, no certificate of this machine. A redirect is followed only
/// to another address of a named host.
final class PictureFetcher {
    private let driver: CurlDriver
    /// The client, created for the first picture.
    private lazy var curl = {
        let curl = MultiClient(watcher: driver)
        driver.client = curl
        return curl
    }()
    private let access: ServerAccess
    private let caFile: String?

    /// Creates a fetcher.
    ///
    /// - Parameters:
    ///   - loop: The loop on whose thread this runs.
    ///   - access: The proxy; the client certificate is not used.
    ///   - caFile: The PEM file of the trusted authorities; nil for those of the operating system.
    init(loop: EventLoop, access: ServerAccess, caFile: String?) {
        driver = CurlDriver(loop: loop)
        self.access = access
        self.caFile = caFile
    }

    /// Fetches a picture.
    ///
    /// - Parameters:
    ///   - link: The address.
    ///   - hosts: The hosts that the app names.
    ///   - deadline: The time at which the last request must be complete.
    /// - Returns: At most `Limits.pictureByteCountMax` bytes.
    /// - Throws: The reason why there is no picture.
    func fetch(
        _ link: NotificationLink, from hosts: [PictureHost], by deadline: PictureDeadline
    ) async throws(PictureFailure) -> [UInt8] {
        var link = link
        for _ in 0...Limits.pictureRedirectCountMax {
            guard hosts.contains(where: { $0.matches(link) }) else {
                throw .hostNotNamed(link.shownTarget)
            }
            let response = try await response(to: link, by: deadline)
            switch response.status {
            case 200: return response.body
            case 301, 302, 303, 307, 308: link = try Self.target(of: response, from: link)
            default: throw PictureFailure("the host answered \(response.status)")
            }
        }
        throw PictureFailure("the host redirects more than \(Limits.pictureRedirectCountMax) times")
    }

    private func response(
        to link: NotificationLink, by deadline: PictureDeadline
    ) async throws(PictureFailure) -> HTTPResponse {
        var request = HTTPRequest(method: "GET", url: link.text)
        request.proxy = access.proxy == ServerAccess.noProxy ? "" : access.proxy
        request.caFile = caFile
        request.timeout = try deadline.rest()
        request.answerByteCountMax = Limits.pictureByteCountMax
        request.fields = [("accept", "image/png, image/jpeg, image/webp")]
        do throws(CurlError) { return try await curl.response(to: request) } catch {
            guard error.kind != .timeout else { throw deadline.failure }
            throw PictureFailure(DisplayText.terminal(error.message, scalarCountMax: 300))
        }
    }

    /// Returns the address of a redirect, which may omit the scheme and the host.
    private static func target(
        of response: HTTPResponse, from link: NotificationLink
    ) throws(PictureFailure) -> NotificationLink {
        var text = response.value(of: "location") ?? ""
        if text.utf8.first == UInt8(ascii: "/"), !text.utf8.starts(with: "//".utf8) { text = link.origin + text }
        guard let target = try? NotificationLink(text), target.isSecureWeb else {
            throw PictureFailure("the host redirects to an address that is not a complete https address")
        }
        return target
    }
}
