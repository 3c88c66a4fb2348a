// SPDX-License-Identifier: Apache-2.0

internal import AgentPanel
internal import Glibc
internal import PushNet

/// The entry point of the panel: parses the command line, opens the window, and exits when it closes.
@main
enum Main {
    static func main() { exit(PanelCommand.run(ProcessFacts.arguments)) }
}
