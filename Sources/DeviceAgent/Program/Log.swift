// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// The agent's log; never gets text from a payload, a secret or a whole device token.
let agentLog = EventLog(threshold: .info, isJournal: unsafe getenv("JOURNAL_STREAM") != nil)
