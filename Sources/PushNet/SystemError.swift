// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The system's words for its error numbers.
package enum SystemError {
    /// For example `No such file or directory`.
    package static func text(_ code: Int32) -> String {
        guard let words = unsafe strerrordesc_np(code) else { return "error \(code)" }
        return unsafe String(cString: words)
    }
}

extension NetError {
    /// One sentence for the log or a person.
    package var text: String {
        switch self {
        case .system(let call, let code, let subject): "\(subject): \(call): \(SystemError.text(code))"
        case .badAddress(let address): "\(address) is not an address"
        }
    }
}
