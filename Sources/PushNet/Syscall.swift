// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Makes one system call: retries it after EINTR, and returns nil for EAGAIN.
///
/// - Parameters:
///   - name: The call's name, for the error.
///   - subject: The subject of the call (an address, a path), for the error; computed only if one is thrown.
///   - call: The call itself, which returns -1 and sets errno if it fails.
/// - Returns: The result of the call, or nil if it would block.
/// - Throws: `NetError.system` for external failures. EBADF and EFAULT can only be bugs here, so they stop the process.
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

/// Creates the error of a failed call; separate from `syscall`, so that the fast path stays small.
@inline(never)
func systemFailure(_ name: StaticString, _ code: Int32, about subject: String = "") -> NetError {
    precondition(code != EBADF && code != EFAULT, "\(name) got a bad descriptor or address: \(subject)")
    return .system(call: "\(name)", code: code, subject: subject)
}
