// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// Returns the translation of one of the agent's own texts; the name is short because it precedes each of them.
func tr(_ key: String) -> String { MessageCatalog.text(key) }
