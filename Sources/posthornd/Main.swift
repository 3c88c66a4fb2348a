// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import PushDBus
internal import PushNet
internal import PushServer

/// The entry point of the server: parses the command line, runs the server and exits with its status.
@main
enum Main {
    static func main() {
        // A service manager may send SIGHUP before the server can handle it.
        Signal.blockRequests()
        let status = runServer()
        // After an error, other threads may still run library code. `exit` would free the libraries' state under them.
        if status == 0 { exit(0) } else { _exit(status) }
    }
}

/// Runs the requested operation and returns an exit status from sysexits.h.
private func runServer() -> Int32 {
    do {
        let environment = ProcessInfo.processInfo.environment
        let request = try ServerCommand.parse(ProcessFacts.arguments, environment: environment)
        if case .run = request {} else { Signal.unblockRequests() }
        switch request {
        case .print(let text): StandardStream.output.write(text + "\n")
        case .check(let configuration): StandardStream.output.write(try Maintenance.check(configuration) + "\n")
        case .checkBackup(let backup): StandardStream.output.write(try Maintenance.check(backup: backup) + "\n")
        case .restore(let configuration, let backup):
            StandardStream.output.write(try Maintenance.restore(configuration, from: backup) + "\n")
        case .migrate(let configuration, let source, let target):
            let text = try Maintenance.migrate(configuration, from: source, to: target)
            StandardStream.output.write(text + "\n")
        case .initCluster(let configuration):
            StandardStream.output.write(try ClusterPreparation.run(configuration) + "\n")
        case .run(let configuration):
            var manager = ServiceManagement { ServiceManager.notify($0) }
            manager.environment = environment
            manager.inheritedSockets = ServiceManager.takeSockets().map {
                PassedSocket(descriptor: $0.descriptor, name: $0.name)
            }
            manager.watchdogInterval = ServiceManager.watchdogInterval
            if environment["NOTIFY_SOCKET"] != nil { manager.keepSockets() }
            let server = Server(
                configuration, manager: manager,
                printLine: { StandardStream.output.write($0 + "\n") })
            try server.run()
        }
        return 0
    } catch let error as CommandLineError {
        StandardStream.error.writeLastWords(error.text + "\n")
        return error.exitStatus
    } catch let error as ServerError {
        StandardStream.error.writeLastWords("posthornd: \(error.description)\n")
        return error.exitStatus
    } catch {
        StandardStream.error.writeLastWords("posthornd: \(error)\n")
        return 70
    }
}

extension ServiceManagement {
    /// Lets the service manager keep the listening sockets while no process of the server runs.
    fileprivate mutating func keepSockets() {
        storeSockets = { sockets in
            for (name, sockets) in Dictionary(grouping: sockets, by: \.name) {
                ServiceManager.store(sockets.map(\.descriptor), name: name)
            }
        }
        forgetSockets = { ServiceManager.forget($0) }
    }
}
