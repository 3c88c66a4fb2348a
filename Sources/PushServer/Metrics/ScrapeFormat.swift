// SPDX-License-Identifier: Apache-2.0

/// The two text formats of metrics.
///
/// - SeeAlso: https://prometheus.io/docs/instrumenting/exposition_formats/
enum ScrapeFormat: Sendable {
    /// Prometheus' text format 0.0.4.
    case prometheus
    /// The format of OpenMetrics 1.0.
    case openMetrics

    /// Selects the format for an `Accept` field; OpenMetrics only if the client does not prefer plain text.
    ///
    /// - Parameter accept: The value of the field; nil without the field.
    init(accept: String?) {
        var qualities: [ScrapeFormat: Double] = [:]
        for range in (accept ?? "").split(separator: ",") {
            let parts = range.split(separator: ";").map { Self.trimmed($0) }
            var (version, quality): (Substring?, Double) = (nil, 1)
            for parameter in parts.dropFirst() {
                if parameter.hasPrefix("version=") { version = parameter.dropFirst("version=".count) }
                if parameter.hasPrefix("q=") { quality = Double(parameter.dropFirst("q=".count)) ?? 0 }
            }
            let format: ScrapeFormat
            switch parts.first?.lowercased() {
            case "application/openmetrics-text" where version == nil || version == "1.0.0" || version == "0.0.1":
                format = .openMetrics
            case "text/plain", "text/*", "*/*": format = .prometheus
            default: continue
            }
            qualities[format] = max(qualities[format] ?? 0, quality)
        }
        let wanted = qualities[.openMetrics] ?? 0
        self = wanted > 0 && wanted >= qualities[.prometheus] ?? 0 ? .openMetrics : .prometheus
    }

    var contentType: StaticString {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
