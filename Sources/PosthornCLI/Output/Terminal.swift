// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The terminal of standard output.
enum Terminal {
    /// Whether standard output is a terminal.
    static var isUsed: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The width of the terminal of standard output in columns; 80 without one.
    static var columnCount: Int {
        var size = winsize()
        guard isUsed, unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0
        else { return 80 }
        return max(40, Int(size.ws_col))
    }
}
