// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// Writes metrics in a text format.
///
/// ```
/// # HELP posthorn_connections Open connections of providers and devices, by kind.
/// # TYPE posthorn_connections gauge
/// posthorn_connections{kind="device"} 2
/// ```
struct MetricText {
    private let format: ScrapeFormat
    private(set) var text = ""

    init(_ format: ScrapeFormat) { self.format = format }

    /// Appends a family with its values; a family without values is left out.
    mutating func append(_ family: MetricFamily, _ samples: [MetricFamily.Sample]) {
        guard !samples.isEmpty else { return }
        appendHead(of: family)
        for sample in samples {
            precondition(sample.labels.count == family.labels.count, "\(family.name) has values of other labels")
            let labels = zip(family.labels, sample.labels).map { "\($0)=\"\(Self.escaped($1))\"" }
            switch sample.value {
            case .number(let value): appendLine(family.queryName, labels, "\(value)")
            case .seconds(let nanoseconds):
                appendLine(family.queryName, labels, Self.seconds(nanoseconds: nanoseconds))
            case .histogram(let snapshot):
                append(
                    snapshot.counts, Self.bounds, sum: Self.seconds(nanoseconds: snapshot.sumNanoseconds), family.name,
                    labels)
            case .counts(let histogram):
                append(histogram.counts, Self.countBounds, sum: "\(histogram.sum)", family.name, labels)
            }
        }
    }

    /// Ends the text, which OpenMetrics requires.
    mutating func end() {
        if format == .openMetrics { text += "# EOF\n" }
    }

    private mutating func appendHead(of family: MetricFamily) {
        let (name, type): (String, String) =
            switch format {
            case .prometheus: (family.queryName, family.kind == .info ? "gauge" : family.kind.rawValue)
            case .openMetrics: (family.name, family.kind.rawValue)
            }
        // Only OpenMetrics escapes quotation marks here.
        let help = Self.escaped(family.help, withQuotes: format == .openMetrics)
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        if format == .openMetrics, let unit = family.unit { text += "# UNIT \(name) \(unit)\n" }
    }

    /// Appends the buckets, each with all lower ones, then the sum and the count.
    private mutating func append(
        _ counts: [Int64], _ bounds: [String], sum: String, _ name: String, _ labels: [String]
    ) {
        var count: Int64 = 0
        for (bound, bucketCount) in zip(bounds + ["+Inf"], counts) {
            count += bucketCount
            appendLine(name + "_bucket", labels + ["le=\"\(bound)\""], "\(count)")
        }
        appendLine(name + "_sum", labels, sum)
        appendLine(name + "_count", labels, "\(count)")
    }

    private mutating func appendLine(_ name: String, _ labels: [String], _ value: String) {
        text += name
        if !labels.isEmpty { text += "{\(labels.joined(separator: ","))}" }
        text += " \(value)\n"
    }

    // MARK: Values

    /// The bounds of all buckets but the last, in seconds.
    static let bounds = DurationHistogram.boundsNanoseconds.map { seconds(nanoseconds: $0) }

    /// The bounds of all buckets of group sizes but the last.
    static let countBounds = CountHistogram.bounds.map { "\($0).0" }

    /// Returns the seconds of a number of nanoseconds as the shortest decimal fraction with a point.
    ///
    /// The bounds of buckets are written in this form in both formats, because `1` and `1.0` would be two series.
    ///
    /// - Parameter nanoseconds: The nanoseconds, at least 0.
    /// - Returns: For example `0.0025` or `1.0`.
    static func seconds(nanoseconds: Int64) -> String {
        let digits = "\(1_000_000_000 + nanoseconds % 1_000_000_000)".dropFirst()
        let end = digits.lastIndex { $0 != "0" } ?? digits.startIndex
        return "\(nanoseconds / 1_000_000_000).\(digits[...end])"
    }

    /// Escapes the value of a label, or a help text.
    static func escaped(_ value: String, withQuotes: Bool = true) -> String {
        var escaped = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where withQuotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
