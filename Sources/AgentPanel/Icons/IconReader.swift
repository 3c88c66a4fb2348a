// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PanelToolkit
internal import PushNet

/// The icon reader: a separate process that decodes icons, because an app's icon file is untrusted.
///
/// It reads requests from standard input and answers on standard output until its input ends. An image that exhausts
/// the memory or the time limit only ends this process. An image that takes it over can read files, but reaches
/// neither the network nor another process: see `SystemCallFilter`.
enum IconReader {
    /// The option that runs this program as an icon reader.
    static let option = "read-icons"

    /// The memory limit in bytes, in addition to the memory in use at the start.
    private static let memoryByteCountMax: UInt = 256 << 20
    /// The time limit for one icon in seconds, as a fallback: the panel kills the process long before that.
    private static let timeoutSeconds: UInt32 = 30

    /// Answers requests until the input ends.
    static func run() {
        boundMemory()
        ImageDecoder.loadFormats(["png", "svg"])
        do throws(NetError) {
            try SystemCallFilter.readingFiles.install()
        } catch {
            return StandardStream.error.write("posthorn-panel: the kernel cannot filter system calls: \(error)\n")
        }
        StandardStream.output.write(IconAnswer.ready.bytes)
        while let request = IconRequest({ readInput($0) }) {
            alarm(timeoutSeconds)
            StandardStream.output.write(answer(request).bytes)
            alarm(0)
        }
    }

    private static func answer(_ request: IconRequest) -> IconAnswer {
        do throws(IconRefusal) {
            let file = try IconFile(request.path)
            guard file.stamp != request.stamp else { return .unchanged }
            StandardStream.output.write(IconAnswer.stamp(file.stamp).bytes)
            return try picture(file.contents(), pixels: request.pixels)
        } catch {
            return .refused(error.reason)
        }
    }

    private static func picture(_ bytes: [UInt8], pixels: Int) throws(IconRefusal) -> IconAnswer {
        do {
            return .picture(try ImageDecoder.decode(bytes, pixels: pixels))
        } catch {
            throw IconRefusal(reason: error.text)
        }
    }

    /// Reads the given number of bytes from standard input; fewer at its end.
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

    /// Sets `RLIMIT_DATA`, which limits writable memory and not the code of libraries; also disables core dumps.
    static func boundMemory() {
        let pages = statistics.split(separator: " ")
        let used = pages.count > 5 ? UInt(pages[5]) ?? 0 : 0
        let limit = used * UInt(sysconf(Int32(_SC_PAGESIZE))) + memoryByteCountMax
        var limits = rlimit(rlim_cur: limit, rlim_max: limit)
        unsafe setrlimit(__rlimit_resource_t(UInt32(RLIMIT_DATA.rawValue)), &limits)
        limits = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue)), &limits)
    }

    /// The content of `/proc/self/statm`.
    private static var statistics: String {
        let number = unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return "" }
        let file = FileDescriptor(adopting: number)
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(file.rawValue, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}
