// SPDX-License-Identifier: Apache-2.0

internal import DeviceAgent
internal import FoundationEssentials
internal import Glibc

/// The agent's program: `runAgent` does everything.
@main
enum Main {
    static func main() {
        let process = ProcessInfo.processInfo
        exit(runAgent(arguments: Array(process.arguments.dropFirst()), environment: process.environment))
    }
}
