// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushNet

/// The agent's log; text from a payload, secrets and whole device tokens must never be written to it.
///
/// The log has no thread of its own, which would cost memory and wake-ups. A line that standard error does not accept
/// immediately is dropped and counted.
package let agentLog = EventLog(threshold: .info, isJournal: unsafe getenv("JOURNAL_STREAM") != nil)
