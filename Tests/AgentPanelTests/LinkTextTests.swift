// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AgentPanel

struct LinkTextTests {
    @Test(arguments: [
        ("https://example.org/path?a=b", "example.org"), ("https://example.org:8443#x", "example.org"),
        ("HTTPS://Example.org", "Example.org"), ("https://bank.example@evil.example/", "evil.example"),
        ("https://[2001:db8::1]:443/", "[2001:db8::1]"), ("mail:42", "mail"), ("", ""),
    ])
    func `a link is named by the host that it leads to`(url: String, host: String) {
        #expect(LinkText.host(url) == host)
    }
}
