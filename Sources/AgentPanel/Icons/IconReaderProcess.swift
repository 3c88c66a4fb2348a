// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PanelToolkit
internal import PushNet

/// The panel's side of the icon reader: the child process and the socket to it.
final class IconReaderProcess {
    /// The reader ended or sent an invalid answer.
    struct Gone: Error {}

    private let process: ChildProcess
    private let socket: FileDescriptor
    private var watch: MainLoop.Source?
    private var answers = IconAnswers()
    private var pixels = 1
    private let onAnswer: (Result<IconAnswer, Gone>) -> Void

    /// Starts this executable again as the icon reader; nil if no process can be started.
    ///
    /// - Parameter onAnswer: Called with each answer, and once with the end, which is the last call.
    init?(onAnswer: @escaping (Result<IconAnswer, Gone>) -> Void) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        let socket = FileDescriptor(adopting: ends[0])
        // `ChildProcess` closes both descriptors.
        let output = fcntl(ends[1], F_DUPFD_CLOEXEC, 3)
        let words = ["/proc/self/exe", "--\(IconReader.option)"]
        guard let process = ChildProcess(words, input: ends[1], output: output) else { return nil }
        self.process = process
        self.socket = socket
        self.onAnswer = onAnswer
        let readiness = MainLoop.Readiness(isReadable: true, isWritable: false)
        watch = MainLoop.watch(self.socket.rawValue, for: readiness) { [weak self] in self?.read() }
    }

    deinit { watch?.cancel() }

    /// Sends a request; the previous one must have been answered, so that the socket buffer has space.
    func ask(_ request: IconRequest) {
        pixels = request.pixels
        let bytes = request.bytes
        let count = unsafe send(socket.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        guard count != bytes.count else { return }
        MainLoop.whenIdle { [weak self] in self?.end() }
    }

    private func read() {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe recv(socket.rawValue, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return end() }
        answers.append(Array(bytes.prefix(count)))
        do throws(IconAnswers.Malformed) {
            while watch != nil, let answer = try answers.next(pixels: pixels) { onAnswer(.success(answer)) }
        } catch {
            end()
        }
    }

    private func end() {
        guard let watch else { return }
        self.watch = nil
        watch.cancel()
        onAnswer(.failure(Gone()))
    }
}
