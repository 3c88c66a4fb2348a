// SPDX-License-Identifier: Apache-2.0

@testable import PosthornCLI
internal import PushCore
internal import PushCurl
internal import Testing

struct SendResultTests {
    private func result(_ status: Int, _ body: String = "", _ fields: [(String, String)] = []) -> SendResult {
        SendResult(HTTPResponse(status: status, fields: fields, body: Array(body.utf8), isHTTP2: true))
    }

    @Test func `an accepted notification shows its IDs`() throws {
        let report = result(200, "", [("apns-id", "ABC"), ("apns-unique-id", "DEF")]).report
        #expect(report.exitCode == .ok)
        #expect(report.complaint == nil)
        #expect(report.text == "Status          200 accepted\napns-id         ABC\napns-unique-id  DEF")
        #expect(try report.jsonText == #"{"apns_id":"ABC","apns_unique_id":"DEF","status":200}"#)
    }

    @Test(arguments: RejectionReason.allCases)
    func `a refusal shows the advice for its reason`(reason: RejectionReason) {
        let report = result(reason.status, #"{"reason":"\#(reason.rawValue)"}"#).report
        #expect(report.complaint?.problem == "the server refused: \(reason.rawValue)")
        #expect(report.complaint?.remedy == reason.advice)
        let expected: ExitCode =
            switch (reason.status, reason.retry) {
            case (403, _): .notPermitted
            case (410, _): .notFound
            case (_, .later): .tryLater
            default: .refused
            }
        #expect(report.exitCode == expected)
    }

    @Test func `the server's detail precedes the general advice`() throws {
        let fields = [("posthorn-detail", "apns-topic is com.b, the token is of com.a: send with com.a.")]
        let report = result(400, #"{"reason":"DeviceTokenNotForTopic"}"#, fields).report
        #expect(report.complaint?.problem == "the server refused: DeviceTokenNotForTopic")
        #expect(report.complaint?.remedy == fields[0].1)
        let json = try report.jsonText
        #expect(json.contains(#""detail":"apns-topic is com.b, the token is of com.a: send with com.a.""#))
        #expect(json.contains(#""advice":"\#(RejectionReason.deviceTokenNotForTopic.advice)""#))
    }

    @Test func `each warning of an accepted notification is shown`() throws {
        let report = result(200, "", [("posthorn-warning", "one"), ("apns-id", "A"), ("posthorn-warning", "two")])
            .report
        #expect(report.exitCode == .ok && report.complaint == nil)
        #expect(report.text == "Status   200 accepted\napns-id  A\nWarning  one\nWarning  two")
        #expect(try report.jsonText == #"{"apns_id":"A","status":200,"warnings":["one","two"]}"#)
    }

    @Test(arguments: ["x\u{1B}[31my", "x\u{9B}31my", "x\nStatus  200"])
    func `text from a server cannot control a terminal or start a line`(text: String) {
        let lines = result(200, "", [("posthorn-warning", text)]).report.text.split(whereSeparator: \.isNewline)
        #expect(lines.count == 2 && !lines[1].unicodeScalars.contains { $0.properties.generalCategory == .control })
    }

    @Test func `a broadcast shows its two IDs`() throws {
        let report = result(200, "", [("apns-request-id", "R"), ("apns-unique-id", "U")]).report
        #expect(report.text == "Status           200 accepted\napns-request-id  R\napns-unique-id   U")
        #expect(try report.jsonText == #"{"apns_request_id":"R","apns_unique_id":"U","status":200}"#)
    }

    @Test func `an unregistered token shows the time`() throws {
        let report = result(410, #"{"reason":"Unregistered","timestamp":1795295709123}"#).report
        #expect(report.text.contains("Since   2026-11-2"))
        #expect(try report.jsonText.contains(#""timestamp":1795295709123"#))
    }

    @Test(arguments: [
        (400, "", ExitCode.refused), (500, "<html>", .tryLater), (502, #"{"reason":"Odd"}"#, .tryLater),
        (404, #"{"reason":7}"#, .refused), (301, "", .refused), (204, "", .refused),
    ])
    func `an answer that APNs would not send is still understood`(status: Int, body: String, code: ExitCode) {
        let report = result(status, body).report
        #expect(report.exitCode == code)
        #expect(report.complaint?.remedy.contains("APNs does not document this reason") == true)
    }
}
