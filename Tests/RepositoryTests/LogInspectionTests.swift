// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Checks that the log inspection finds secrets and accepts ordinary lines.
@Suite struct LogInspectionTests {
    private static let token = String(repeating: "0123456789abcdef", count: 4)

    @Test(arguments: [
        ("event=sent token=\(token)", "64 hexadecimal digits, as of a device token"),
        ("event=sent token=\(token.uppercased())x", "64 hexadecimal digits, as of a device token"),
        ("event=sent token=eyJhbGciOiJFUzI1NiIsImtpZCI6Ik", "a provider token"),
        (
            "event=sent secret=vVZ3kq0u-7Qp3Z_b1bYt5Rr6Xx8Nn2Mm4Kk9Jj1Hh0a",
            "43 characters of base64url, as of a device secret"
        ),
        (
            "event=sent secret=05f8af177cd3edab.vVZ3kq0u-7Qp3Z_b1bYt5Rr6Xx8Nn2Mm4Kk9Jj1Hh0a",
            "43 characters of base64url, as of a device secret"
        ),
        ("event=sent key=\"-----BEGIN PRIVATE KEY-----\"", "a private key"),
        ("event=sent key=MIGHAgEAMBMGByqGSM49AgEG", "a private key"),
        ("event=sent code=K7QM-2XHD-9FPT", "an enrolment code"),
        ("event=sent text=\"{\\\"aps\\\":{}}\"", "a payload"),
    ])
    func `a line with a secret is found`(line: String, kind: String) {
        let findings = LogInspection.findings(in: "a\n\(line)\nb")
        #expect(findings.map(\.kind) == [kind] && findings.map(\.event) == ["sent"])
    }

    @Test func `a line with text from a payload that a test sent is found`() {
        let line = "event=sent body=\"the moon is made of cheese\"\n"
        #expect(LogInspection.findings(in: line).isEmpty)
        SecretWords.add(payload: #"{"aps":{"alert":{"body":"the moon is made of cheese"}}}"#)
        #expect(LogInspection.findings(in: line).map(\.kind) == ["a text of a payload"])
    }

    @Test(arguments: [
        "event=registered app=org.example.Mail token=01234567",
        "2026-11-23T10:00:00.000Z info event=listening url=https://127.0.0.1:45000 admin_socket=/tmp/posthorn.a1B2c3/admin.sock",
        "event=enrolled device=0123456789abcdef server=https://push.example.org:2197", "", "posthornd: no such file",
    ])
    func `an ordinary line is accepted`(line: String) { #expect(LogInspection.findings(in: line).isEmpty) }
}
