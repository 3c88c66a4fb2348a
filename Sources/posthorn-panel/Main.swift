// SPDX-License-Identifier: Apache-2.0

internal import AgentPanel
internal import Glibc
internal import PushNet

/// The panel's program: understands the command line, opens the window, ends with it.
@main
enum Main {
    static func main() { exit(PanelCommand.run(ProcessFacts.arguments)) }
}
