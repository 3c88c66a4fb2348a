// SPDX-License-Identifier: Apache-2.0

internal import DeviceAgent
internal import FoundationEssentials
internal import Glibc
internal import PushNet

/// The entry point of the agent, which calls `runAgent`.
@main
enum Main {
    static func main() {
        exit(runAgent(arguments: ProcessFacts.arguments, environment: ProcessInfo.processInfo.environment))
    }
}
