// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import LoopTestSupport
import PushCore
import PushNet
import TestSupport
import Testing

/// Fetches from a real https server, whose authority only these tests trust.
struct PictureFetcherTests {
    private let server: PictureServer

    init() async throws { server = try await PictureServer() }

    @Test(arguments: [("photo", 1), ("to-photo", 2), ("to-here", 2), ("hop3", 4)])
    func `a picture of a named host arrives, also after redirects, without cookies and credentials`(
        path: String, requestCount: Int
    ) async throws {
        let fetcher = try Fetcher(server)
        for _ in 0..<2 { #expect(try await fetcher.fetch(path).get().starts(with: [0x89, 0x50, 0x4E, 0x47])) }
        let requests = server.requests
        #expect(requests.count == 2 * requestCount && requests.allSatisfy { !$0.contains(" ") }, "\(requests)")
    }

    @Test(arguments: [
        ("big", "the answer is longer than 5242880 bytes"), ("missing", "the host answered 404"),
        ("to-other", "the app does not name the host 127.0.0.1 in picture_hosts"),
        ("to-http", "the host redirects to an address that is not a complete https address"),
        ("to-file", "the host redirects to an address that is not a complete https address"),
        ("to-user", "the host redirects to an address that is not a complete https address"),
        ("loop", "the host redirects more than 3 times"), ("hop4", "the host redirects more than 3 times"),
    ])
    func `any other answer gives the reason`(path: String, reason: String) async throws {
        #expect(try await Fetcher(server).fetch(path) == .failure(PictureFailure(reason)))
        #expect(!server.requests.contains("/photo") || path == "hop4")
    }

    @Test func `a picture of the maximum size arrives`() async throws {
        #expect(try await Fetcher(server).fetch("max").get().count == Limits.pictureByteCountMax)
    }

    @Test func `a host that the app does not name gets no request`() async throws {
        let fetcher = try Fetcher(server, hosts: ["localhost", "images.example.org"])
        let reason = "the app does not name the host localhost in picture_hosts"
        #expect(try await fetcher.fetch("photo") == .failure(PictureFailure(reason)))
        #expect(server.requests.isEmpty)
    }

    @Test func `a host whose certificate is not trusted sends no picture`() async throws {
        let fetcher = try Fetcher(server, caFile: nil)
        guard case .failure = try await fetcher.fetch("photo") else {
            Issue.record("a picture came from a host that is not trusted")
            return
        }
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: ["slow", "drip", "wait3"])
    func `a host that does not answer, drips, or takes long for all redirects together is given up`(
        path: String
    ) async throws {
        let fetcher = try Fetcher(server, timeout: .seconds(1))
        #expect(try await fetcher.fetch(path) == .failure(PictureFailure("it was not ready within 1.0 seconds")))
        #expect(!server.requests.contains("/photo") || path == "wait3")
    }

    @Test(
        arguments: [
            ("example.org", "https://example.org/a", true), ("example.org", "https://EXAMPLE.org:443/a", true),
            ("example.org:443", "https://example.org", true), ("Example.org", "https://example.org", true),
            ("example.org", "https://example.org:8443/a", false), ("example.org:8443", "https://example.org/a", false),
            ("example.org", "https://a.example.org/", false),
            ("example.org", "https://example.org.evil.example", false),
            ("example.org", "mail://example.org", false), ("[::1]:8443", "https://[::1]:8443/", true),
            ("[::1]", "https://[::1]:443/", true), ("[::1]", "https://[::2]/", false),
        ])
    func `a host matches its own addresses only`(host: String, address: String, matches: Bool) throws {
        #expect(try #require(PictureHost(host)).matches(NotificationLink(address)) == matches)
    }

    @Test(arguments: ["", "*", "*.example.org", "https://example.org", "example.org/", "a@b", "a b", "a:x", ":443"])
    func `any other text is not a host`(text: String) { #expect(PictureHost(text) == nil) }

    /// A fetcher with a loop of its own.
    private struct Fetcher {
        private let loop: EventLoop
        private let fetcher: PictureFetcher
        private let hosts: [PictureHost]
        private let timeout: Duration
        private let server: PictureServer

        init(
            _ server: PictureServer, hosts: [String]? = nil, timeout: Duration = .seconds(60)
        ) throws {
            try self.init(server, hosts: hosts, timeout: timeout, caFile: server.caFile)
        }

        init(
            _ server: PictureServer, hosts: [String]? = nil, timeout: Duration = .seconds(60), caFile: String?
        ) throws {
            loop = try EventLoop()
            fetcher = PictureFetcher(loop: loop, access: ServerAccess(), caFile: caFile)
            self.hosts = (hosts ?? [server.host]).compactMap { PictureHost($0) }
            self.timeout = timeout
            self.server = server
        }

        func fetch(_ path: String) async throws -> Result<[UInt8], PictureFailure> {
            let link = try NotificationLink(server.url(path))
            var result: Result<[UInt8], PictureFailure>?
            let deadline = PictureDeadline(after: timeout)
            loop.startTask {
                do throws(PictureFailure) {
                    result = .success(try await fetcher.fetch(link, from: hosts, by: deadline))
                } catch {
                    result = .failure(error)
                }
            }
            try await loop.run("the picture is there or not") { result != nil }
            return try #require(result)
        }
    }
}
