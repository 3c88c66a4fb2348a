// SPDX-License-Identifier: Apache-2.0

import PushNet
import Testing

@testable import PushServer

@Suite struct MetricTextTests {
    private static func text(
        _ format: ScrapeFormat, _ family: MetricFamily, _ samples: [MetricFamily.Sample]
    ) -> String {
        var text = MetricText(format)
        text.append(family, samples)
        text.end()
        return text.text
    }

    @Test func `a counter has the suffix in its name in one format, and only in its samples in the other`() {
        let family = MetricFamily.counter("posthorn_loop_busy_seconds", "Time.", by: "loop") { _ in [] }
        let samples = [MetricFamily.Sample(nanoseconds: 2_500_000_000, "0")]
        #expect(
            Self.text(.prometheus, family, samples) == """
                # HELP posthorn_loop_busy_seconds_total Time.
                # TYPE posthorn_loop_busy_seconds_total counter
                posthorn_loop_busy_seconds_total{loop="0"} 2.5

                """)
        #expect(
            Self.text(.openMetrics, family, samples) == """
                # HELP posthorn_loop_busy_seconds Time.
                # TYPE posthorn_loop_busy_seconds counter
                # UNIT posthorn_loop_busy_seconds seconds
                posthorn_loop_busy_seconds_total{loop="0"} 2.5
                # EOF

                """)
    }

    @Test func `the version is a gauge in one format and an info in the other`() {
        let family = MetricFamily.constant("posthorn_build", "The version.", by: "version") { _ in [] }
        let line = "posthorn_build_info{version=\"1.2\"} 1\n"
        let prometheus = Self.text(.prometheus, family, [.init(1, "1.2")])
        #expect(prometheus.hasSuffix("# TYPE posthorn_build_info gauge\n" + line))
        let openMetrics = Self.text(.openMetrics, family, [.init(1, "1.2")])
        #expect(openMetrics.hasSuffix("# TYPE posthorn_build info\n" + line + "# EOF\n"))
    }

    @Test func `the buckets of a histogram include the lower ones, and the last has all`() {
        let histogram = DurationHistogram()
        for nanoseconds: Int64 in [400_000, 500_000, 3_000_000, 120_000_000_000] {
            histogram.observe(nanoseconds: nanoseconds)
        }
        var snapshot = DurationHistogram.Snapshot()
        snapshot.add(histogram)
        let family = MetricFamily.histogram("posthorn_x_seconds", "Time.") { _ in DurationHistogram.Snapshot() }
        let lines = Self.text(.prometheus, family, [.init(snapshot)]).split(separator: "\n").map(String.init)
        #expect(lines[1] == "# TYPE posthorn_x_seconds histogram")
        let buckets = lines.filter { $0.hasPrefix("posthorn_x_seconds_bucket{") }
        #expect(buckets.count == DurationHistogram.boundsNanoseconds.count + 1)
        #expect(
            Array(buckets.prefix(4)) == [
                #"posthorn_x_seconds_bucket{le="0.0005"} 2"#, #"posthorn_x_seconds_bucket{le="0.001"} 2"#,
                #"posthorn_x_seconds_bucket{le="0.0025"} 2"#, #"posthorn_x_seconds_bucket{le="0.005"} 3"#,
            ])
        #expect(buckets.contains(#"posthorn_x_seconds_bucket{le="1.0"} 3"#))
        #expect(buckets.last == #"posthorn_x_seconds_bucket{le="+Inf"} 4"#)
        #expect(lines.suffix(2) == ["posthorn_x_seconds_sum 120.0039", "posthorn_x_seconds_count 4"])
    }

    @Test func `the sizes of groups have buckets of their own, with the labels of the family`() {
        let histogram = CountHistogram()
        for count in [1, 7, 5000] { histogram.observe(count) }
        let family = MetricFamily.histogram("posthorn_x_rows", "Rows.", by: "shard") { _ in [] }
        let lines = Self.text(.prometheus, family, [.init(histogram, "0")]).split(separator: "\n").map(String.init)
        #expect(lines.count { $0.hasPrefix("posthorn_x_rows_bucket{") } == CountHistogram.bounds.count + 1)
        #expect(lines[2] == #"posthorn_x_rows_bucket{shard="0",le="1.0"} 1"#)
        #expect(lines.contains(#"posthorn_x_rows_bucket{shard="0",le="10.0"} 2"#))
        #expect(lines.contains(#"posthorn_x_rows_bucket{shard="0",le="+Inf"} 3"#))
        #expect(lines.suffix(2) == [#"posthorn_x_rows_sum{shard="0"} 5008"#, #"posthorn_x_rows_count{shard="0"} 3"#])
    }

    @Test func `labels and help are escaped as each format requires`() {
        let family = MetricFamily.gauge("posthorn_x", "A \"quoted\" \\ line\nbreak.", by: "name") { _ in [] }
        let samples = [MetricFamily.Sample(1, "a\"b\\c\nd")]
        let prometheus = Self.text(.prometheus, family, samples)
        #expect(prometheus.contains("# HELP posthorn_x A \"quoted\" \\\\ line\\nbreak.\n"))
        #expect(prometheus.hasSuffix("posthorn_x{name=\"a\\\"b\\\\c\\nd\"} 1\n"))
        let openMetrics = Self.text(.openMetrics, family, samples)
        #expect(openMetrics.contains("# HELP posthorn_x A \\\"quoted\\\" \\\\ line\\nbreak.\n"))
    }

    @Test func `a family without values is left out`() {
        #expect(Self.text(.prometheus, .gauge("posthorn_x", "X.") { _ in [] }, []).isEmpty)
    }

    @Test(arguments: [
        (0, "0.0"), (1, "0.000000001"), (500_000, "0.0005"), (1_000_000_000, "1.0"), (60_000_000_000, "60.0"),
        (1_010_000_000, "1.01"), (9_223_372_036_854_775_807, "9223372036.854775807"),
    ])
    func `nanoseconds are written as seconds`(nanoseconds: Int64, text: String) {
        #expect(MetricText.seconds(nanoseconds: nanoseconds) == text)
    }
}
