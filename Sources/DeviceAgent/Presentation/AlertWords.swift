// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// The agent's own words on an alert, in the person's language; short, because it stands before each of them.
func tr(_ key: String) -> String { MessageCatalogue.text(key) }
