// SPDX-License-Identifier: Apache-2.0

extension AlertWindow.Answer {
    /// Whether the answer may open an app.
    var opensApp: Bool {
        switch self {
        case .view: true
        case .close, .closeAll, .action, .remind: false
        }
    }

    /// Whether the answer is for all alerts that wait.
    var isForAll: Bool {
        switch self {
        case .closeAll: true
        case .close, .view, .action, .remind: false
        }
    }
}
