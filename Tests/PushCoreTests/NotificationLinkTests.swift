// SPDX-License-Identifier: Apache-2.0

import PushCore
import Testing

struct NotificationLinkTests {
    @Test(
        arguments: [
            ("https://example.org", "https", "example.org"),
            ("HTTPS://Example.ORG:8443/a/b?c=d&e=%C3%A4#f", "https", "example.org"),
            ("https://[2001:db8::1]:443/", "https", "[2001:db8::1]"), ("https://192.0.2.1/x@y", "https", "192.0.2.1"),
            ("mail://inbox/42", "mail", "inbox"), ("mail:42", "mail", nil), ("web+mail:///42", "web+mail", nil),
        ] as [(String, String, String?)])
    func `an absolute URL is accepted, with its scheme and host`(text: String, scheme: String, host: String?) throws {
        let link = try NotificationLink(text)
        #expect(link.text == text && link.scheme == scheme && link.host == host)
        #expect(link.isSecureWeb == (scheme == "https"))
        #expect(link.shownTarget == host ?? "\(scheme):")
    }

    @Test(
        arguments: [
            ("", .malformed), ("example.org/a", .malformed), ("//example.org", .malformed), ("https:", .malformed),
            ("1https://example.org", .malformed), ("https://example.org/a b", .malformed),
            ("https://example.org/\u{7}", .malformed), ("https://example.org/\n", .malformed),
            ("https://exämple.org/", .malformed), ("https://example.org/%4", .malformed),
            ("https://example.org/%zz", .malformed), (#"https:\\example.org"#, .malformed),
            (#"https://example.org\@evil.example"#, .malformed), ("--help:x y", .malformed), ("-a:b", .malformed),
            ("https://user@evil.example/", .userInformation), ("https://example.org:x@evil.example/", .userInformation),
            ("https://@evil.example", .userInformation), ("mail://user@host/1", .userInformation),
            ("https:/example.org", .noHost), ("https:///example.org", .noHost), ("https:example.org", .noHost),
            ("https://:443/", .badHost), ("https://example.org:443x/", .badHost), ("https://a%2eb/", .badHost),
            ("https://[::1", .badHost), ("https://[]/", .badHost), ("https://[g::1]/", .badHost),
            ("https://example.org:123456/", .badHost),
            ("http://example.org", .forbiddenScheme), ("FILE:///etc/passwd", .forbiddenScheme),
            ("javascript:alert(1)", .forbiddenScheme), ("data:text/html,x", .forbiddenScheme),
        ] as [(String, NotificationLink.Defect)])
    func `any other text is refused with the reason`(text: String, defect: NotificationLink.Defect) {
        #expect(throws: defect) { try NotificationLink(text) }
    }

    @Test func `a link has at most 2048 bytes`() throws {
        let longest = "https://example.org/" + String(repeating: "a", count: 2048 - 20)
        #expect(try NotificationLink(longest).text.utf8.count == 2048)
        #expect(throws: NotificationLink.Defect.tooLong) { try NotificationLink(longest + "a") }
    }

    @Test(
        arguments: [
            (#"{"url":"https:\/\/example.org\/1"}"#, "https://example.org/1", ""), (#"{"url":null}"#, nil, ""),
            ("{}", nil, ""),
            (#"{"aps":{"url":"https://example.org"}}"#, nil, ""), (#"{"url":5}"#, nil, "url: it is not a string"),
            (
                #"{"url":"https://bank.example@evil.example"}"#, nil,
                "url: it contains a user name, which hides the host"
            ),
        ] as [(String, String?, String)])
    func `a payload has a link, none, or the reason why it is ignored`(
        payload: String, link: String?, ignored: String
    ) throws {
        let parsed = try Payload(parsing: Array(payload.utf8).span)
        #expect(parsed.link?.text == link && parsed.ignoredMembers == ignored)
    }

    @Test(
        arguments: [
            (#""/a.png""#, "/a.png", ""), (#""a.png""#, nil, "it is not an absolute path"),
            ("1", nil, "it is not an absolute path"),
            (#""/a\u0000""#, nil, "it is not an absolute path"), (#""""#, nil, "it is not an absolute path"),
            ("null", nil, ""),
        ] as [(String, String?, String)])
    func `a path of a picture is read only from a payload that may name files`(
        value: String, path: String?, defect: String
    ) throws {
        let payload = Array(#"{"aps":{"alert":"x"},"attachment-path":\#(value)}"#.utf8)
        let own = try Payload(parsing: payload.span, namesFiles: true)
        #expect(own.picturePath == path && own.ignoredMembers == (defect.isEmpty ? "" : "attachment-path: \(defect)"))
        let sent = try Payload(parsing: payload.span)
        let isFound = Payload.hasPicturePath(payload.span)
        #expect(sent.picturePath == nil && isFound)
        let reason = "attachment-path: only the app's filter can name a file"
        #expect(sent.ignoredMembers == (value == "null" ? "" : reason))
        let isFoundInside = Payload.hasPicturePath(Array(#"{"aps":{"attachment-path":"/a"}}"#.utf8).span)
        #expect(!isFoundInside)
    }
}
