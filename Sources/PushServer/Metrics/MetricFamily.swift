// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// A metric: its name, its type, its help, and the function that reads its values.
///
/// `MetricFamily.all` is the only list. `/metrics` and docs/reference/metrics.md are made from it.
struct MetricFamily: Sendable {
    enum Kind: String, Sendable {
        case counter, gauge, histogram, info
    }

    /// A value with the values of the family's labels, in their order.
    struct Sample {
        enum Value {
            case number(Int64)
            case seconds(nanoseconds: Int64)
            case histogram(DurationHistogram.Snapshot)
            case counts(CountHistogram)
        }

        var labels: [String] = []
        var value: Value

        init(_ value: Int64, _ labels: String...) {
            self.value = .number(value)
            self.labels = labels
        }

        init(nanoseconds: Int64, _ labels: String...) {
            value = .seconds(nanoseconds: nanoseconds)
            self.labels = labels
        }

        init(_ histogram: DurationHistogram.Snapshot, _ labels: String...) {
            value = .histogram(histogram)
            self.labels = labels
        }

        init(_ histogram: CountHistogram, _ labels: String...) {
            value = .counts(histogram)
            self.labels = labels
        }
    }

    /// The name with its unit, and without the suffix `_total` or `_info`.
    let name: String
    let kind: Kind
    /// One sentence about the values.
    let help: String
    let labels: [String]
    /// Returns the values; none if they are unknown.
    let read: @Sendable (MetricSource) -> [Sample]

    private init(
        _ name: String, _ kind: Kind, _ help: String, _ labels: [String],
        _ read: @escaping @Sendable (MetricSource) -> [Sample]
    ) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
        self.read = read
    }

    /// The name of the counter, gauge, histogram or info in queries.
    var queryName: String {
        switch kind {
        case .counter: name + "_total"
        case .info: name + "_info"
        case .gauge, .histogram: name
        }
    }

    /// The base unit, which is the last word of the name; nil for a number of things.
    var unit: String? { ["seconds", "bytes"].first { name.hasSuffix("_\($0)") } }

    // MARK: Making families

    static func counter(
        _ name: String, _ help: String, by labels: String..., read: @escaping @Sendable (MetricSource) -> [Sample]
    ) -> MetricFamily {
        MetricFamily(name, .counter, help, labels, read)
    }

    static func gauge(
        _ name: String, _ help: String, by labels: String..., read: @escaping @Sendable (MetricSource) -> [Sample]
    ) -> MetricFamily {
        MetricFamily(name, .gauge, help, labels, read)
    }

    static func histogram(
        _ name: String, _ help: String, read: @escaping @Sendable (MetricSource) -> DurationHistogram.Snapshot?
    ) -> MetricFamily {
        MetricFamily(name, .histogram, help, []) { read($0).map { [Sample($0)] } ?? [] }
    }

    static func histogram(
        _ name: String, _ help: String, by label: String, read: @escaping @Sendable (MetricSource) -> [Sample]
    ) -> MetricFamily {
        MetricFamily(name, .histogram, help, [label], read)
    }

    static func constant(
        _ name: String, _ help: String, by labels: String..., read: @escaping @Sendable (MetricSource) -> [Sample]
    ) -> MetricFamily {
        MetricFamily(name, .info, help, labels, read)
    }
}
