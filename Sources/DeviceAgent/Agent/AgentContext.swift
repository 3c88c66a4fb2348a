// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushNet

/// The objects that all services of the agent share.
struct AgentContext {
    let loop: EventLoop
    let database: AgentDatabase
    let environment: AgentEnvironment
    let changes: ChangeNotifier
    let failures: DatabaseFailures
    let link: ServerLink
    let presentations: PresentationQueue
    let badges: BadgeService
}
