// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushServer

@Suite struct WebhookURLTests {
    @Test(arguments: [
        "https://example.org", "https://example.org/", "https://example.org:8443/a/b?c=d&e=%20", "https://10.0.0.1/x",
        "https://[2001:db8::1]:443/", "http://localhost:8080/events", "http://LOCALHOST/", "http://127.0.0.1/",
        "http://[::1]:9000/", "https://example.org?x", "https://a/@b",
    ])
    func `an https URL, or an http URL of this machine, is valid`(url: String) {
        #expect(WebhookURL.problem(in: url) == nil)
    }

    @Test(arguments: [
        "", "https://", "https:///path", "https://?x", "http://example.org", "http://127.0.0.1.example.org/",
        "http://localhost@example.org/", "https://user:password@example.org/", "HTTPS://example.org/",
        "ftp://example.org/", "file:///etc/passwd", "https://example.org:/", "https://example.org:0/",
        "https://example.org:65536/", "https://example.org:80a/", "https://[::1", "https://[::1]x/", "http://[::2]/",
        "https://example.org/a b", "https://example.org/\n", "https://example.org/\u{0}", "https://example.org/#x",
        "https://example.org\\@127.0.0.1/", "https://example.org/ü",
        "https://example.org/" + String(repeating: "a", count: 2048),
    ])
    func `any other URL is refused with an explanation`(url: String) {
        #expect(WebhookURL.problem(in: url)?.hasSuffix(".") == true)
    }
}
