// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// The reader of icons: a process of its own, because what an app gives as its icon may be anything.
///
/// It reads requests from standard input and answers on standard output until its input ends. A picture that takes all
/// memory or all time ends this process, and nothing else.
enum IconReader {
    /// What it may take beside what it has at its start.
    private static let memoryByteCountMax: UInt = 256 << 20
    /// The panel has given up and killed it long before.
    private static let patienceSeconds: UInt32 = 10

    /// Runs until its input ends.
    static func run() {
        boundMemory()
        StandardStream.output.write(IconAnswer.ready.bytes)
        while let request = IconRequest({ readInput($0) }) {
            alarm(patienceSeconds)
            StandardStream.output.write(answer(request).bytes)
            alarm(0)
        }
    }

    private static func answer(_ request: IconRequest) -> IconAnswer {
        do throws(IconRefusal) {
            let file = try IconFile(request.path)
            guard file.stamp != request.stamp else { return .unchanged }
            StandardStream.output.write(IconAnswer.stamp(file.stamp).bytes)
            return .picture(try IconDecoder.decode(file.contents(), pixels: request.pixels))
        } catch {
            return .refused(error.reason)
        }
    }

    /// So many bytes of standard input; fewer at its end.
    private static func readInput(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var part = [UInt8](repeating: 0, count: count - bytes.count)
            let got = unsafe read(STDIN_FILENO, &part, part.count)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { break }
            bytes += part.prefix(got)
        }
        return bytes
    }

    /// `RLIMIT_DATA`: what it may write to; libraries' code is not counted.
    private static func boundMemory() {
        let pages = statistics.split(separator: " ")
        let used = pages.count > 5 ? UInt(pages[5]) ?? 0 : 0
        let limit = used * UInt(sysconf(Int32(_SC_PAGESIZE))) + memoryByteCountMax
        var limits = rlimit(rlim_cur: limit, rlim_max: limit)
        unsafe setrlimit(__rlimit_resource_t(UInt32(RLIMIT_DATA.rawValue)), &limits)
        limits = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue)), &limits)
    }

    /// `/proc/self/statm`.
    private static var statistics: String {
        let number = unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return "" }
        let file = FileDescriptor(adopting: number)
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(file.rawValue, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}
