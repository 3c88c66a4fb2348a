// SPDX-License-Identifier: Apache-2.0

internal import CPushShims
internal import Glibc

/// The replacement of this process by its program's file, which may be a newer version, with the same process ID.
package enum ProgramReplacement {
    /// The path of this program's file when the process started; nil if it is unknown.
    private static let path: String? = {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe bytes.withUnsafeMutableBytes { buffer -> Int in
            guard let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else { return 0 }
            return unsafe readlink("/proc/self/exe", start, buffer.count)
        }
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }()

    /// Determines the path of the program's file; call it at the start, before an upgrade can replace the file.
    package static func prepare() { _ = path }

    /// Returns the path of the program's file.
    static func programFile() throws(NetError) -> String {
        guard let path else { throw .system(call: "readlink", code: ENOENT, subject: "/proc/self/exe") }
        return path
    }

    /// Executes the program's file in place of this process, with the same arguments and with listening sockets.
    ///
    /// The new program finds the sockets as those of a service manager (sd_listen_fds(3)). All other descriptors are
    /// closed. If the file is missing or is no program, the present program starts again.
    ///
    /// - Parameters:
    ///   - sockets: The listening sockets.
    ///   - onFailure: Called with the error of the file, before the present program starts again.
    /// - Returns: The error, because a success does not return.
    package static func execute(passing sockets: [PassedSocket], onFailure: (NetError) -> Void) -> NetError {
        guard let path else { return .system(call: "readlink", code: ENOENT, subject: "/proc/self/exe") }
        let first: Int32 = 3
        // Move the sockets out of the way first: one of them may have the number of another's new place.
        let moved = sockets.map { fcntl($0.descriptor, F_DUPFD_CLOEXEC, first + Int32(sockets.count)) }
        for (place, descriptor) in moved.enumerated() {
            guard descriptor >= 0, dup2(descriptor, first + Int32(place)) >= 0 else {
                return .system(call: "dup2", code: errno, subject: "a listening socket")
            }
        }
        unsafe setenv("LISTEN_FDS", "\(sockets.count)", 1)
        unsafe setenv("LISTEN_PID", "\(getpid())", 1)
        unsafe setenv("LISTEN_FDNAMES", sockets.map(\.name).joined(separator: ":"), 1)
        var arguments = unsafe (0..<push_argument_count()).map { index in
            unsafe push_argument(index).flatMap { unsafe strdup($0) }
        }
        unsafe arguments.append(nil)
        // Libraries have descriptors of their own.
        _ = push_close_on_exec_from(first + Int32(sockets.count))
        unsafe execv(path, arguments)
        let error = NetError.system(call: "execv", code: errno, subject: path)
        onFailure(error)
        unsafe execv("/proc/self/exe", arguments)
        return error
    }

    /// Executes another program of the same directory in place of this process, with the same environment.
    ///
    /// - Parameters:
    ///   - name: The name of the program's file.
    ///   - arguments: The arguments without the program's name.
    /// - Returns: The error, because a success does not return.
    package static func execute(neighbor name: String, _ arguments: [String]) -> NetError {
        guard let path else { return .system(call: "readlink", code: ENOENT, subject: "/proc/self/exe") }
        let program = PrivateFile.directory(of: path) + "/" + name
        var words = unsafe ([name] + arguments).map { unsafe strdup($0) }
        unsafe words.append(nil)
        unsafe execv(program, words)
        return .system(call: "execv", code: errno, subject: program)
    }
}

/// A listening socket that one process of a server passes to the next.
package struct PassedSocket: Sendable {
    package let descriptor: Int32
    /// The name under which a service manager keeps the socket.
    package let name: String

    package init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }
}
