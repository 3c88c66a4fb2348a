// SPDX-License-Identifier: Apache-2.0

internal import PushAdmin
internal import PushCore
internal import PushCurl
internal import Testing

struct SendResultTests {
    private func result(_ status: Int, _ body: String = "", _ fields: [(String, String)] = []) -> SendResult {
        SendResult(HTTPResponse(status: status, fields: fields, body: Array(body.utf8), isHTTP2: true))
    }

    @Test func `an accepted notification shows its ids`() throws {
        let report = result(200, "", [("apns-id", "ABC"), ("apns-unique-id", "DEF")]).report
        #expect(report.exitCode == .ok)
        #expect(report.complaint == nil)
        #expect(report.text == "Status          200 accepted\napns-id         ABC\napns-unique-id  DEF")
        #expect(try report.jsonText == #"{"apns_id":"ABC","apns_unique_id":"DEF","status":200}"#)
    }

    @Test(arguments: RejectionReason.allCases)
    func `a refusal gives the advice of its reason`(reason: RejectionReason) {
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

    @Test func `a token that is gone says since when`() throws {
        let report = result(410, #"{"reason":"Unregistered","timestamp":1795295709123}"#).report
        #expect(report.text.contains("Since   2026-11-2"))
        #expect(try report.jsonText.contains(#""timestamp":1795295709123"#))
    }

    @Test(arguments: [
        (400, "", ExitCode.refused), (500, "<html>", .tryLater), (502, #"{"reason":"Odd"}"#, .tryLater),
        (404, #"{"reason":7}"#, .refused), (301, "", .refused), (204, "", .refused),
    ])
    func `an answer that APNs would not give is still understood`(status: Int, body: String, code: ExitCode) {
        let report = result(status, body).report
        #expect(report.exitCode == code)
        #expect(report.complaint?.remedy.contains("no reason that APNs documents") == true)
    }
}
