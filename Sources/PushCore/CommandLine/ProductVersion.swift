// SPDX-License-Identifier: Apache-2.0

/// Which Posthorn this is.
package enum ProductVersion {
    /// The version, as semantic versioning writes it.
    package static let text = "0.1.0"
}
