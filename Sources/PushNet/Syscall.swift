// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Runs one system call: again after EINTR, nil for EAGAIN, its result when it succeeds.
///
/// - Parameters:
///   - name: The call's name, for the error.
///   - subject: What it was about (an address, a path), for the error; computed only when one is thrown.
///   - call: The call itself, which returns -1 and sets errno when it fails.
/// - Returns: What the call returned, or nil when it would block.
/// - Throws: `NetError.system` for what the world did. EBADF and EFAULT can only be our own fault: they stop the process.
@inline(__always)
func syscall<Result: FixedWidthInteger & SignedInteger>(
    _ name: StaticString, about subject: @autoclosure () -> String = "", _ call: () -> Result
) throws(NetError) -> Result? {
    while true {
        let result = call()
        if result >= 0 { return result }
        let code = errno
        if code == EINTR { continue }
        if code == EAGAIN { return nil }
        throw systemFailure(name, code, about: subject())
    }
}

/// Makes the error of a failed call; apart from `syscall`, so that the fast path stays small.
@inline(never)
func systemFailure(_ name: StaticString, _ code: Int32, about subject: String = "") -> NetError {
    precondition(code != EBADF && code != EFAULT, "\(name) got a bad descriptor or address: \(subject)")
    return .system(call: "\(name)", code: code, subject: subject)
}
