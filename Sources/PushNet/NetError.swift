// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An error of the kernel or in the caller's configuration.
package enum NetError: Error, Sendable, Hashable {
    /// A failed system call: its name, its errno, and its subject (an address or path).
    case system(call: String, code: Int32, subject: String)
    /// A text that is not a valid address or port.
    case badAddress(String)
}

extension NetError: CustomStringConvertible {
    /// The error in one line, for the log: the call, its subject, and the system's error text.
    package var description: String {
        switch self {
        case .system(let call, let code, let subject):
            subject.isEmpty
                ? "\(call): \(SystemError.text(code))" : "\(call) \(subject): \(SystemError.text(code))"
        case .badAddress(let text):
            "bad address: \(text)"
        }
    }

    /// The remedy in one imperative sentence.
    package var advice: String {
        switch self {
        case .system(_, EADDRINUSE, let subject):
            "Stop the process that uses \(subject), or choose another address."
        case .system("bind", EACCES, let subject) where subject.contains(" port "):
            "Choose port 1024 or higher, or allow lower ports with 'sysctl net.ipv4.ip_unprivileged_port_start=PORT'."
        case .system(_, EACCES, let subject), .system(_, EPERM, let subject):
            "Give this process the right to use \(subject.isEmpty ? "it" : subject)."
        case .system(_, EADDRNOTAVAIL, let subject):
            "Choose an address of this machine instead of \(subject)."
        case .system(_, ENOENT, let subject) where !subject.isEmpty, .system(_, ENOTDIR, let subject):
            "Create the directory of \(subject), or choose another path."
        case .system(_, EMFILE, _), .system(_, ENFILE, _):
            "Raise the limit of open files (LimitNOFILE in the unit)."
        case .system(_, _, _):
            "Read the system's log for the cause, then start again."
        case .badAddress:
            "Write a host name, an IP address, `*`, or a path of at most \(Sockets.pathByteCountMax) bytes."
        }
    }
}
