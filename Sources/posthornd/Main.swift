// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import PushDBus
internal import PushServer

/// The server's program: understands the command line, runs, and says how it ended.
@main
enum Main {
    static func main() { exit(runServer()) }
}

/// Runs to the end; the exit status is from sysexits.h.
private func runServer() -> Int32 {
    let process = ProcessInfo.processInfo
    do {
        switch try ServerCommand.parse(Array(process.arguments.dropFirst()), environment: process.environment) {
        case .print(let text): write(text + "\n", to: STDOUT_FILENO)
        case .run(let configuration):
            let server = Server(
                configuration, reportState: { ServiceManager.notify($0) },
                printLine: { write($0 + "\n", to: STDOUT_FILENO) })
            try server.run()
        }
        return 0
    } catch let error as CommandLineError {
        write(error.text + "\n", to: STDERR_FILENO)
        return error.exitStatus
    } catch let error as ServerError {
        write("posthornd: \(error.description)\n", to: STDERR_FILENO)
        return error.exitStatus
    } catch {
        write("posthornd: \(error)\n", to: STDERR_FILENO)
        return 70
    }
}

/// Writes a text with write(2).
private func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        bytes = bytes.dropFirst(count)
    }
}
