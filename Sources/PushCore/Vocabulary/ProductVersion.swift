// SPDX-License-Identifier: Apache-2.0

/// The version of this build of Posthorn.
package enum ProductVersion {
    /// The version in the format of semantic versioning.
    package static let text = "0.1.0"
}
