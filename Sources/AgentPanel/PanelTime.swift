// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Moments as the panel writes them.
enum PanelTime {
    /// A time of UNIX seconds in this machine's time zone, for example `2026-11-21 20:15`.
    static func text(_ unixSeconds: Int64) -> String {
        var seconds = time_t(unixSeconds)
        var parts = unsafe tm()
        var text = [CChar](repeating: 0, count: 64)
        guard unsafe localtime_r(&seconds, &parts) != nil else { return "" }
        let count = unsafe strftime(&text, text.count, "%Y-%m-%d %H:%M", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
