// SPDX-License-Identifier: Apache-2.0

/// Returns an app's text for a key; nil if the app has none.
package typealias AppTranslation = (String) -> String?
