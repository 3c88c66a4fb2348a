// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A pause of a thread that has nothing else to do.
enum ElapsedPause {
    static func wait(milliseconds: Int) {
        var wanted = timespec(tv_sec: milliseconds / 1_000, tv_nsec: milliseconds % 1_000 * 1_000_000)
        var rest = timespec()
        while unsafe nanosleep(&wanted, &rest) != 0, errno == EINTR { wanted = rest }
    }
}
