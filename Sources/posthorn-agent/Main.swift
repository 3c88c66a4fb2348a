// SPDX-License-Identifier: Apache-2.0

internal import DeviceAgent
internal import FoundationEssentials
internal import Glibc
internal import PushNet

/// The agent's program: `runAgent` does everything.
@main
enum Main {
    static func main() {
        exit(runAgent(arguments: ProcessFacts.arguments, environment: ProcessInfo.processInfo.environment))
    }
}
