// SPDX-License-Identifier: Apache-2.0

internal import CPushShims
internal import Glibc

extension ProcessFacts {
    /// The arguments of the command line, without the program's name.
    ///
    /// They are those that the C library received. Swift's own list is empty where /proc is not mounted, and is wrong
    /// if a preloaded library has moved the environment variables.
    package static var arguments: [String] {
        (0..<push_argument_count()).dropFirst().compactMap { index in
            unsafe push_argument(index).map { unsafe String(cString: $0) }
        }
    }
}
