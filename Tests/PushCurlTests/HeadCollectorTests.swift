// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushCurl

@Suite struct HeadCollectorTests {
    private func receive(_ lines: [String]) -> (progress: [HeadCollector.Progress], response: HTTPResponse?) {
        var collector = HeadCollector()
        let progress = lines.map { collector.receive(line: Array($0.utf8).span) }
        return (progress, collector.response)
    }

    @Test func `interim answers are skipped and trailers are ignored`() {
        let (progress, response) = receive([
            "HTTP/1.1 103 Early Hints\r\n", "link: x\r\n", "\r\n", "HTTP/2 204 \r\n", "A-B:  c d \r\n", "nonsense\r\n",
            "\r\n", "trailer: x\r\n",
        ])
        #expect(progress == [.more, .more, .more, .more, .more, .more, .done, .more])
        #expect(response?.status == 204)
        #expect(response?.isHTTP2 == true)
        #expect(response?.fields.map(\.0) == ["a-b"])
        #expect(response?.fields.map(\.1) == ["c d"])
    }

    @Test(arguments: [
        "", "\r\n", "HTTP/1.1\r\n", "HTTP/1.1 20\r\n", "HTTP/1.1 2000\r\n", "HTTP/1.1 0x2\r\n", "HTTP/1.1 099\r\n",
        "ICY 200\r\n",
    ])
    func `an invalid status line is malformed`(line: String) {
        #expect(receive([line]).progress == [.malformed])
    }

    @Test func `a head over its size limit is malformed, and one at the limit is not`() {
        let status = "HTTP/1.1 200 OK\r\n"
        let space = HeadCollector.headByteCountMax - status.utf8.count
        #expect(receive([status, "a:" + String(repeating: "x", count: space - 2)]).progress == [.more, .more])
        #expect(receive([status, "a:" + String(repeating: "x", count: space - 1)]).progress == [.more, .malformed])
    }
}
