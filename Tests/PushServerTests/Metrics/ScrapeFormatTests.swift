// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushServer

@Suite struct ScrapeFormatTests {
    private static let cases: [(String?, Bool)] = [
        (nil, false), ("", false), ("*/*", false), ("text/plain;version=0.0.4", false),
        ("application/openmetrics-text", true), ("application/openmetrics-text; version=1.0.0; charset=utf-8", true),
        ("Application/OpenMetrics-Text;version=0.0.1", true), ("application/openmetrics-text;version=2.0.0", false),
        ("application/openmetrics-text;q=0", false), ("application/openmetrics-text;q=0.4,text/plain;q=0.5", false),
        ("text/plain;q=0.5, application/openmetrics-text;q=0.5", true), (";,;q=x,,", false),
        // Prometheus 2.42, and Prometheus 3.
        (
            """
            application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
            text/plain;version=0.0.4;q=0.5,*/*;q=0.1
            """, true
        ),
        (
            """
            application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
            text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.2,*/*;q=0.1
            """, true
        ),
    ]

    @Test(arguments: cases)
    func `the format is the one that the client prefers`(accept: String?, isOpenMetrics: Bool) {
        #expect(ScrapeFormat(accept: accept) == (isOpenMetrics ? .openMetrics : .prometheus))
    }
}
