// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What the kernel or the caller's configuration did.
package enum NetError: Error, Sendable, Hashable {
    /// A system call failed: its name, errno, and what it was about (address or path).
    case system(call: String, code: Int32, subject: String)
    /// Text that is no address or port.
    case badAddress(String)
}

extension NetError: CustomStringConvertible {
    /// One line for the log: the call, what it was about, and the kernel's words.
    package var description: String {
        switch self {
        case .system(let call, let code, let subject):
            subject.isEmpty
                ? "\(call): \(SystemError.text(code))" : "\(call) \(subject): \(SystemError.text(code))"
        case .badAddress(let text):
            "bad address: \(text)"
        }
    }

    /// What to do about it: one imperative sentence.
    package var advice: String {
        switch self {
        case .system(_, EADDRINUSE, let subject):
            "Stop the process that uses \(subject), or choose another address."
        case .system(_, EACCES, let subject), .system(_, EPERM, let subject):
            "Give this process the right to use \(subject.isEmpty ? "it" : subject)."
        case .system(_, EADDRNOTAVAIL, let subject):
            "Choose an address of this machine instead of \(subject)."
        case .system(_, EMFILE, _), .system(_, ENFILE, _):
            "Raise the limit of open files (LimitNOFILE in the unit)."
        case .system(_, _, _):
            "Read the system's log for the cause, then start again."
        case .badAddress:
            "Write a host name, an IP address, `*`, or a path of at most \(Sockets.pathByteCountMax) bytes."
        }
    }
}
